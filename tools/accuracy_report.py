#!/usr/bin/env python3
"""Evaluates the built-in models on measured data and writes docs/accuracy.md.

usage: accuracy_report.py BUILD_DIR DATA_DIR [--network | --steps]

DATA_DIR holds `kernels`, `authors`, `published` and `traces`. Nothing of ours is fitted
here: the rows are those of the test part, which neither a fit nor a choice has seen.
The papers' methods next to ours are those of `baselines`.
--network also trains the papers' network and plain trees, a minute or two per GPU, with
Debian's python3-numpy, python3-torch and python3-xgboost.
--steps writes the part on steps alone and keeps the rest.
"""
import collections
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import python_with

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINES = ROOT / "baselines"
sys.path.insert(0, str(BASELINES))
import lin2022_formulas  # noqa: E402  (found through the line above)
import lin2022_walk  # noqa: E402
import rows as measured_rows  # noqa: E402

HEADER = """# Accuracy

Written by `tools/accuracy_report.py BUILD_DIR DATA_DIR [--network]`; do not edit.

GMAE is the geometric mean of the absolute errors in percent, MAPE their
arithmetic mean, bias the mean of the signed ones. *In 80 %* is the share of rows
between p10 and p90, in percent; the target is 80, and with n rows it varies by
40 / √n: 9 for 20 rows, 3 for 200. For comparison: the formula alone,
the plain roofline and the formulas of Lin et al. (2022) on the same rows.

## Kernels, on the test part

Rows are split by a hash of their shape: 80 % to fit, 10 % to choose and to
calibrate the intervals (together with rows held out of the fit where these are
few), 10 % to report, here. A shape is in the same part on every GPU. Rows timed with
events around an eager call count from 1.5 times the launch floor on. Noise is the GMAE
of repeats of one shape around their mean: no model can be expected to be better.

| kernels | GPU | type | timing | n | GMAE | MAPE | p90 | p99 | bias | in 80 % | formula | roofline | lin2022 | noise |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def run(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          capture_output=True, text=True).stdout


def number(value, digits=1):
    return "–" if value is None else f"{value:.{digits}f}"


def row(name, group, line, papers):
    """A line of the kernels' tables; `papers` has the errors of the papers'
    formulas, by group and by part of a group."""
    key = tuple(group[word] for word in ("op", "gpu", "dtype", "timing"))
    errors = papers.get(key if line is group else (*key, line["name"]))
    return "| " + " | ".join([
        name, group["gpu"], group["dtype"] or "–", group["timing"],
        str(line["n"]), number(line["gmae_pct"]), number(line["mape_pct"]),
        number(line["p90_pct"]), number(line["p99_pct"]),
        f"{line['bias_pct']:+.1f}", number(100 * line["in_p10_p90"], 0),
        number(line["formula_gmae_pct"]), number(line["roofline_gmae_pct"]),
        number(errors.gmae_pct if errors else None),
        number(line.get("repeat_gmae_pct")),
    ]) + " |\n"


def eval_kernels(stepcast, *words):
    """A report and the errors of the papers' formulas on its rows."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "rows.json"
        report = json.loads(run(stepcast, "eval", "kernels", *words, "--json",
                                "--rows", path))
        return report, lin2022_formulas.judge(measured_rows.load(path))


def kernels(stepcast, data):
    report, papers = eval_kernels(stepcast, "--data", data / "kernels",
                                  "--part", "test")
    text = ""
    for group in report["groups"]:
        text += row(group["op"], group, group, papers)
        for part in group["parts"]:
            if part["n"] != group["n"]:
                text += row(f"… {part['name']}", group, part, papers)
    not_judged = sum(group["below_floor"] for group in report["groups"])
    text += (f"\nNot evaluated: {not_judged} rows below 1.5 launch floors,"
             f" {len(report['flagged'])} rows faster than the GPU's peak"
             f" allows, {len(report['skipped'])} rows without sizes.\n")
    return text


