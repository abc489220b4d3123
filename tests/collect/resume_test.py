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
        class Runner:
            """Slow when the second look is taken, and only then."""
            looks = 0
            runs = 0

            def reference_us(self):
                self.looks += 1
                return 200.0 if self.looks == 5 else 100.0

            def run(self, point):
                self.runs += 1
                return point["kind"], {"gpu": "g", "time_us": 1.0}, None

        class NoTime:
            seconds = 0

            def is_over(self):
                return False

            def spent(self):
                return 0.0

            def left(self):
                return 1.0

        book = journal.Journal(self.out)
        runner = Runner()
        sweep = make_sweep(1, "small")[:150]
        made = bench.Bench(runner, sweep, book, NoTime(), self.out)
        self.assertTrue(made.run())
        again = [e for e in book.entries if e["type"] == "again"]
        # The 25 points between the fourth look and the fifth.
        self.assertEqual([len(e["ids"]) for e in again], [25])
        self.assertEqual(runner.runs, 175)
        self.assertEqual(len(list(book.rows())), 150)
        book.close()

    def test_a_journal_line_is_one_json_object(self):
        process = self.start()
        self.assertEqual(process.wait(), 0)
        process.stdout.close()
        for line in (self.out / journal.NAME).read_text().splitlines():
            self.assertIn("type", json.loads(line))


if __name__ == "__main__":
    unittest.main()
