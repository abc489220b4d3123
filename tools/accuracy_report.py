#!/usr/bin/env python3
"""Evaluates the built-in models on measured data and writes docs/accuracy.md.

usage: accuracy_report.py BUILD_DIR DATA_DIR [--network]

DATA_DIR holds `kernels`, `authors` and `traces`. Nothing is fitted here: the
rows are those of the test part, which neither a fit nor a choice has seen.
--network also trains the papers' network, most of a minute a GPU.
"""
import json
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
    (ROOT / "docs/accuracy.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
