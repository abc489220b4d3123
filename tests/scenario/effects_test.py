#!/usr/bin/env python3
"""Takes every setting to every kind of workload: effects_test.py STEPCAST MAKE_TRACE

Each must change the answer, be an error, or be in NO_OPS with its reason:
none may be ignored without a word.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

STEPCAST = MAKE_TRACE = None

# The first words of a question about each subject, and about models of other
# kinds than DLRM.
QUESTIONS = {
    "model": ["dlrm_default", "--gpu", "v100-sxm-16gb"],
    "image model": ["resnet50", "--gpu", "v100-sxm-16gb"],
    "many GPUs": ["dlrm_mlperf", "--gpu", "a100-sxm-80gb", "--gpus", "8",
                  "--impl", "torchrec"],
    "platform": ["dlrm_mlperf", "--platform", "dgx-a100", "--gpus", "8",
                 "--impl", "torchrec"],
    "nodes": ["dlrm_mlperf", "--platform", "dgx-a100", "--gpus", "16",
              "--nodes", "2", "--impl", "torchrec"],
    "host tables": ["dlrm_default", "--platform", "dgx-a100", "--impl",
                    "torchrec", "--placement", "host"],
    "server": ["dlrm_default", "--server", "2s-epyc-7742"],
    "fleet": ["fleet_m1", "--server", "2s-skylake", "--trainers", "2"],
    "trace": None,
}

# (question, setting): why the answer may be the same.
NO_OPS = {
    ("model", "profiled"): "its overheads were recorded without a profiler",
    ("image model", "profiled"): "the same",
    ("server", "profiled"): "the same",
    ("many GPUs", "platform"): "the one that is taken anyway",
    ("trace", "profiled"): "a recorded step is a profiled one",
}


def ask(words):
    done = subprocess.run([STEPCAST, "predict", *words, "--json"],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def answer_of(text):
    """What was answered, without the words of the question."""
    report = json.loads(text)
    for name in ("workload", "scenario", "notes"):
        report.pop(name, None)
    return report


class EffectsTest(unittest.TestCase):

    def settings(self):
        done = subprocess.run([STEPCAST, "list", "settings", "--json"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["settings"]

    def trace(self, scratch):
        """A recording of our own generator."""
        path = str(pathlib.Path(scratch) / "trace.json")
        subprocess.run([MAKE_TRACE, path, "mb=1"], check=True,
                       capture_output=True)
        return path

    def options(self, setting, scratch):
        """The words that set it to its example."""
        option = f"--{setting['name']}"
        if not setting["value"]:
            return [option]
        if setting["name"] == "plan":
            plan = pathlib.Path(scratch) / "plan.json"
            subprocess.run([STEPCAST, "plan", "dlrm_mlperf", "--gpu",
                            "a100-sxm-80gb", "--gpus", "8", "--sharder",
                            "naive", "--out", plan], check=True,
                           capture_output=True)
            return [option, str(plan)]
        if setting["name"] == "profile":
            # Of a GPU that is in none of the questions.
            folder = pathlib.Path(scratch) / "profile" / "t4"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "ceilings.toml").write_text("copy_share = 0.5\n")
            return [option, str(folder.parent)]
        return [option, setting["example"]]

    def test_no_setting_is_ignored(self):
        with tempfile.TemporaryDirectory() as scratch:
            for kind, question in QUESTIONS.items():
                # On another GPU than the one of the recording, where nothing is
                # certain.
                words = question or [self.trace(scratch), "--gpu",
                                     "h100-sxm-80gb"]
                status, before, error = ask(words)
                self.assertEqual(status, 0, f"{kind}: {error}")
                for setting in self.settings():
                    with self.subTest(kind=kind, setting=setting["name"]):
                        self.check(kind, words, before, setting, scratch)

    def check(self, kind, words, before, setting, scratch):
        status, after, error = ask([*words, *self.options(setting, scratch)])
        if status == 1:
            self.assertFalse(json.loads(after)["memory"]["fits"])
        elif status != 0:
            self.assertEqual(status, 2, error)
            self.assertEqual(error.count("\n"), 1, error)
        elif (kind, setting["name"]) not in NO_OPS:
            self.assertFalse(answer_of(before) == answer_of(after),
                         "the answer is the same")


if __name__ == "__main__":
    STEPCAST, MAKE_TRACE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
