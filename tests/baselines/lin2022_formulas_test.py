#!/usr/bin/env python3
"""Tests the papers' formulas on kernels whose times are worked out by hand."""
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
import lin2022_formulas as lin
from gpus import H100, V100
from rows import Row

# DLRM_default of Lin et al.: 8 tables of a million rows, random ids.
RANDOM = {"family": "embedding_bag", "tables": 8, "rows": 8_000_000, "dim": 64,
          "batch": 2048, "lookups": 8 * 2048 * 100, "dtype": "fp32"}
# DLRM_MLPerf: the 26 tables of Criteo Terabyte, one id per sample.
CRITEO = {"family": "embedding_bag", "tables": 26, "rows": 60_557_626,
          "dim": 128, "batch": 2048, "lookups": 26 * 2048, "dtype": "fp32",
          "table_rows": [
              14885288, 29419, 15123, 7291, 19899, 3, 6463, 1310, 61, 10155909,
              618195, 218994, 10, 2208, 9779, 71, 4, 963, 14, 16967044,
              4154705, 13180313, 289595, 10828, 95, 34]}


def backward(bag):
    return {**bag, "pass": "backward", "update": "sgd"}


class EmbeddingTest(unittest.TestCase):

    def test_is_the_formula_of_the_paper(self):
        # An independent evaluation of the published formula gives these times.
        for bag, time in ((RANDOM, 535.04), (backward(RANDOM), 1056.40),
                          (CRITEO, 88.11), (backward(CRITEO), 99.87)):
            self.assertAlmostEqual(lin.embedding_us(bag, V100), time, delta=.01)

    def test_the_simple_one_takes_every_row_from_dram(self):
        # 2048 * 8 * (96 + 416 + 100 * 256 + 256) B / 804.497 GB/s
        self.assertAlmostEqual(lin.embedding_simple_us(RANDOM, V100), 537.0,
                               delta=.1)
        self.assertAlmostEqual(lin.embedding_simple_us(backward(RANDOM), V100),
                               1058.4, delta=.1)

    def test_that_of_2024_counts_distinct_rows(self):
        self.assertAlmostEqual(lin.embedding_2024_us(RANDOM, V100), 584.7,
                               delta=.1)
        self.assertAlmostEqual(lin.embedding_2024_us(CRITEO, V100), 63.3,
                               delta=.1)

    def test_misses_the_kernels_of_their_traces_by_as_much(self):
        # docs/models/embedding.md has ours next to these.
        for bag, measured, error in (
                (RANDOM, 521.8, 2.5), (backward(RANDOM), 1276.7, -17.3),
                (CRITEO, 53, 66.2), (backward(CRITEO), 109, -8.4)):
            predicted = lin.embedding_us(bag, V100)
            self.assertAlmostEqual(100 * (predicted / measured - 1), error,
                                   delta=.06)


class SmallOpsTest(unittest.TestCase):
    RELU = {"family": "elementwise", "elements": 1 << 21, "read": 1 << 23,
            "written": 1 << 23, "dtype": "fp32"}

    def test_an_activation_moves_its_bytes(self):
        # 2 x 8.4 MB / 804.5 GB/s.
        self.assertAlmostEqual(lin.roofline_us(self.RELU, V100), 20.9, delta=.1)

    def test_arithmetic_counts_where_it_is_longer(self):
        # 2 M x 175 FLOP / 15.44 TFLOP/s = 23.8 us.
        gelu = {**self.RELU, "arithmetic": "transcendental"}
        self.assertAlmostEqual(lin.roofline_us(gelu, V100), 23.8, delta=.1)

    def test_concat_has_its_own_share(self):
        # 2 x 28.3 MB / (0.79 x 804.5 GB/s): 89 us for what takes 91.
        concat = {"family": "concat", "tensors": 27,
                  "elements": 2048 * 27 * 128, "dtype": "fp32"}
        self.assertAlmostEqual(lin.kernel_us(concat, V100), 89.1, delta=.1)

    def test_memcpy_knows_no_pinned_memory(self):
        # 6.55 MB / 8.1 GB/s = 809 us, pinned or not.
        copy = {"family": "copy", "kind": "host_to_device", "bytes": 6_553_600}
        self.assertAlmostEqual(lin.kernel_us(copy, V100), 809, delta=1)
        copy["pinned"] = True
        self.assertAlmostEqual(lin.kernel_us(copy, V100), 809, delta=1)

    def test_a_copy_on_the_device_reads_and_writes(self):
        # 2 x 8.4 MB / 804.5 GB/s.
        copy = {"family": "copy", "kind": "device_to_device",
                "bytes": 1 << 23}
        self.assertAlmostEqual(lin.kernel_us(copy, V100), 20.9, delta=.1)

    def test_there_is_no_formula_for_products(self):
        self.assertIsNone(lin.kernel_us({"family": "gemm", "batch": 1, "m": 64,
                                         "n": 64, "k": 64}, V100))

    def test_other_gpus_use_what_they_sustain(self):
        # 2 x 4 x 2^30 B / (0.9 x 3350 GB/s)
        op = {"family": "transpose", "elements": 1 << 30, "dtype": "fp32"}
        self.assertAlmostEqual(lin.roofline_us(op, H100), 2849, delta=1)


class RowTest(unittest.TestCase):

    def row(self, *shapes, **more):
        return Row(kind="aten", op="x", gpu=V100, timing="profiler",
                   part="test", shapes=list(shapes), judged=True,
                   **{"time_us": 100, **more})

    def test_kernels_of_a_row_add_up_and_the_launch_is_on_top(self):
        fill = {"family": "fill", "bytes": 804_497_0}  # 20 us.
        row = self.row(fill, fill, lead_us=4, floor_us=9)
        self.assertAlmostEqual(lin.row_us(row), 44)

    def test_rows_without_a_formula_are_in_no_group(self):
        fill = {"family": "fill", "bytes": 804_497_0}
        gemm = {"family": "gemm", "batch": 1, "m": 64, "n": 64, "k": 64}
        errors = lin.judge([self.row(gemm), self.row(fill, time_us=40),
                            self.row(fill, time_us=25)])
        group = ("aten", V100.name, "", "profiler")
        self.assertEqual(sorted(errors), [group, (*group, "fill")])
        # Half too fast, and a fifth.
        self.assertAlmostEqual(errors[group].mape_pct, 35)


if __name__ == "__main__":
    unittest.main()
