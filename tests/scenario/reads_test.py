#!/usr/bin/env python3
"""Counts what commands read: reads_test.py STEPCAST [MAKE_TRACE]

A file of data, built in or the user's, is read at most once in a process,
however many rows, ranks and threads ask for it.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

STEPCAST = None

STUDY = """model = "dlrm_default"
[vary]
platform = ["hgx-h100", "{platform}"]
gpus = [1, 8]
batch = [1024, 2048, 4096]
"""


def reads_of(words):
    """How often each file was read."""
    done = subprocess.run([STEPCAST, *words], capture_output=True, text=True,
                          check=False,
                          env=os.environ | {"STEPCAST_SHOW_READS": "1"})
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")
    return collections.Counter(line.removeprefix("read ")
                               for line in done.stderr.splitlines()
                               if line.startswith("read "))


class ReadsTest(unittest.TestCase):

    def check(self, words, *files):
        reads = reads_of(words)
        self.assertEqual({}, {name: count for name, count in reads.items()
                              if count > 1})
        for name in files:
            self.assertIn(name, reads)

    def test_commands_read_files_once(self):
        data = pathlib.Path(__file__).parents[2] / "data"
        with tempfile.TemporaryDirectory() as scratch:
            platform = pathlib.Path(scratch) / "mine.toml"
            platform.write_text((data / "nodes/dgx-a100.toml").read_text())
            study = pathlib.Path(scratch) / "study.toml"
            study.write_text(STUDY.format(platform=platform))
            on_mine = ["--platform", str(platform), "--gpus", "8"]
            self.check(["predict", "dlrm_mlperf", "--impl", "torchrec",
                        *on_mine], str(platform), "gpus/a100-sxm-80gb.toml",
                       "collectives/collective_constants.toml")
            self.check(["predict", "dlrm_mlperf", "--impl", "torchrec",
                        "--gpu", "h100-sxm-80gb", "--gpus", "16", "--nodes",
                        "2"], "nodes/hgx-h100.toml")
            self.check(["predict", "dlrm_default", "--server", "2s-epyc-7742",
                        "--nodes", "2"], "nodes/2s-epyc-7742.toml")
            self.check(["predict", "fleet_m1", "--server", "2s-skylake",
                        "--trainers", "2"], "nodes/2s-skylake.toml")
            self.check(["plan", "dlrm_mlperf", *on_mine], str(platform))
            self.check(["explore", str(study), "--threads", "2"],
                       str(platform), "nodes/hgx-h100.toml")


if __name__ == "__main__":
    STEPCAST = sys.argv[1]
    unittest.main(argv=[sys.argv[0]])
