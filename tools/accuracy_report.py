#!/usr/bin/env python3
"""Evaluates the built-in models on measured data and writes docs/accuracy.md.

usage: accuracy_report.py BUILD_DIR DATA_DIR [--network]

DATA_DIR holds `kernels`, `authors`, `published` and `traces`. Nothing is fitted here: the
rows are those of the test part, which neither a fit nor a choice has seen.
--network also trains the papers' network, most of a minute a GPU.
"""
import collections
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = """# Accuracy

Written by `tools/accuracy_report.py BUILD_DIR DATA_DIR [--network]`; do not edit.

GMAE is the geometric mean of the absolute errors in percent, MAPE their
arithmetic mean, bias the mean of the signed ones. *In 80 %* is the share of rows
between p10 and p90, in percent; 80 is wanted, and of n rows it scatters by
40 / √n itself: 9 for 20 rows, 3 for 200. Beside our models stand the formula alone,
the plain roofline and the formulas of Lin et al. (2022) on the same rows.

## Kernels, on the test part

Rows are split by a hash of their shape: 80 % to fit, 10 % to choose and to
calibrate the intervals, 10 % to report, here. A shape is on the same side on
every GPU. Rows timed with events around an eager call count from 1.5 times the
launch floor on. Noise is the GMAE of repeats of one shape about their mean: no
model can be expected to be better.

| kernels | GPU | type | timing | n | GMAE | MAPE | p90 | p99 | bias | in 80 % | formula | roofline | lin2022 | noise |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def run(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          capture_output=True, text=True).stdout


def number(value, digits=1):
    return "–" if value is None else f"{value:.{digits}f}"


def row(name, group, line):
    return "| " + " | ".join([
        name, group["gpu"], group["dtype"] or "–", group["timing"],
        str(line["n"]), number(line["gmae_pct"]), number(line["mape_pct"]),
        number(line["p90_pct"]), number(line["p99_pct"]),
        f"{line['bias_pct']:+.1f}", number(100 * line["in_p10_p90"], 0),
        number(line["formula_gmae_pct"]), number(line["roofline_gmae_pct"]),
        number(line.get("lin2022_gmae_pct")),
        number(line.get("repeat_gmae_pct")),
    ]) + " |\n"


def kernels(stepcast, data):
    report = json.loads(run(stepcast, "eval", "kernels", "--data",
                            data / "kernels", "--part", "test", "--json"))
    text = ""
    for group in report["groups"]:
        text += row(group["op"], group, group)
        for part in group["parts"]:
            if part["n"] != group["n"]:
                text += row(f"… {part['name']}", group, part)
    not_judged = sum(group["below_floor"] for group in report["groups"])
    text += (f"\nNot judged: {not_judged} rows below 1.5 launch floors,"
             f" {len(report['flagged'])} rows faster than the GPU's peak"
             f" allows, {len(report['skipped'])} rows whose sizes are not"
             " told.\n")
    return text


def whole(stepcast, data):
    """All rows of the small sets, which are too few to split."""
    text = """
## Small sets, all rows

Too few rows to fit to: the formulas answer, with constants that were looked at
on these very rows. One family and GPU may have a scale of its own from the fit
part.

| kernels | GPU | type | timing | n | GMAE | MAPE | p90 | p99 | bias | in 80 % | formula | roofline | lin2022 | noise |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
    folders = [data / "kernels" / name
               for name in ("aten", "concat", "memcpy", "embedding_bag")]
    report = json.loads(run(stepcast, "eval", "kernels", "--data", *folders,
                            "--json"))
    for group in report["groups"]:
        text += row(group["op"], group, group)
    return text


def network(stepcast, data):
    """FP32 products beside the papers' network."""
    text = run(stepcast, "eval", "kernels", "--data", data / "kernels/gemm",
               "--network")
    return f"""
## FP32 products beside the papers' network

`stepcast eval kernels --network`:

```
{text}```
"""


def leave_out(stepcast, data):
    """Every GPU predicted from the others."""
    text = run(stepcast, "eval", "kernels", "--data", data / "kernels",
               "--leave-one-out")
    return f"""
## GPUs that were left out

`stepcast eval kernels --leave-one-out`: a chip is left out of every fit, then its
test rows are predicted.

```
{text}```
"""