def whole(stepcast, data):
    """All rows of the small sets, which are too few to split."""
    text = """
## Small sets, all rows

Too few rows to fit to: these are the formulas, with constants that were chosen with
knowledge of these rows. One family and GPU may have its own scale from the fit part.

| kernels | GPU | type | timing | n | GMAE | MAPE | p90 | p99 | bias | in 80 % | formula | roofline | lin2022 | noise |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
    folders = [data / "kernels" / name
               for name in ("aten", "concat", "memcpy", "embedding_bag")]
    report, papers = eval_kernels(stepcast, "--data", *folders)
    for group in report["groups"]:
        text += row(group["op"], group, group, papers)
    return text


def network(stepcast, data):
    """FP32 products compared with the papers' network."""
    python = python_with.find_or_install("numpy", "torch", "xgboost")
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "rows.json"
        run(stepcast, "eval", "kernels", "--data", data / "kernels/gemm",
            "--rows", path)
        table = run(python, BASELINES / "products.py", path)
    return f"""
## FP32 GEMMs compared with the papers' network

`baselines/products.py`, errors in percent on the test part. *network*: the papers'
recipe, one network per GPU on the logarithms of the sizes. *trees*: on time over the
roofline, from sizes, tiles and waves, without our formula. Both learn from the fit
part.

{table}"""


# Recorded steps, by their place among the traces.
TRACES = ["dlrm_param_8xV100/kineto", "dlrm_torchrec_4xV100/run3",
          "dlrm_hta_V100_rank1of2", "resnet50_hta_ddp_A100",
          "resnet50_kineto_V100", "linear_param_2080Ti/kineto.json.gz",
          "resnet18_param_2080Ti/kineto.json.gz"]


def walks(stepcast, data):
    """Recorded steps compared with the papers' walks."""
    text = """
## Recorded steps compared with the papers' walks

`baselines/lin2022_walk.py`: the ops of a recorded step, with the mean overheads of its
run and the kernel times that we predict, as our simulation and the walks of Lin et al.
(2022, and 2024 for several GPUs) put them together. Only this differs: the overheads
have seen the step. Milliseconds of the slowest rank; *active* is how long its GPU is
active.

| trace | measured | ours | error % | lin2022 | error % | lin2024 | error % | ours active | lin2022 active | lin2024 active |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
    for trace in TRACES:
        found = lin2022_walk.walk_trace(stepcast, data / "traces" / trace)
        measured = found.pop("measured")
        cells = [trace.partition("/")[0], f"{measured / 1e3:.2f}"]
        for step in found.values():
            cells += [f"{step.step_us / 1e3:.2f}",
                      f"{100 * (step.step_us / measured - 1):+.1f}"]
        cells += [f"{step.gpu_active_us / 1e3:.2f}" for step in found.values()]
        text += f"| {' | '.join(cells)} |\n"
    return text


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

`stepcast eval steps` on published results: steps that others measured are predicted
from a model file and the description in their row. Errors in percent.

Not all of this is held out. Kernel models have seen none of it. The host constants
of NVIDIA's PyTorch, TensorFlow and Triton were chosen on parts of these rows (each
file in `data/overheads` names its part and the rows that test it); two copy counts of
loaders and gRPC, and the spread that sets the width of the intervals, were
set by hand with knowledge of all rows. TF1 Wide & Deep parses its input on the host in
line with the steps, which is not modelled.

| implementation | mode | GPU | n | GMAE | MAPE | bias | worst | in 80 % |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""

PAPER_HEADER = """
### The papers' configurations

Steps of Lin et al. (HiPC 2022), read from a figure, with the errors that the
authors report. The host's overheads are theirs, completed from their older tables
(`tools/make_hipc_overheads.py`); nothing was fitted to the steps, but how to complete
them was decided with knowledge of these steps: the same tables uncompleted give 11.7 %.
Active times are of profiled runs, so ours have a recorder's latency of 3 us per small
kernel; the column without it is for comparison. Their GPUs ran with locked clocks;
that large GEMMs then keep what the power limit takes at full clock (`hw/device.cc`)
was added after GEMMs on TITAN Xp, for which nothing was measured, were a
fifth too slow here: active times were 5.5 % off without it.

