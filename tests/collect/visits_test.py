#!/usr/bin/env python3
"""Tests the order in which a sweep visits its points."""
import unittest

import collect_path  # noqa: F401  (finds the modules below)
from visits import Visits


class Budget:
    seconds = 100.0

    def __init__(self, left=100.0):
        self._left = left

    def left(self):
        return self._left


class VisitsTest(unittest.TestCase):

    def setUp(self):
        self.now = 0.0
        self.budget = Budget()

    def make(self, new, disturbed=()):
        return Visits(new, disturbed, clock=lambda: self.now)

    def test_new_points_come_in_order(self):
        visits = self.make("ab")
        self.assertEqual(visits.next(self.budget), ("a", 0))
        self.assertEqual(visits.next(self.budget), ("b", 0))
        self.assertIsNone(visits.next(self.budget))

    def test_a_disturbed_point_rests_before_it_is_visited_again(self):
        visits = self.make("abcd")
        visits.next(self.budget)
        self.assertTrue(visits.again("a", 1))
        self.now = 19.0
        self.assertEqual(visits.next(self.budget), ("b", 0))
        self.now = 21.0
        self.assertEqual(visits.next(self.budget), ("a", 1))
        self.assertTrue(visits.again("a", 2))
        self.now = 121.0
        self.assertEqual(visits.next(self.budget), ("c", 0))
        self.now = 142.0
        self.assertEqual(visits.next(self.budget), ("a", 2))
        self.assertFalse(visits.again("a", 3))

    def test_nothing_rests_when_nothing_else_is_left(self):
        visits = self.make("a")
        visits.next(self.budget)
        visits.again("a", 1)
        self.assertEqual(visits.next(self.budget), ("a", 1))

    def test_the_end_of_the_budget_is_for_disturbed_points(self):
        visits = self.make("abc")
        visits.next(self.budget)
        visits.again("a", 1)
        self.assertEqual(visits.next(Budget(19.0)), ("a", 1))
        self.assertEqual(visits.next(Budget(19.0)), ("b", 0))

    def test_visits_of_an_earlier_run_count(self):
        visits = self.make("c", [("a", 1), ("b", 2)])
        self.assertEqual(visits.next(self.budget), ("b", 2))
        self.assertEqual(visits.next(self.budget), ("a", 1))


if __name__ == "__main__":
    unittest.main()