STEPS_HEADER = """
## Steps from model files

`stepcast eval steps` on published results: what was measured by others, in many
places, is predicted from a model file and the words of its row. Errors in percent.

Not all of this is held out. Kernel models have seen none of it. The host constants
of NVIDIA's PyTorch, TensorFlow and Triton were chosen on parts of these rows (each
file in `data/overheads` names its part and what judges it); two copy counts of
loaders and gRPC, and the spread that makes the intervals as wide as they are, were
set by hand with all rows in sight. TF1 Wide & Deep parses its input on the host in
line with the steps, which is not modelled. Nothing was fitted to steps of several
GPUs. On one server they come out like those of one GPU; over several servers
(64 and 112 GPUs, GB200) they are two to four times too long, because exchanges there
are neither split by server nor hidden behind the dense layers as HugeCTR does, and
on servers without direct links (L40S, A100 PCIe) because it keeps hot rows on every
GPU, which is not modelled. The first release of NVIDIA's DLRM took twice as long on
one of two servers.

| implementation | mode | GPU | n | GMAE | MAPE | bias | worst | in 80 % |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""

PAPER_HEADER = """
### The papers' configurations

Steps of Lin et al. (HiPC 2022), read from a figure, beside the errors that the
authors report. The host's overheads are theirs, completed from their older tables
(`tools/make_hipc_overheads.py`); nothing was fitted to the steps, but how to complete
them was decided with these steps in sight: the same tables uncompleted give 11.7 %.
Active times are of profiled runs, so ours have a recorder's latency of 3 us a small
kernel; the column without it is for comparison. Their GPUs ran with locked clocks;
that large products then keep what the power limit takes at full clock (`hw/device.cc`)
was added after products on TITAN Xp, of which nothing was measured, had come out a
fifth too slow here: active times were 5.5 % off without it.

"""

OPS_HEADER = """
### Ops of the papers' traces

Device time of the ops of DLRM_default and DLRM_MLPerf at batch 2048 on V100, predicted
from the model files, beside the authors' kernel traces of four days: all kernels,
copies and memsets of the ops of one name in a step. Shares are of the measured device
time. A recorder's latency is that of the trace. The trace of 2021-04-09 has no kernels
of sums and gradient additions.

"""

# So many rows with the largest errors are listed.
WORST = 15


def step_row(words, group):
    return "| " + " | ".join([
        *words, str(group["n"]), number(group["gmae_pct"]),
        number(group["mape_pct"]), f"{group['bias_pct']:+.1f}",
        number(group["max_abs_pct"]), number(100 * group["in_p10_p90"], 0),
    ]) + " |\n"


def steps(build, data):
    """Published steps of whole models."""
    report = json.loads(run(build / "src/cli/stepcast", "eval", "steps",
                            "--data", data / "published/dlrm_end_to_end.csv",
                            "--json"))
    text = STEPS_HEADER
    for group in report["groups"]:
        text += step_row([group["implementation"], group["mode"],
                          group["gpu"]], group)
    summary = report["summary"]
    text += step_row(["**all**", "", ""], summary)
    reasons = collections.Counter(row["why"] for row in report["skipped"])
    text += (f"\nOf {summary['n'] + summary['skipped']} rows"
             f" {summary['n']} are predicted; skipped are "
             + ", ".join(f"{count} ({why})"
                         for why, count in sorted(reasons.items())) + ".\n")
    text += ("\nFarthest off:\n\n| row | measured ms | predicted ms | error |\n"
             "| --- | ---: | ---: | ---: |\n")
    worst = sorted(report["rows"], key=lambda row: -abs(
        math.log(row["predicted_ms"] / row["measured_ms"])))
    for row_ in worst[:WORST]:
        text += (f"| {row_['id']} | {row_['measured_ms']:.3f} |"
                 f" {row_['predicted_ms']:.3f} | {row_['error_pct']:+.1f} |\n")
    report = build / "tests/accuracy/steps_report"
    return (text + PAPER_HEADER + run(report, data) + OPS_HEADER
            + run(report, data, "ops"))


def main():
    options = sys.argv[3:]
    if len(sys.argv) < 3 or options not in ([], ["--network"]):
        print(__doc__, file=sys.stderr)
        return 2
    build, data = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    stepcast = build / "src/cli/stepcast"
    text = HEADER + kernels(stepcast, data) + whole(stepcast, data)
    anchors = build / "tests/accuracy/anchor_report"
    if anchors.exists():
        text += "\n" + run(anchors, data)
    if options:
        text += network(stepcast, data)
    text += leave_out(stepcast, data)
    text += steps(build, data)
    (ROOT / "docs/accuracy.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
