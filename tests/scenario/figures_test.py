#!/usr/bin/env python3
"""Tries other figures of GPUs and servers: figures_test.py STEPCAST [MAKE_TRACE]

More of a rate never makes a step longer, more of a latency never makes it
shorter, and each figure changes the answer where it is used: on top
of measured times as on top of formulas.
"""
import json
import subprocess
import sys
import unittest

STEPCAST = None

# With CUDA graphs no host is in the way.
ALONE = ["mlperf_dlrm_dcnv2", "--impl", "hugectr", "--cuda-graphs", "all",
         "--batch", "8192"]
ON_A_NODE = [*ALONE, "--precision", "amp-fp16", "--gpus", "8"]
ON_NODES = ["mlperf_dlrm_dcnv2", "--impl", "torchrec", "--batch", "8192",
            "--precision", "amp-fp16", "--gpus", "32", "--nodes", "4"]
IN_HOST = ["dlrm_mlperf", "--impl", "torchrec", "--gpus", "8", "--placement",
           "host"]
IN_UVM = ["dlrm_mlperf", "--impl", "torchrec", "--gpus", "8", "--placement",
          "uvm"]

# Name, figure, about its published value, and a question whose answer it moves.
PLATFORM_RATES = [
    ("hgx-h100", "link_gbs", 450, ON_A_NODE),
    ("hgx-h100", "link_gbs", 450, ON_NODES),
    ("hgx-h100", "nic_gbs", 50, ON_NODES),
    ("hgx-h100", "pcie_gbs", 63, IN_HOST),
    ("hgx-h100", "pcie_gbs", 63, IN_UVM),
    ("hgx-h100", "host_memory_gbs", 600, IN_HOST),
    ("dgx-1-v100", "mesh_link_gbs", 25, ON_A_NODE),
    ("pcie-l40s", "pcie_gbs", 31.5, ON_A_NODE),
]
PLATFORM_LATENCIES = [
    ("hgx-h100", "link_latency_us", 1, ON_A_NODE),
    ("hgx-h100", "nic_latency_us", 10, ON_NODES),
    ("pcie-l40s", "link_latency_us", 1, ON_A_NODE),
]
GPU_RATES = [
    ("h100-sxm-80gb", "dram_gbs", 3350, ALONE),
    ("h100-sxm-80gb", "nvlink_gbs", 900, ON_A_NODE),
    ("v100-sxm-32gb", "nvlink_gbs", 300, ON_A_NODE),
    ("h100-sxm-80gb", "fp32_tflops", 67, ALONE),
    ("h100-sxm-80gb", "fp16_tflops", 989,
     [*ALONE, "--precision", "amp-fp16"]),
    ("h100-sxm-80gb", "copy_share", 0.5, ALONE),
    ("h100-sxm-80gb", "gemm_fp32_share", 0.5, ALONE),
    ("v100-sxm-16gb", "dram_gbs", 900, ALONE),
    ("mi300x", "dram_gbs", 5300, ALONE),
]
# Values to try, over the published one.
FACTORS = (0.25, 0.5, 1, 1.3, 2)


def step_of(words):
    done = subprocess.run([STEPCAST, "predict", *words, "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: it does not fit.
        raise AssertionError(f"{words}: {done.stderr}")
    return json.loads(done.stdout)["step_time_us"]


class FiguresTest(unittest.TestCase):

    def steps(self, option, name, key, value, words):
        return [step_of([*words, option, f"{name}@{key}={factor * value}"])
                for factor in FACTORS if not (key.endswith("_share")
                                              and factor * value > 1)]

    def check_rate(self, option, name, key, value, words):
        steps = self.steps(option, name, key, value, words)
        self.assertEqual(steps, sorted(steps, reverse=True))
        self.assertGreater(steps[0], steps[-1])

    def test_more_of_a_platforms_rate_never_takes_longer(self):
        for row in PLATFORM_RATES:
            with self.subTest(row):
                self.check_rate("--platform", *row)

    def test_more_of_a_gpus_rate_never_takes_longer(self):
        for row in GPU_RATES:
            with self.subTest(row):
                self.check_rate("--gpu", *row)

    def test_changes_take_effect(self):
        for figures, words in (("nvlink_gbs=1800", ON_A_NODE),
                               ("pcie_gbs=5", ["dlrm_default"])):
            with self.subTest(figures):
                done = subprocess.run(
                    [STEPCAST, "whatif", *words, "--gpu", "h100-sxm-80gb",
                     "--change", f"gpu=h100-sxm-80gb@{figures}", "--json"],
                    capture_output=True, text=True, check=True)
                change = json.loads(done.stdout)["delta"]["step_time_us"]
                self.assertNotEqual(change, 0)

    def test_more_of_a_latency_never_takes_shorter(self):
        for row in PLATFORM_LATENCIES:
            with self.subTest(row):
                steps = self.steps("--platform", *row)
                self.assertEqual(steps, sorted(steps))
                self.assertLess(steps[0], steps[-1])

    def test_published_figures_said_again_change_nothing(self):
        for words, option, plain, said in (
                (ON_NODES, "--platform", "hgx-h100",
                 "hgx-h100@link_gbs=450,nic_gbs=50"),
                (ALONE, "--gpu", "h100-sxm-80gb",
                 "h100-sxm-80gb@dram_gbs=3350")):
            with self.subTest(said):
                self.assertAlmostEqual(step_of([*words, option, plain]),
                                       step_of([*words, option, said]), 1)

    def test_twice_the_memory_rate_takes_at_least_half_the_time(self):
        plain = step_of([*ALONE, "--gpu", "h100-sxm-80gb"])
        fast = step_of([*ALONE, "--gpu", "h100-sxm-80gb@dram_gbs=6700"])
        self.assertLess(fast, plain)
        self.assertGreater(fast, plain / 2)


if __name__ == "__main__":
    STEPCAST = sys.argv[1]
    unittest.main(argv=[sys.argv[0]])