"""

OPS_HEADER = """
### Ops of the papers' traces

Device time of the ops of DLRM_default and DLRM_MLPerf at batch 2048 on V100, predicted
from the model files, compared with the authors' kernel traces of four days: all kernels,
copies and memsets of the ops of one name in a step. Shares are of the measured device
time. A recorder's latency is that of the trace. The trace of 2021-04-09 has no kernels
of sums and gradient additions.

"""

SEVERAL_HEADER = """
### Several GPUs

Nothing was fitted to these steps, but what is modelled was decided with knowledge of them:
hot rows on every rank, tables assigned to nodes, hierarchical exchanges, switches that
reduce on NVIDIA's own clusters, GPUs without a link that communicate through the host
under NCCL 2.7, and GradScaler's passes. Each has a published reason ([workloads](models/workloads.md),
[collectives](models/collectives.md)); a good fit here does not test the next prediction.

| rows | n | MAPE | GMAE | bias |
| --- | ---: | ---: | ---: | ---: |
"""

PROCESSORS_HEADER = """
### Without GPUs

Steps on CPUs, from server files and formulas: none was measured here. No row was
held out: four constants were chosen on them, and what is modelled was decided with
knowledge of them. With each group left out of the choice of constants in turn, MAPE is 26.3 %
([what was chosen how](models/cpu_device.md#how-good-this-is)).

| row | measured ms | predicted ms | error |
| --- | ---: | ---: | ---: |
"""

# What rows of several GPUs are about, by the beginnings of their ids.
SEVERAL = [("MLPerf, 4 to 112 GPUs", "mlperf-", 1),
           ("MLPerf, 2 to 14 nodes", "mlperf-", 2),
           ("NVIDIA's PyTorch DLRM, 8 and 16 V100s", "pyt-dlrm-train-", 1)]

# Why rows of several GPUs are farther off than FAR percent, by parts of ids.
FAR = 25
REASONS = [
    ("supermicro-as-2124gq", "the same GPUs took half as long at Lenovo's"),
    ("supermicro-as-4124go", "a server that took 1.6 times as long as five"
     " others with the same GPUs and release"),
    ("supermicro-sys-420gp-tnar", "a server that took 1.4 times as long as"
     " others with the same GPUs, and as long as they in the next release"),
    ("dgxa100_n14", "exchanges of 2 MB in 13 messages: we price them as NCCL"
     " posts them, HugeCTR has its own InfiniBand code; its releases went"
     " from 0.90 to 0.56 ms"),
    ("eos_n8", "the last of four releases, which went from 2.96 to 2.36 ms on"
     " the same machines"),
    ("cisco-hpf", "all-reduces are priced as measured on another cluster, which"
     " takes 0.8 ms for what is small"),
    ("d54u-3u", "10 to 13 times as long as 8 H100 SXM; perhaps cards do not"
     " reach each other, which the submission does not say"),
    ("a30", "PCIe among eight cards; which cards share an uplink is not published"),
    ("dgx2h", "HugeCTR before CUDA graphs and fused layers: its first release"
     " is modelled as the later ones but for the tables"),
    ("large-8g-amp-fp16-36f3b1b6", "the first release with several GPUs, 20 %"
     " slower than the next"),
    ("large-16g-amp-fp16-36f3b1b6", "the same"),
]

# So many rows with the largest errors are listed.
WORST = 15


def step_row(words, group):
    return "| " + " | ".join([
        *words, str(group["n"]), number(group["gmae_pct"]),
        number(group["mape_pct"]), f"{group['bias_pct']:+.1f}",
        number(group["max_abs_pct"]), number(100 * group["in_p10_p90"], 0),
    ]) + " |\n"


def published_rows(data):
    """The cells of every published row, by id."""
    with open(data / "published/dlrm_end_to_end.csv", newline="",
              encoding="utf-8") as file:
        return {row_["id"]: row_ for row_ in csv.DictReader(file)}


def processors(report, data):
    """Rows without GPUs."""
    published = published_rows(data)
    rows = [row_ for row_ in report["rows"]
            if int(published[row_["id"]]["num_gpus"]) == 0]
    text = PROCESSORS_HEADER
    for row_ in rows:
        text += (f"| {row_['id']} | {row_['measured_ms']:.3f} |"
                 f" {row_['predicted_ms']:.3f} | {row_['error_pct']:+.1f} |\n")
    mape = sum(abs(row_["error_pct"]) for row_ in rows) / len(rows)
    return text + f"\n{len(rows)} rows, MAPE {number(mape)} %.\n"


def several(report, data):
    """Rows of several GPUs, and why some are far off."""
    published = published_rows(data)
    text = SEVERAL_HEADER
    far = {}
    for title, prefix, nodes in SEVERAL:
        rows = [row_ for row_ in report["rows"]
                if row_["id"].startswith(prefix)
                and int(published[row_["id"]]["num_gpus"]) > 1
                and int(published[row_["id"]]["num_nodes"]) >= nodes]
        errors = [row_["error_pct"] for row_ in rows]
        # As in the report: below a thousandth of a percent counts as that.
        gmae = math.exp(sum(math.log(max(abs(error), 1e-3))
                            for error in errors) / len(errors))
        text += (f"| {title} | {len(rows)} |"
                 f" {number(sum(map(abs, errors)) / len(errors))} |"
                 f" {number(gmae)} | {sum(errors) / len(errors):+.1f} |\n")
        far.update({row_["id"]: row_ for row_ in rows
                    if abs(row_["error_pct"]) > FAR})
    text += (f"\nFarther off than {FAR} %:\n\n"
             "| row | measured ms | error | why |\n"
             "| --- | ---: | ---: | --- |\n")
    for name, row_ in sorted(far.items()):
        why = next((why for part, why in REASONS if part in name), "not known")
        text += (f"| {name} | {row_['measured_ms']:.3f} |"
                 f" {row_['error_pct']:+.1f} | {why} |\n")
    return text


def steps(build, data):
    """Published steps of whole models."""
    report = json.loads(run(build / "src/cli/stepcast", "eval", "steps",
                            "--data", data / "published/dlrm_end_to_end.csv",
                            "--json"))
    text = STEPS_HEADER
    for group in report["groups"]:
        text += step_row([group["implementation"], group["mode"],
                          group["gpu"] or "none"], group)
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
    steps_report = build / "tests/accuracy/steps_report"
    return (text + several(report, data) + processors(report, data)
            + PAPER_HEADER
            + run(steps_report, data) + OPS_HEADER
            + run(steps_report, data, "ops"))


def main():
    options = sys.argv[3:]
    if len(sys.argv) < 3 or options not in ([], ["--network"], ["--steps"]):
        print(__doc__, file=sys.stderr)
        return 2
    build, data = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    stepcast = build / "src/cli/stepcast"
    page = ROOT / "docs/accuracy.md"
    if options == ["--steps"]:
        # The heading is the header's second line.
        kept = page.read_text(encoding="utf-8").partition(
            STEPS_HEADER.split("\n")[1])[0]
        page.write_text(kept.rstrip("\n") + "\n" + steps(build, data),
                        encoding="utf-8")
        return 0
    text = HEADER + kernels(stepcast, data) + whole(stepcast, data)
    anchors = build / "tests/accuracy/anchor_report"
    if anchors.exists():
        text += "\n" + run(anchors, data)
    if options == ["--network"]:
        text += network(stepcast, data)
    text += walks(stepcast, data)
    text += leave_out(stepcast, data)
    text += steps(build, data)
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
