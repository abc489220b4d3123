#!/usr/bin/env python3
"""Tests that data/sample is what tools/make_sample.py makes."""
import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "make_sample.py"
SAMPLE = ROOT / "data" / "sample"


class MakeSampleTest(unittest.TestCase):

    def test_the_committed_sample_is_what_the_script_makes(self):
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([sys.executable, TOOL, scratch], check=True)
            made = pathlib.Path(scratch)
            self.assertEqual((made / "model.toml").read_bytes(),
                             (SAMPLE / "model.toml").read_bytes())
            # Unpacked: releases of zlib compress differently.
            texts = [gzip.decompress((folder / "trace.json.gz").read_bytes())
                     for folder in (made, SAMPLE)]
            self.assertTrue(texts[0] == texts[1],
                            "run tools/make_sample.py and commit its files")


if __name__ == "__main__":
    unittest.main()
