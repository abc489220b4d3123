#!/usr/bin/env python3
"""Predicts one model on 8 to 16,384 GPUs and writes docs/howto/scale_out.md.

usage: scaling_report.py BUILD_DIR

Strong scaling keeps the samples of all GPUs together, weak scaling those of each.
"""
import json
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPUS_A_NODE = 8
STRONG_SAMPLES = 131072
WEAK_SAMPLES = 4096
OPTIONS = ["mlperf_dlrm_dcnv2", "--platform", "superpod-h100", "--impl", "hugectr",
           "--precision", "amp-fp16", "--cuda-graphs", "all", "--json"]

TEXT = """# How to predict many GPUs

Written by `tools/scaling_report.py BUILD_DIR`; do not edit.

    stepcast predict mlperf_dlrm_dcnv2 --platform superpod-h100 --gpus 1024 --nodes 128 \\
        --impl hugectr --precision amp-fp16 --cuda-graphs all --batch 128

Up to 16,384 ranks. Those that do the same work are simulated once, so that a prediction
takes seconds however many there are: the last columns are of the whole command.

DLRM-DCNv2 of MLPerf on nodes of 8 H100s. Of what is here 64 GPUs have been compared with
measured steps ([accuracy](../accuracy.md)); beyond, collectives are formulas of their
links.

"""
HEAD = ("| GPUs | batch per GPU | step ms | p10 to p90 | million samples/s | efficiency |"
        " exposed communication | command s | GB |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")


def predict(stepcast, gpus, batch):
    """The JSON of one prediction, with its seconds and gigabytes."""
    before = time.monotonic()
    answer = subprocess.run(
        [stepcast, "predict", *OPTIONS, "--gpus", str(gpus), "--nodes",
         str(gpus // GPUS_A_NODE), "--batch", str(batch)],
        check=True, capture_output=True, text=True).stdout
    report = json.loads(answer)
    report["seconds"] = time.monotonic() - before
    # The largest of all commands so far, which is this one: they grow.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    report["gigabytes"] = usage.ru_maxrss / 1e6
    return report


def table(stepcast, runs):
    """Rows for pairs of GPUs and batch; efficiency is that of the first."""
    text = HEAD
    first = None
    for gpus, batch in runs:
        report = predict(stepcast, gpus, batch)
        rate = report["samples_per_s"] / gpus
        first = first or rate
        step = report["step_time_us"]
        exposed = report["breakdown_us"]["communication_exposed"]
        interval = report["interval_us"]
        text += (f"| {gpus:,} | {batch:,} | {step / 1e3:.2f} |"
                 f" {interval['p10'] / 1e3:.2f} to {interval['p90'] / 1e3:.2f} |"
                 f" {report['samples_per_s'] / 1e6:.1f} |"
                 f" {100 * rate / first:.0f} % | {100 * exposed / step:.0f} % |"
                 f" {report['seconds']:.1f} | {report['gigabytes']:.2f} |\n")
    return text


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    stepcast = pathlib.Path(sys.argv[1]) / "src/cli/stepcast"
    counts = [8, 16, 64, 256, 1024, 4096, 16384]
    text = TEXT + f"## Weak scaling: {WEAK_SAMPLES:,} samples per GPU\n\n"
    text += table(stepcast, [(gpus, WEAK_SAMPLES) for gpus in counts])
    text += f"\n## Strong scaling: {STRONG_SAMPLES:,} samples in all\n\n"
    text += table(stepcast, [(gpus, STRONG_SAMPLES // gpus) for gpus in counts])
    (ROOT / "docs/howto/scale_out.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
