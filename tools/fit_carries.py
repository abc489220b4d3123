#!/usr/bin/env python3
"""Fits how much of a kernel's error goes to another GPU: kCarries of src/cost/constants.cc.

usage: fit_carries.py STEPCAST MEASURED MORE

MEASURED and MORE are folders of measured kernels as docs/formats/kernel_csv.md
describes them (MEASURED has those that the built-in models were fitted to, MORE has
xla_gemm). Prints a row of the table per family, and the table of docs/models/whatif.md.
"""

import collections
import hashlib
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

# As kReplayGaps: what a recorder shows on top of a product's price.
REPLAY_GAP_US = {"h100-sxm-80gb": 2.2, "h200-sxm-141gb": 2.2, "b200-sxm-180gb": 3.0, "gb200": 3.0}
# Sizes of the model that tests/shared takes from one GPU to the other: not for a fit.
LEFT_OUT = ("=141", "elements=72192", "elements=288768")
# A family is drawn towards all families as if by so many sizes more, and test rows of
# single sources count as so many.
PRIOR_SIZES = 10
GRID = [i / 50 for i in range(51)]
# As many pairs of test rows say enough: every n-th of a family is taken.
MOST_HELD = 3000
# Fewer than three sizes say nothing about the mean over families.
LEAST_PAIRS = 6

Pair = collections.namedtuple("Pair", "old new half shape")


def rows(stepcast, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        subprocess.run(
            [stepcast, "eval", "kernels", "--rows", str(out), *arguments],
            check=True, stdout=subprocess.DEVNULL)
        found = json.loads(out.read_text())["rows"]
    return [r for r in found
            if r["judged"] and len(r.get("shapes", [])) == 1 and r.get("p50_us", 0) > 0]


def error(row, recorded):
    shape = row["shapes"][0]
    words = dict(w.split("=") for w in shape.split()[1:])
    price = row["p50_us"]
    if recorded and shape.startswith("gemm") and words["dtype"] == "bf16" and \
            "1" not in (words["m"], words["n"]):
        price += REPLAY_GAP_US.get(row["gpu"], 0)
    return math.log(max(row["time_us"] - row.get("lead_us", 0), 0.01) / price)


def pairs(found, recorded):
    """By family: the errors of one size on two GPUs, either way."""
    sizes = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in found:
        sizes[(row["timing"], row["shapes"][0])][row["gpu"]].append(error(row, recorded))
    result = collections.defaultdict(list)
    for (_, shape), gpus in sizes.items():
        half = hashlib.md5(shape.encode()).digest()[0] % 2
        mean = {gpu: sum(e) / len(e) for gpu, e in gpus.items()}
        for old, new in itertools.permutations(sorted(mean), 2):
            result[shape.split()[0]].append(Pair(mean[old], mean[new], half, shape))
    return result


def loss(some, share):
    return sum(abs(p.new - share * p.old) for p in some)


def best(some):
    return min(GRID, key=lambda share: loss(some, share)) if some else 0


def percent(mean):
    return (math.exp(mean) - 1) * 100


def quantile(values, f):
    return sorted(values)[min(len(values) - 1, int(f * len(values)))]


class Fit:
    """On one half of the sizes, or on both."""

    def __init__(self, recorded, held, half=None):
        def of(some):
            return [p for p in some if half is None or p.half == half]

        self.recorded = {k: of(v) for k, v in recorded.items()}
        self.held = {k: of(v[::len(v) // MOST_HELD + 1]) for k, v in held.items()}
        many = [(of(v), 1 / len(v)) for v in recorded.values() if len(v) >= LEAST_PAIRS]
        self.all = min(GRID, key=lambda a: sum(w * loss(v, a) for v, w in many))
        self.shares = {k: self._share(k) for k in set(recorded) | set(held)}

    def _share(self, family):
        own = self.recorded.get(family, [])
        held = self.held.get(family, [])
        sizes = len({p.shape for p in own})
        held_sizes = PRIOR_SIZES if held else 0
        return (sizes * best(own) + held_sizes * best(held) + PRIOR_SIZES * self.all) / (
            sizes + held_sizes + PRIOR_SIZES)


def spread(residuals):
    """Deciles in log2 over families of the same weight."""
    weighed = sorted((r, 1 / len(v)) for v in residuals.values()
                     if len(v) >= LEAST_PAIRS for r in v)
    total = sum(w for _, w in weighed)
    result, seen, wanted = [], 0, [0.1, 0.9]
    for r, w in weighed:
        seen += w
        while wanted and seen >= wanted[0] * total:
            result.append(r / math.log(2))
            wanted.pop(0)
    return result


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    stepcast, measured, more = sys.argv[1:]
    # Operators and copies are profiled by others; the rest is of the models' own sources.
    profiled = rows(stepcast, "--data", f"{measured}/aten", f"{measured}/concat",
                    f"{measured}/memcpy")
    profiled = [r for r in profiled
                if not any(w in r["shapes"][0] for w in LEFT_OUT)
                and not (r["shapes"][0].startswith("elementwise") and r["part"] == "fit")]
    xla = [r for r in rows(stepcast, "--data", *(
        f"{more}/xla_gemm/{gpu}.csv" for gpu in ("h100-sxm-80gb", "b200-sxm-180gb", "mi300x")))
           if "dtype=bf16" in r["shapes"][0]]
    recorded = pairs(profiled, True)
    for family, some in pairs(xla, True).items():
        recorded[family] += some
    held = pairs([r for r in rows(stepcast, "--data", measured, "--part", "test")
                  if r["op"] not in ("aten", "concat", "memcpy")], False)

    both = Fit(recorded, held)
    # Each half is judged by a fit to the other.
    halves = [Fit(recorded, held, 1 - half) for half in (0, 1)]
    residuals = {family: [p.new - halves[p.half].shares[family] * p.old for p in some]
                 for family, some in recorded.items()}
    low_all, high_all = spread(residuals)
    print(f'    Carry{{"", {both.all:.2f}, {low_all:.2f}, {high_all:.2f}}}')
    table = []
    for family in sorted(set(recorded) | set(held)):
        some = recorded.get(family, [])
        sizes = len({p.shape for p in some})
        share = both.shares[family]
        deciles = []
        for f, of_all in ((0.1, low_all), (0.9, high_all)):
            own = quantile(residuals[family], f) / math.log(2) if some else 0
            deciles.append((sizes * own + PRIOR_SIZES * of_all) / (sizes + PRIOR_SIZES))
        print(f'    Carry{{"{family}", {share:.2f}, {deciles[0]:.2f}, {deciles[1]:.2f}}},')
        if some:
            n = len(some)
            table.append(
                f"| {family} | {sizes} | {share:.2f} | {percent(loss(some, 1) / n):.1f} | "
                f"{percent(loss(some, 0) / n):.1f} | "
                f"{percent(sum(map(abs, residuals[family])) / n):.1f} | "
                f"{2 ** deciles[0]:.2f} | {2 ** deciles[1]:.2f} |")
    print("\n".join(table))
    counted = [f for f in recorded if len(recorded[f]) >= LEAST_PAIRS]
    means = [[loss(recorded[f], 1) / len(recorded[f]) for f in counted],
             [loss(recorded[f], 0) / len(recorded[f]) for f in counted],
             [sum(map(abs, residuals[f])) / len(recorded[f]) for f in counted]]
    print("all: ratio, price, share:",
          ", ".join(f"{percent(sum(m) / len(m)):.1f}" for m in means))


if __name__ == "__main__":
    main()
