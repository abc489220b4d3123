#!/usr/bin/env python3
"""Kills a sweep again and again; no point may be lost or measured twice."""
import csv
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import collect_path  # noqa: F401  (finds the modules below)
import bench
import journal
from points import make_sweep, point_id

FAKE = pathlib.Path(__file__).resolve().parent / "fake_bench.py"
POINTS = 400


class Runner:
    """Slow when certain looks are taken, and only then."""
    looks = 0
    runs = 0

    def __init__(self, is_slow):
        self.is_slow = is_slow

    def reference_us(self):
        self.looks += 1
        return 200.0 if self.is_slow(self.looks) else 100.0

    def run(self, point):
        self.runs += 1
        return point["kind"], {"gpu": "g", "time_us": 1.0}, None


class Time:
    """A budget that is never over, of which a share may be waited."""

    def __init__(self, seconds):
        self.seconds = seconds

    def is_over(self):
        return False

    def spent(self):
        return 0.0

    def left(self):
        return 1.0


class Uses(Time):
    """A budget of so many measurements."""

    def __init__(self, runner, most):
        super().__init__(0)
        self._runner = runner
        self._most = most

    def is_over(self):
        return self._runner.runs >= self._most


class ResumeTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name)

    def start(self):
        process = subprocess.Popen(
            [sys.executable, str(FAKE), str(self.out), str(POINTS)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()
        return process

    def entries(self):
        text = (self.out / journal.NAME).read_bytes()
        return journal.read_entries(text)[0]

    def test_every_point_is_measured_once_whenever_the_run_is_killed(self):
        rng = random.Random(7)
        kills = 0
        for _ in range(5):
            process = self.start()
            time.sleep(rng.uniform(0.01, 0.12))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
            process.stdout.close()
        self.assertGreater(kills, 0)
        process = self.start()
        self.assertEqual(process.wait(), 0)
        process.stdout.close()
        ids = [e["id"] for e in self.entries() if e["type"] == "point"]
        wanted = [point_id(p) for p in make_sweep(1, "small")[:POINTS]]
        self.assertEqual(sorted(ids), sorted(wanted))
        rows = []
        for path in self.out.glob("*/fake.csv"):
            with open(path, newline="", encoding="utf-8") as file:
                rows += list(csv.DictReader(file))
        measured = [e for e in self.entries() if e.get("rows")]
        self.assertEqual(len(rows), len(measured))
        self.assertTrue(all(row["source"].endswith("]") for row in rows))

    def test_another_sweep_in_the_same_directory_is_refused(self):
        book = journal.Journal(self.out)
        self.assertIsNone(bench.check_header(book, {"seed": 1}))
        self.assertIsNone(bench.check_header(book, {"seed": 1}))
        self.assertIn("with seed 1, not 2",
                      bench.check_header(book, {"seed": 2}))
        book.close()

    def test_points_measured_on_a_slow_machine_are_measured_again(self):
        book = journal.Journal(self.out)
        runner = Runner(lambda look: look == 5)
        sweep = make_sweep(1, "small")[:150]
        made = bench.Bench(runner, sweep, book, Time(60))
        self.assertTrue(made.run())
        # The one before the fifth look, the first being taken before all
        # points; after a rest the machine is itself again.
        points = [e for e in book.entries if e["type"] == "point"]
        disturbed = [e["id"] for e in points if e.get("disturbed")]
        self.assertEqual(disturbed, [points[3]["id"]])
        self.assertEqual(runner.runs, 151)
        self.assertEqual(len(list(book.rows())), 150)
        self.assertEqual((len(book.done()), made.done), (150, 150))
        book.close()

    def test_disturbed_points_keep_their_visits_over_a_kill(self):
        book = journal.Journal(self.out)
        sweep = make_sweep(1, "small")[:20]
        slow = Runner(lambda look: look > 3)
        bench.Bench(slow, sweep, book, Uses(slow, 30)).run()
        self.assertEqual(slow.runs, 30)
        book.close()
        book = journal.Journal(self.out)
        left = 20 - len(book.done())
        self.assertGreater(left, 0)
        self.assertGreater(len(book.disturbed()), 0)
        fast = Runner(lambda look: False)
        self.assertTrue(bench.Bench(fast, sweep, book, Time(0)).run())
        # One each, however many visits they had.
        self.assertEqual(fast.runs, left)
        self.assertEqual(book.disturbed(), {})
        self.assertEqual(len(list(book.rows())), 20)
        book.close()

    def test_a_journal_line_is_one_json_object(self):
        process = self.start()
        self.assertEqual(process.wait(), 0)
        process.stdout.close()
        for line in (self.out / journal.NAME).read_text().splitlines():
            self.assertIn("type", json.loads(line))


    def test_a_machine_that_is_never_itself_is_measured_as_it_is(self):
        book = journal.Journal(self.out)
        runner = Runner(lambda look: look > 3)
        made = bench.Bench(runner, make_sweep(1, "small")[:20], book, Time(0))
        self.assertTrue(made.run())
        # Two before the fourth look; the others thrice.
        self.assertEqual(runner.runs, 2 + 3 * 18)
        self.assertEqual(len(list(book.rows())), 20)
        self.assertEqual(len(book.done()), 20)
        book.close()


if __name__ == "__main__":
    unittest.main()
