#!/usr/bin/env python3
"""Reruns the question of a report: rerun_test.py STEPCAST MAKE_TRACE"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import formats_test

STEPCAST = MAKE_TRACE = None

# One of each command, and more of what a scenario can be.
QUESTIONS = [
    *(words for words in formats_test.REPORTS.values()
      if words[0] != "list"),
    ["predict"],
    ["predict", "dlrm_default", "--gpu", "v100-sxm-16gb", "--batch", "512",
     "--pageable", "--cuda-graphs", "all"],
    ["predict", "dlrm_mlperf", "--platform", "dgx-a100", "--gpus", "8",
     "--impl", "torchrec", "--seed", "7"],
    ["predict", "trace.json", "--gpu", "a100-sxm-80gb", "--overheads",
     "measured"],
    ["whatif", "trace.json", "--suggest"],
    ["compare", "trace.json", "dlrm_default"],
    ["doctor", "trace.json", "--rank", "0"],
    ["plan", "dlrm_default", "--gpus", "2", "--sharder", "size", "--sharder",
     "greedy", "--hbm", "20GB"],
    ["eval", "overheads", "--data", "trace.json"],
    ["eval", "steps", "--data", "steps.csv", "--group", "model"],
]


class RerunTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)

    def ask(self, *words):
        done = subprocess.run([STEPCAST, *words], cwd=self.work,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_report_asked_again_gives_the_same_bytes(self):
        formats_test.write_inputs(self.work, MAKE_TRACE)
        for words in QUESTIONS:
            with self.subTest(words=words):
                report = self.ask(*words, "--json")
                (self.work / "report.json").write_text(report)
                verb = words[:2] if words[0] == "eval" else words[:1]
                self.assertEqual(self.ask(*verb, "report.json", "--json"),
                                 report)
                self.assertEqual(self.ask(*verb, "report.json"),
                                 self.ask(*words))

    def test_a_verb_takes_the_scenario_of_another(self):
        (self.work / "report.json").write_text(
            self.ask("predict", "dlrm_default", "--batch", "256", "--json"))
        change = ["--change", "gpu=t4", "--json"]
        self.assertEqual(
            self.ask("whatif", "report.json", *change),
            self.ask("whatif", "dlrm_default", "--batch", "256", *change))

    def test_a_page_holds_a_question_that_can_be_asked(self):
        text = self.ask("predict", "dlrm_default", "--batch", "256", "--html",
                        "page.html")
        page = (self.work / "page.html").read_text()
        question = page.split('id="question">')[1].split("</script>")[0]
        (self.work / "question.json").write_text(question)
        self.assertEqual(self.ask("predict", "question.json"), text)

    def test_settings_go_on_top(self):
        report = self.ask("predict", "dlrm_default", "--batch", "256", "--json")
        (self.work / "report.json").write_text(report)
        wanted = self.ask("predict", "dlrm_default", "--batch", "512", "--json")
        self.assertNotEqual(report, wanted)
        for words in (["--set", "batch=512"], ["--batch", "512"]):
            self.assertEqual(self.ask("predict", "report.json", *words, "--json"), wanted)

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
