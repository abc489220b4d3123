#!/usr/bin/env python3
"""Makes data/overheads/v100-hipc-2022.toml, the host of Lin et al., HiPC 2022.

usage: make_hipc_overheads.py AUTHORS_DIR > data/overheads/v100-hipc-2022.toml

The figures of the paper have T1 and the ten ops with the largest T2, T3 and T5,
without what the profiler takes. Other ops are taken from older, complete tables
of the same host and multiplied with the median ratio of the ops that both have:
that much of the older ones was the profiler's.
"""

import collections
import csv
import pathlib
import statistics
import sys

# The paper's cost of a launch call without the profiler.
CALL_US = 4.0
# The papers count launches and copies, we also memsets. Gaps per op and memsets
# after its first launch, mean over the twelve configurations (three models,
# batch 512 to 4096): the papers', ours, memsets.
GAPS = {
    "AddmmBackward0": (1.86, 3.54, 1.31),
    "aten::linear": (1.00, 1.19, 0.19),
}
# Ops of the figures' T5 that launch nothing: all of their time.
WITHOUT_LAUNCH = ("TBackward0", "aten::view", "aten::zeros")

HEADER = """\
# Host overheads of the V100 host of Lin et al., HiPC 2022, without the profiler.
# Made by tools/make_hipc_overheads.py from
# data: authors/s1_hipc_overheads_t1_DIGITIZED.csv
# data: authors/s1_hipc_overheads_t2_t3_t5_DIGITIZED.csv
# data: authors/overheads_v100_2022-02-14_all_workloads.csv, T2 of other ops
# data: authors/overheads_v100_2021-05-14_DLRM_default_2048.csv, T3 and T5 of others
# Threads were not distinguished: a handoff takes a T1. Calls are those of the papers.

name = "v100-hipc-2022"
profiler_us_per_event = 0

# A row is [count, mean_us, std_us, p10_us, p50_us, p90_us, events]."""


def plain(op):
    """The name without what changed from release to release."""
    op = op.replace("autograd::engine::evaluate_function: ", "")
    return op.replace("torch::autograd::", "").rstrip("0123456789")


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read_figures(folder):
    values = collections.defaultdict(list)
    for row in rows(folder / "s1_hipc_overheads_t2_t3_t5_DIGITIZED.csv"):
        values[row["overhead_type"], row["op"]].append(float(row["mean_us"]))
    return {key: statistics.mean(value) for key, value in values.items()}


def read_t1(folder):
    return statistics.mean(
        float(row["t1_mean_us"])
        for row in rows(folder / "s1_hipc_overheads_t1_DIGITIZED.csv"))


def read_t2_of_2022(folder):
    """T2 of the DLRMs, by count."""
    sums = collections.defaultdict(lambda: [0.0, 0])
    for row in rows(folder / "overheads_v100_2022-02-14_all_workloads.csv"):
        if row["overhead_type"] == "t2" and row["model"].startswith("DLRM"):
            entry = sums[row["op_or_runtime_call"]]
            entry[0] += float(row["mean_us"]) * int(row["count"])
            entry[1] += int(row["count"])
    return {op: total / count for op, (total, count) in sums.items()}


def read_2021(folder):
    """T3, T5 of ops that launch, and all of those that do not."""
    parts = {"t3": {}, "t5": {}, "no_launch": {}}
    name = "overheads_v100_2021-05-14_DLRM_default_2048.csv"
    for row in rows(folder / name):
        part = row["overhead_type"]
        if part == "t5" and row["num_launches_in_first_occurrence"] == "0":
            part = "no_launch"
        if part in parts and float(row["mean_us"]) > 0:
            parts[part][row["op_or_runtime_call"]] = float(row["mean_us"])
    return parts


def complete(part, older):
    """Adds the older rows of ops that `part` has not, scaled."""
    known = {plain(op): value for op, value in part.items()}
    ratio = statistics.median(
        known[plain(op)] / value for op, value in older.items()
        if plain(op) in known)
    for op, value in older.items():
        if plain(op) not in known:
            part[op] = value * ratio


def main():
    folder = pathlib.Path(sys.argv[1])
    t1 = read_t1(folder)
    parts = {"t1": {"*": t1}, "t2": {}, "t3": {}, "t4": {}, "t5": {},
             "no_launch": {}, "hand_over": {"*": t1}}
    for (part, op), value in read_figures(folder).items():
        parts["no_launch" if part == "t5" and op in WITHOUT_LAUNCH
              else part][op] = value
    complete(parts["t2"], read_t2_of_2022(folder))
    for part, older in read_2021(folder).items():
        complete(parts[part], older)
    for op, (theirs, ours, memsets) in GAPS.items():
        parts["t5"][op] = (parts["t5"][op] * theirs - memsets * CALL_US) / ours
    for call in ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync"):
        parts["t4"]["launch " + call] = CALL_US
    parts["t4"]["blocking cudaMemcpyAsync"] = CALL_US
    parts["t4"]["blocking cudaStreamSynchronize"] = 0.0
    print(HEADER)
    for part, ops in parts.items():
        print(f"\n[{part}]")
        for op, value in sorted(ops.items()):
            us = f"{value:.3f}"
            print(f'"{op}" = [1, {us}, 0, {us}, {us}, {us}, 0]')


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
