#!/usr/bin/env python3
"""FP32 products by the papers' network, by plain trees and by stepcast.

usage: products.py ROWS.json

ROWS.json is what `stepcast eval kernels --data .../gemm --rows` wrote, with all
its parts. Prints a Markdown table of the errors on the test part. Needs NumPy,
XGBoost and PyTorch; five minutes for five GPUs.
"""
import collections
import sys

import lin2022_network
import plain_trees
from rows import Errors, is_fp32_product, load

# What stepcast itself says of a row, by the name of its column.
OWN = [("roofline", "roofline_us"), ("formula", "formula_us"),
       ("ours", "p50_us")]
COLUMNS = ["roofline", "formula", "network", "trees", "ours"]


def judge_own(rows):
    """Errors on the test part by (GPU, op), by column."""
    errors = {name: collections.defaultdict(Errors) for name, _ in OWN}
    for row in filter(is_fp32_product, rows):
        if row.part == "test" and row.judged:
            for name, key in OWN:
                errors[name][row.gpu.name, row.op].add(
                    row.observed(getattr(row, key)), row.time_us)
    return errors


def table(errors):
    """The Markdown of {column: {(GPU, op): Errors}}."""
    text = ("| GPU | op | n | "
            + " | ".join(f"{name} GMAE | MAPE" for name in COLUMNS)
            + " |\n| --- | --- |" + " ---: |" * (1 + 2 * len(COLUMNS)) + "\n")
    for gpu, op in sorted(errors["ours"]):
        line = [errors[name][gpu, op] for name in COLUMNS]
        text += (f"| {gpu} | {op} | {len(line[-1])} | "
                 + " | ".join(f"{one.gmae_pct:.1f} | {one.mape_pct:.1f}"
                              for one in line) + " |\n")
    return text


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    rows = load(sys.argv[1])
    print(table({**judge_own(rows), "network": lin2022_network.judge(rows),
                 "trees": plain_trees.judge(rows)}), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
