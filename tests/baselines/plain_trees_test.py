#!/usr/bin/env python3
"""Tests the trees without a formula on products of a simple GPU, where there
are NumPy and XGBoost."""
import copy
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
import python_with
from gpus import products
from rows import Errors

try:
    import plain_trees
except ImportError:
    plain_trees = None


def mape(times, rows):
    errors = Errors()
    for time, row in zip(times, rows):
        if row.part == "test":
            errors.add(time, row.time_us)
    return errors.mape_pct


@unittest.skipIf(plain_trees is None, "no NumPy or no XGBoost here")
class PlainTreesTest(unittest.TestCase):

    def test_learn_what_the_roofline_misses(self):
        rows = products(1000)
        trees = mape(plain_trees.price(rows), rows)
        roofline = mape([row.roofline_us for row in rows], rows)
        self.assertLess(trees, 5)
        self.assertGreater(roofline, 5 * trees)

    def test_know_nothing_of_the_formula(self):
        rows = products(200)
        before = plain_trees.price(rows).tolist()
        for row in rows:
            row.formula_us = row.p50_us = row.time_us
        self.assertEqual(plain_trees.price(rows).tolist(), before)

    def test_do_not_see_test_rows(self):
        rows = products(200)
        before = plain_trees.price(rows).tolist()
        for row in rows:
            row.time_us *= 3 if row.part == "test" else 1
        self.assertEqual(plain_trees.price(rows).tolist(), before)

    def test_a_kernel_that_its_launch_hides_pulls_only_from_above(self):
        # 10 us and less are shown as 10; the launch's part is 0.
        row = copy.deepcopy(products(1)[0])
        row.time_us, row.floor_us, row.roofline_us = 10, 10, 5
        loss = plain_trees.Loss([row])
        loss.offset = 0
        below, above = loss.slopes([0.5]), loss.slopes([1.5])
        self.assertEqual(below[0][0], 0)
        self.assertGreater(above[0][0], 0)

    def test_see_waves_and_what_tiles_stick_out(self):
        row = products(1)[0]
        row.shape.update(batch=1, m=129, n=1280, k=64)
        seen = plain_trees.features(row)
        self.assertEqual(len(seen), 41)
        # Tiles of 128 x 128: 2 x 10 on 80 SMs, a quarter of a wave, for 129 of
        # 256 rows.
        self.assertAlmostEqual(2**seen[15], 0.25)
        self.assertAlmostEqual(2**seen[16], 4)
        self.assertAlmostEqual(2**seen[17], 256 / 129)


if __name__ == "__main__":
    python_with.switch_to("numpy", "xgboost")
    unittest.main()
