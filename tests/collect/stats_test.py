#!/usr/bin/env python3
"""Tests medians, outliers, throttling and budgets."""
import io
import math
import tempfile
import unittest

import collect_path  # noqa: F401  (finds the modules below)
import budget
import stats
import undisturbed


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

    def test_a_summary_shows_the_median_without_the_interrupts(self):
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


    def test_a_given_mark_stays(self):
        watch = stats.ThrottleWatch(mark=100)
        self.assertFalse(watch.check(120))
        self.assertTrue(watch.check(109))
        self.assertEqual(watch.mark, 100)


class StepFilterTest(unittest.TestCase):

    def setUp(self):
        self.now = 0.0
        self.reference = 100.0

    def make(self):
        return undisturbed.StepFilter(lambda: self.reference, 100.0,
                                      clock=lambda: self.now)

    def add(self, steps, time, seconds):
        self.now += seconds
        return steps.add(time)

    def test_steps_between_two_good_looks_count(self):
        steps = self.make()
        self.assertEqual(self.add(steps, 1, 0.015), 0)
        self.assertEqual(self.add(steps, 2, 0.015), 0)
        self.assertEqual(steps.good, [1, 2])

    def test_a_bad_look_spoils_what_is_before_and_after_it(self):
        steps = self.make()
        self.reference = 200.0
        self.assertEqual(self.add(steps, 1, 0.03), 1)
        self.reference = 100.0
        self.assertEqual(self.add(steps, 2, 0.03), 1)
        self.assertEqual(self.add(steps, 3, 0.03), 0)
        self.assertEqual((steps.good, steps.disturbed), ([3], 2))

    def test_the_last_steps_are_judged_at_the_end(self):
        steps = self.make()
        self.add(steps, 1, 0.001)
        self.assertEqual(steps.good, [])
        self.assertEqual(steps.close(), 0)
        self.assertEqual(steps.good, [1])
        self.assertEqual(steps.close(), 0)

    def test_the_mark_of_a_sweep_is_found_again(self):
        with tempfile.TemporaryDirectory() as scratch:
            self.assertIsNone(undisturbed.read_reference(scratch))
            undisturbed.write_reference(scratch, 12.5)
            self.assertEqual(undisturbed.read_reference(scratch), 12.5)


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
