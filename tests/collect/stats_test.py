#!/usr/bin/env python3
"""Tests medians, outliers, throttling and budgets."""
import io
import math
import unittest

import collect_path  # noqa: F401  (finds the modules below)
import budget
import stats


class StatsTest(unittest.TestCase):

    def test_quantiles_are_interpolated(self):
        self.assertEqual(stats.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(stats.quantile([10.0], 0.9), 10.0)

    def test_only_slow_times_are_outliers(self):
        kept, outliers = stats.split_outliers([1, 10, 10, 10, 11, 11, 50])
        self.assertEqual((kept, outliers), ([1, 10, 10, 10, 11, 11], 1))

    def test_steady_times_are_done_early_and_noisy_ones_late(self):
        steady = stats.Sampler(fewest=5, most=50, tolerance=0.02)
        for _ in range(5):
            self.assertFalse(steady.is_done())
            steady.add(100.0)
        self.assertTrue(steady.is_stable())
        noisy = stats.Sampler(fewest=5, most=12, tolerance=0.02)
        for i in range(12):
            self.assertFalse(noisy.is_done())
            noisy.add(100.0 * (1 + i % 3))
        self.assertTrue(noisy.is_done())
        self.assertFalse(noisy.is_stable())

    def test_the_error_of_the_median_falls_with_the_root_of_the_count(self):
        few = stats.median_error([90, 100, 110] * 3)
        many = stats.median_error([90, 100, 110] * 12)
        self.assertAlmostEqual(few / many, 2.0, places=6)
        self.assertEqual(stats.median_error([5]), math.inf)

    def test_a_summary_tells_the_median_without_the_interrupts(self):
        sampler = stats.Sampler()
        for time in [10, 10, 10, 11, 11, 90]:
            sampler.add(time)
        summary = sampler.summary()
        self.assertEqual(summary["time_us"], 10)
        self.assertEqual((summary["count"], summary["outliers"]), (5, 1))

    def test_a_hot_machine_is_noticed_and_a_rested_one_is_not(self):
        watch = stats.ThrottleWatch(tolerance=0.15)
        for time in (100, 101, 99, 103, 100):
            self.assertTrue(watch.check(time))
        self.assertFalse(watch.check(130))
        self.assertTrue(watch.check(101))
        self.assertEqual(watch.throttled, 1)


class BudgetTest(unittest.TestCase):

    def test_earlier_runs_count(self):
        now = [0.0]
        left = budget.Budget(60, spent=50, clock=lambda: now[0])
        self.assertFalse(left.is_over())
        now[0] = 10.0
        self.assertTrue(left.is_over())
        self.assertEqual(left.left(), 0.0)

    def test_the_end_is_that_of_the_points_or_of_the_budget(self):
        self.assertEqual(budget.eta_seconds(10, 30, 20, 100), 40)
        self.assertEqual(budget.eta_seconds(10, 1000, 20, 100), 100)
        self.assertEqual(budget.eta_seconds(0, 30, 0, 100), 100)

    def test_progress_in_a_file_is_a_line_now_and_then(self):
        now = [0.0]
        out = io.StringIO()
        progress = budget.Progress(10, out, lambda: now[0])
        left = budget.Budget(60, clock=lambda: now[0])
        progress.show(1, left, "linear")
        now[0] = 1.0
        progress.show(2, left, "linear")
        now[0] = 20.0
        progress.show(5, left, "cat")
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 2)
        # 5 points in 20 s: 5 more take another 20.
        self.assertEqual(lines[1], "bench: 5 of 10 points, 0:20 spent, "
                         "0:20 to go, cat")


if __name__ == "__main__":
    unittest.main()
