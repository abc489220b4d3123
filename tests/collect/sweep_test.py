#!/usr/bin/env python3
"""Tests what a sweep asks for, and what it leaves out."""
import functools
import unittest

import collect_path  # noqa: F401  (finds the modules below)
import points
import work
from schemas import COLUMNS


@functools.lru_cache(maxsize=None)
def whole(seed, sizes):
    return points.make_sweep(seed, sizes)


class SweepTest(unittest.TestCase):

    def test_the_same_seed_makes_the_same_sweep_and_another_does_not(self):
        one = whole(1, "small")
        self.assertEqual(one, points.make_sweep(1, "small"))
        self.assertNotEqual(one[:50], whole(2, "small")[:50])

    def test_no_point_is_asked_for_twice(self):
        for sizes in ("papers", "small"):
            ids = [points.point_id(p) for p in whole(1, sizes)]
            self.assertEqual(len(ids), len(set(ids)))

    def test_the_first_three_hundred_points_are_of_every_operator(self):
        sweep = whole(1, "papers")[:300]
        self.assertEqual({p["kind"] for p in sweep}, set(COLUMNS))

    def test_a_layer_comes_with_both_of_its_gradients(self):
        sweep = points.make_sweep(1, "papers", ["linear"])
        layers = {(p["m"], p["n"], p["k"]) for p in sweep}
        self.assertEqual(len(sweep), 3 * len(layers))

    def test_papers_gemms_reach_from_32_to_4104(self):
        sweep = points.make_sweep(1, "papers", ["linear"])
        self.assertEqual(min(p["m"] for p in sweep), 32)
        self.assertEqual(max(p["k"] for p in sweep), 4104)

    def test_convolutions_keep_the_papers_filters(self):
        for p in points.make_sweep(1, "papers", ["conv"]):
            if p["in_channels"] == 3:
                self.assertIn(p["in_size"], (224, 299))
            else:
                area = p["in_channels"] * p["in_size"]
                self.assertTrue(1500 <= area <= 15000)
            self.assertTrue(p["kernel"] > 1 or p["stride"] == 1)

    def test_an_unknown_operator_is_named_with_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "no operator 'gem'.*linear"):
            points.make_sweep(1, "small", ["gem"])

    def test_every_point_states_its_work(self):
        for sizes in ("papers", "small"):
            for p in whole(1, sizes):
                flops, moved = work.work_of(p)
                self.assertGreater(flops, 0)
                self.assertGreater(moved, 0)


class WorkTest(unittest.TestCase):

    def test_a_product_counts_two_flops_a_term(self):
        point = {"kind": "gemm", "op": "linear", "batch": 2, "m": 3, "n": 5,
                 "k": 7}
        # 2 * 2*3*5*7 flop; 2 * (21 + 35 + 15) numbers of 4 bytes.
        self.assertEqual(work.work_of(point), (420, 568))

    def test_a_table_must_fit_as_a_whole(self):
        point = {"kind": "embedding_bag", "op": "bag_fwd", "rows": 1000,
                 "dim": 64, "batch": 2, "lookups": 3}
        self.assertGreater(work.held_bytes(point), 4 * 1000 * 64)
        small = work.Limits(longest_us=1e9, most_bytes=4 * 1000 * 64)
        self.assertEqual(small.reason_to_skip(point), "does not fit")

    def test_what_took_too_long_is_learned(self):
        limits = work.Limits(longest_us=1e4, most_bytes=1e12)
        point = {"kind": "gemm", "op": "linear", "batch": 1, "m": 100,
                 "n": 100, "k": 100}
        # 2e6 flop: 2000 us at the slow rate that is assumed first.
        self.assertIsNone(limits.reason_to_skip(point))
        limits.learn(point, 8e3)
        larger = {**point, "m": 200}
        self.assertEqual(limits.reason_to_skip(larger), "takes too long")

    def test_small_points_get_several_sets_of_tensors(self):
        point = {"kind": "elementwise", "op": "add", "rows": 1024,
                 "cols": 64}
        # 1024*64*4*4 bytes = 1 MiB of the 4 MiB to go through.
        rotation = work.Rotation(near=4 << 20, far=64 << 20)
        self.assertEqual(rotation.sets(point), 4)
        self.assertEqual(rotation.sets({**point, "rows": 1 << 20}), 1)
        self.assertEqual(rotation.sets({**point, "rows": 1}), 8)

    def test_rows_of_tables_come_from_beyond_the_last_cache(self):
        rotation = work.Rotation(near=4 << 20, far=64 << 20)
        # Each call touches 64 or 16,384 rows of a 4 GiB table.
        bag = {"kind": "embedding_bag", "op": "bag_fwd", "rows": 1 << 24,
               "dim": 64, "batch": 16, "lookups": 4}
        self.assertEqual(rotation.sets(bag), 256)
        large = {**bag, "lookups": 1024}
        # 4 bytes * 64 * (2 * 16384 + 16) + 8 * 16384: 8.1 MiB each.
        self.assertEqual(rotation.sets(large), 8)
        # Its gradient is just made.
        self.assertEqual(rotation.sets({**large, "op": "bag_bwd"}), 1)


if __name__ == "__main__":
    unittest.main()
