#!/usr/bin/env python3
"""Boosted trees that know nothing of our formulas: XGBoost on the time of FP32
products over their roofline.

usage: plain_trees.py ROWS.json

ROWS.json is what `stepcast eval kernels --data .../gemm --rows` wrote, with all
its parts. Prints the errors on the test part, by GPU and op. Needs NumPy and
XGBoost. The trees see sizes, tiles and waves, and learn as the corrections of
our own formulas do: as many trees, as deep, with the same loss.
"""
import collections
import math
import sys

import numpy as np
import xgboost

from rows import Errors, element_bytes, is_fp32_product, load

ROUNDS = 240
PARAMETERS = {"max_depth": 7, "eta": 0.08, "subsample": 0.8,
              "colsample_bytree": 0.6, "lambda": 0.01, "min_child_weight": 1,
              "tree_method": "hist", "max_bin": 256, "base_score": 0,
              "nthread": 1, "seed": 1, "disable_default_eval_metric": 1,
              "verbosity": 0}
# Residuals (natural logarithm) well below this count by their square, well
# above by their size.
ROBUST_FROM = 0.04
LEAST_SECOND = 1e-6
# Rows at less than this many launch floors say only how long the kernel takes
# at most.
CENSORED_BELOW_FLOORS = 1.25
# Layers have sizes that are multiples of 4; random benchmarks hardly ever do,
# so the few that do count three times.
ALIGNED_WEIGHT = 3

# Columns and rows of the results that a thread block makes.
TILES = [(128, 128), (128, 64), (64, 64), (128, 32), (32, 128), (32, 32)]


def _log2(value):
    return math.log2(max(value, 1e-9))


def _alignment(size):
    """How often 2 divides it, up to 64."""
    size |= 64
    return (size & -size).bit_length() - 1


def features(row):
    """Sizes, alignment, tiles and waves of a product on its GPU."""
    gpu = row.gpu
    batch = max(row.shape["batch"], 1)
    m, n, k = (row.shape[key] for key in "mnk")
    # Pascal's SMs of 128 lanes count twice: each half has its own scheduler.
    halves = gpu.generation == "pascal" and gpu.fp32_lanes_per_sm >= 128
    sms = gpu.sm_count * (2 if halves else 1)
    width = element_bytes(row.shape)
    a, b, c = (width * batch * size for size in (m * k, k * n, m * n))
    l2 = gpu.l2_mb * 1e6
    results = math.log2(batch * m * n / sms)
    alignments = [_alignment(size) for size in (m, n, k)]
    # The 0 is where our corrections have compute over memory time, which a
    # formula gives: features are sampled by their index.
    values = [_log2(batch), _log2(m), _log2(n), _log2(k), results, 0,
              _log2(row.roofline_us), _log2((a + b + c) / l2), _log2(a / l2),
              _log2(b / l2), _log2(m / n), *alignments, min(alignments)]
    for columns, rows in TILES:
        waves = batch * math.ceil(n / columns) * math.ceil(m / rows) / sms
        values += [math.log2(waves), _log2(math.ceil(waves) / waves),
                   math.log2(waves) + math.log2(columns * rows) - results]
    for divisor in (32, 64, 128):
        values += [m % divisor, n % divisor]
    return [*values, k % 8, k % 32]


def weight(row):
    """Medians of many say more than a single time, but not without end."""
    seen = 1 + min(math.log2(row.count), 3)
    aligned = all(row.shape[key] % 4 == 0 for key in "mnk")
    return seen * (ALIGNED_WEIGHT if aligned and row.timing == "event_op"
                   else 1)


class Loss:
    """A pseudo-Huber loss of the logarithm of what the clock shows."""

    def __init__(self, rows):
        def column(value):
            return np.array([value(row) for row in rows], dtype=np.float64)
        self.base = column(lambda row: row.roofline_us)
        self.lead = column(lambda row: row.lead_us)
        self.time = column(lambda row: row.time_us)
        self.weight = column(weight)
        self.censored = self.time < CENSORED_BELOW_FLOORS * column(
            lambda row: row.floor_us)
        counts = np.array([row.judged for row in rows])
        # What most kernels take over the roofline: trees start there.
        kernel = np.maximum(self.time - self.lead, self.base)
        excess = np.log2(kernel / self.base)[counts]
        self.offset = float(np.median(excess)) if excess.size else 0.0

    def slopes(self, sums):
        """First and second derivatives by log2 of the estimates."""
        sums = np.asarray(sums, dtype=np.float64)
        kernel = self.base * np.exp2(self.offset + sums)
        observed = self.lead + kernel
        residual = np.log(observed) - np.log(self.time)
        damping = 1 / np.sqrt(1 + (residual / ROBUST_FROM)**2)
        chain = math.log(2) * kernel / observed
        first = self.weight * residual * damping * chain
        second = np.maximum(self.weight * damping * chain**2, LEAST_SECOND)
        # A kernel that its launch hides pulls only estimates above it.
        hidden = self.censored & (residual < 0)
        return (np.where(hidden, 0, first).astype(np.float32),
                np.where(hidden, LEAST_SECOND, second).astype(np.float32))


def price(rows):
    """Kernel times in microseconds for all rows, learned from the fit part."""
    fit = [row for row in rows if row.part == "fit"]
    loss = Loss(fit)
    matrix = xgboost.DMatrix(np.array([features(row) for row in fit],
                                      dtype=np.float32))
    booster = xgboost.Booster(PARAMETERS, [matrix])
    for number in range(ROUNDS):
        booster.update(matrix, number, lambda sums, _: loss.slopes(sums))
    sums = booster.predict(
        xgboost.DMatrix(np.array([features(row) for row in rows],
                                 dtype=np.float32)), output_margin=True)
    base = np.array([row.roofline_us for row in rows])
    return base * np.exp2(loss.offset + sums.astype(np.float64))


def price_groups(rows):
    """[(row, time)] of all products; single ones and batches learn apart, and
    so do GPUs."""
    groups = collections.defaultdict(list)
    for row in filter(is_fp32_product, rows):
        groups[row.gpu.name, row.shape["batch"] > 1].append(row)
    return [pair for _, group in sorted(groups.items())
            for pair in zip(group, price(group))]


def judge(rows):
    """Errors on the test part, by GPU and op."""
    errors = collections.defaultdict(Errors)
    for row, kernel_us in price_groups(rows):
        if row.part == "test" and row.judged:
            errors[row.gpu.name, row.op].add(row.observed(kernel_us),
                                             row.time_us)
    return errors


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for (gpu, op), errors in sorted(judge(load(sys.argv[1])).items()):
        print(gpu, op, len(errors), f"{errors.gmae_pct:.3f}",
              f"{errors.mape_pct:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
