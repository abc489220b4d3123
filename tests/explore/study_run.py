"""What tests of studies share: a study that takes a second, and running it."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

# About a second of work for one thread, so that there is time to kill it.
STUDY = """
title = "a study that takes a while"
model = "dlrm_mlperf"
samples = 20
[vary]
batch = { from = 256, to = 8192, steps = 20, scale = "log" }
pooling = { from = 1, to = 40, steps = 40 }
"""
ROWS = 800
TIMEOUT_S = 120

options = None


class StudyTest(unittest.TestCase):
    """A folder with the study, and its rows as one process predicts them."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.study = cls.folder / "study.toml"
        cls.study.write_text(STUDY)
        cls.run_study(cls.folder / "whole")
        cls.whole = cls.files(cls.folder / "whole")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def command(cls, out, *words):
        return [options.binary, "explore", str(cls.study), "-o", str(out),
                "--top", "3", *words]

    @classmethod
    def run_study(cls, out, *words, environment=None):
        done = subprocess.run(
            cls.command(out, *words), capture_output=True, text=True,
            timeout=TIMEOUT_S, check=False,
            env={**os.environ, **(environment or {})})
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout

    @staticmethod
    def files(out):
        """The results, byte by byte."""
        return {name: (out / name).read_bytes()
                for name in ("rows.csv", "rows.json")}

    @staticmethod
    def rows_kept(out):
        """How often each row is in the journals, by its number."""
        kept = {}
        for journal in out.glob("journal-*.txt"):
            for line in journal.read_text().split("\n"):
                words = line.split()
                if len(words) > 2:
                    kept[words[1]] = kept.get(words[1], 0) + 1
        return kept


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], module="__main__")
