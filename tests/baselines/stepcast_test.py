#!/usr/bin/env python3
"""Baselines on what stepcast writes: stepcast_test.py STEPCAST"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
import lin2022_formulas
import lin2022_walk
import rows

STEPCAST = None

# On a GPU that the authors measured.
SOFTMAX = ("gpu,dtype,rows,cols,direction,time_us,timing\n"
           "v100-pcie-32gb,fp32,4096,1024,fwd,60,profiler\n")
PRODUCTS = ("gpu,dtype,batch,m,n,k,layout,time_us,timing\n"
            "v100-pcie-32gb,fp32,1,2048,1024,1024,nt,340.0,profiler\n")

STEP = """stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+400
  thread main
    op "aten::linear" @10+60
      call launch "cudaLaunchKernel" @40+8
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "volta_sgemm" @55+100
    op "aten::relu" @80+20
      call launch "cudaLaunchKernel" @90+6
        s7: elementwise elements=1048576 read=4194304 written=4194304 dtype=fp32 "relu" @157+14
    op "aten::view" @110+5
    op "aten::item" @130+60
      call launch "cudaMemcpyAsync" @140+45 #c
        s7: copy kind=device_to_host bytes=4 "Memcpy DtoH" @173+2 #d
  wait #d -> #c
"""


class StepcastTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)

    def test_formulas_judge_the_rows_it_writes(self):
        (self.work / "softmax.csv").write_text(SOFTMAX)
        (self.work / "gemm.csv").write_text(PRODUCTS)
        subprocess.run([STEPCAST, "eval", "kernels", "--data",
                        self.work, "--rows", self.work / "rows.json"],
                       check=True, capture_output=True)
        errors = lin2022_formulas.judge(rows.load(self.work / "rows.json"))
        self.assertEqual(list(errors), [
            ("softmax", "v100-pcie-32gb", "fp32", "profiler")])
        # 174 FLOP of 4 M elements / 15.44 TFLOP/s = 47.3 us of 60.
        (judged,) = errors.values()
        self.assertAlmostEqual(judged.mape_pct, 21.2, delta=.1)

    def test_the_walk_goes_over_the_step_it_converts(self):
        (self.work / "step.graph").write_text(STEP)
        steps = lin2022_walk.walk_trace(STEPCAST, self.work / "step.graph")
        self.assertEqual(steps["measured"], 400)
        # The product and the activation with 4 us each on top; the copy is of
        # an op that the papers have no model for.
        active = steps["lin2022"].gpu_active_us
        self.assertAlmostEqual(active, steps["stepcast"].gpu_active_us + 2 * 4,
                               delta=3)
        # The first starts after T1 (11.25 on average), T2 (30) and T4 (7, that
        # of both calls); the gap to the second is 1.
        self.assertAlmostEqual(steps["lin2022"].step_us,
                               11.25 + 30 + 7 + active + 1, delta=.01)


if __name__ == "__main__":
    STEPCAST = sys.argv.pop(1)
    unittest.main()
