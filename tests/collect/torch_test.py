#!/usr/bin/env python3
"""Runs a few points and a recording on the processor, if there is PyTorch."""
import json
import pathlib
import sys
import tempfile
import unittest

import collect_path  # noqa: F401  (finds the modules below)
import bench
import capture
from schemas import COLUMNS

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "no PyTorch here")
class TorchTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name)

    def test_every_kind_of_operator_runs_or_says_why_not(self):
        import points
        from runner import Runner
        from work import Limits, Rotation
        runner = Runner(torch, "cpu", "cpu-test", Limits(2e4, 1 << 28),
                        rotation=Rotation(1, 1), seconds=0.001)
        seen = set()
        for point in points.make_sweep(1, "small")[:2000]:
            if point["op"] in seen:
                continue
            kind, row, why = runner.run(point)
            if why in ("takes too long", "does not fit"):
                continue
            seen.add(point["op"])
            if row is None:
                # Without a device there is no copy to one; the fused Adam
                # came to processors late.
                self.assertIn(point["op"].split("_")[0],
                              ("htod", "dtoh", "fused"), why)
                continue
            self.assertGreater(row["time_us"], 0)
            self.assertLessEqual(set(row), set(COLUMNS[kind]), point)
        self.assertGreater(len(seen), 40)

    def test_ids_are_in_range_and_a_power_law_repeats_them(self):
        from ops_sparse import make_ids
        uniform = make_ids(torch, 1000, 5000, "uniform", 1)
        skewed = make_ids(torch, 1000, 5000, "power-law-1.05", 1)
        for ids in (uniform, skewed):
            self.assertGreaterEqual(int(ids.min()), 0)
            self.assertLess(int(ids.max()), 1000)
        # 1000 (1 - e^-5) of the uniform ones differ.
        self.assertAlmostEqual(len(torch.unique(uniform)), 993, delta=8)
        self.assertLess(len(torch.unique(skewed)), 950)
        # Row 0 of n has a share of about 1 / (1 + ln n) at exponent 1.
        self.assertGreater(int((skewed == 0).sum()), 400)

    def test_a_recording_has_a_trace_a_profile_and_times(self):
        out = self.out / "mlp"
        status = capture.main(["--model", "mlp", "--widths", "8-4-1",
                               "--batch", "2", "--steps", "3", "--out",
                               str(out)])
        self.assertEqual(status, 0)
        manifest = json.loads((out / "manifest.json").read_text())
        self.assertEqual(len(manifest["step_us"]["all"]), 3)
        names = {n["name"] for n in
                 json.loads((out / "et.json").read_text())["nodes"]}
        self.assertIn("aten::addmm", names)
        events = json.loads((out / "trace.json").read_text())["traceEvents"]
        steps = [e["name"] for e in events
                 if e["name"].startswith("ProfilerStep#")]
        self.assertEqual(len(steps), 5)

    def test_a_short_sweep_writes_tables_and_a_device_file(self):
        status = bench.main(["--out", str(self.out), "--minutes", "0.5",
                             "--only", "launch", "--gpu", "cpu-test"])
        self.assertEqual(status, 0)
        text = (self.out / "launch" / "cpu-test.csv").read_text()
        self.assertTrue(text.startswith(",".join(COLUMNS["launch"])))
        self.assertIn('name = "cpu-test"',
                      (self.out / "device.toml").read_text())


if __name__ == "__main__":
    sys.exit(unittest.main())
