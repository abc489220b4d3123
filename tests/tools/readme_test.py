#!/usr/bin/env python3
"""Runs what README.md shows: readme_test.py STEPCAST."""
import pathlib
import re
import subprocess
import sys
import unittest

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
BLOCK = re.compile(r"```console\n\$ \./stepcast (predict .+)\n([^`]+)```\n")
STEPCAST = None


class ReadmeTest(unittest.TestCase):

    def test_the_shown_predictions_are_what_comes_out(self):
        blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(blocks), 1)
        for words, shown in blocks:
            done = subprocess.run([STEPCAST, *words.split()], check=True,
                                  capture_output=True, text=True)
            self.assertEqual(done.stdout, shown, words)


if __name__ == "__main__":
    STEPCAST = sys.argv.pop()
    unittest.main()
