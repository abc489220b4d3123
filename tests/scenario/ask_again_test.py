#!/usr/bin/env python3
"""Asks the question of a report again: ask_again_test.py STEPCAST MAKE_TRACE"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

STEPCAST = MAKE_TRACE = None

QUESTIONS = (
    [],
    ["dlrm_default", "--gpu", "v100-sxm-16gb", "--batch", "512", "--pageable",
     "--cuda-graphs", "all", "--algorithm", "lin2022"],
    ["dlrm_mlperf", "--platform", "dgx-a100", "--gpus", "8", "--impl",
     "torchrec", "--seed", "7"],
    ["dlrm_default", "--server", "2s-epyc-7742", "--nodes", "2"],
    ["fleet_m1", "--server", "2s-skylake", "--trainers", "2"],
    ["trace.json", "--gpu", "a100-sxm-80gb", "--overheads", "measured"],
)


class AskAgainTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)

    def ask(self, *words):
        done = subprocess.run([STEPCAST, "predict", *words], cwd=self.work,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_report_asked_again_gives_the_same_bytes(self):
        subprocess.run([MAKE_TRACE, self.work / "trace.json", "mb=1"],
                       check=True, capture_output=True)
        for words in QUESTIONS:
            with self.subTest(words=words):
                report = self.ask(*words, "--json")
                (self.work / "report.json").write_text(report)
                self.assertEqual(self.ask("report.json", "--json"), report)
                self.assertEqual(self.ask("report.json"), self.ask(*words))

    def test_settings_go_on_top(self):
        report = self.ask("dlrm_default", "--batch", "256", "--json")
        (self.work / "report.json").write_text(report)
        wanted = self.ask("dlrm_default", "--batch", "512", "--json")
        self.assertNotEqual(report, wanted)
        for words in (["--set", "batch=512"], ["--batch", "512"]):
            self.assertEqual(self.ask("report.json", *words, "--json"), wanted)

    def test_a_report_of_before_is_refused(self):
        (self.work / "old.json").write_text('{"version": "0.0.1"}\n')
        done = subprocess.run([STEPCAST, "predict", "old.json"], cwd=self.work,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("without a scenario", done.stderr)


if __name__ == "__main__":
    STEPCAST, MAKE_TRACE = (pathlib.Path(word).resolve()
                            for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
