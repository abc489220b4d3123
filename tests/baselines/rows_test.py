#!/usr/bin/env python3
"""Tests how rows are read and how their errors are summed up."""
import json
import pathlib
import tempfile
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
import rows

FILE = {
    "gpus": [{"name": "t4", "generation": "turing", "sm_count": 40,
              "fp32_lanes_per_sm": 64, "clock_ghz": 1.59, "fp32_tflops": 8.1,
              "l2_mb": 4, "dram_gbs": 320, "copy_share": 0.8,
              "pcie_gbs": 15.75}],
    "rows": [
        {"kind": "gemm", "op": "linear", "gpu": "t4", "timing": "event_op",
         "part": "test", "shapes": ["gemm batch=1 m=64 n=32 k=16 dtype=fp32"],
         "count": 1, "time_us": 40, "judged": True, "lead_us": 4,
         "floor_us": 20, "roofline_us": 10, "formula_us": 12, "p10_us": 11,
         "p50_us": 13, "p90_us": 15},
        {"kind": "aten", "op": "add", "gpu": "t4", "timing": "profiler",
         "part": "fit", "shapes": ["opaque"], "count": 1, "time_us": 3,
         "judged": False}]}


class RowsTest(unittest.TestCase):

    def load(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "rows.json"
            path.write_text(json.dumps(FILE))
            return rows.load(path)

    def test_rows_have_their_gpu_and_shapes(self):
        product, opaque = self.load()
        self.assertEqual(product.gpu.sm_count, 40)
        self.assertEqual(product.shape["m"], 64)
        self.assertTrue(product.priced)
        self.assertFalse(opaque.priced)

    def test_a_clock_shows_the_launch_and_never_less_than_its_floor(self):
        product = self.load()[0]
        self.assertEqual(product.observed(30), 34)
        self.assertEqual(product.observed(3), 20)

    def test_values_of_a_shape_have_their_types(self):
        shape = rows.parse_shape("embedding_bag tables=2 pooled=false "
                                 "index_alpha=1.05 table_rows=10,20 dtype=fp16")
        self.assertEqual(shape, {
            "family": "embedding_bag", "tables": 2, "pooled": False,
            "index_alpha": 1.05, "table_rows": [10, 20], "dtype": "fp16"})
        self.assertEqual(rows.element_bytes(shape), 2)

    def test_errors_have_both_means(self):
        errors = rows.Errors()
        errors.add(110, 100)  # 10 %
        errors.add(60, 100)   # 40 %
        self.assertAlmostEqual(errors.gmae_pct, 20)
        self.assertAlmostEqual(errors.mape_pct, 25)

    def test_an_exact_hit_counts_as_a_thousandth_of_a_percent(self):
        errors = rows.Errors()
        errors.add(100, 100)
        self.assertAlmostEqual(errors.gmae_pct, 1e-3)


if __name__ == "__main__":
    unittest.main()
