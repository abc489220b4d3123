#!/usr/bin/env python3
"""The papers' walk gives the host clock that its authors printed after each of
115 ops: authors_clocks_test.py DATA

Skipped where DATA has no `authors`.
"""
import csv
import pathlib
import sys
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
from lin2022_walk import WalkOp, walk
from overheads import Overhead, OverheadTable, POOLED

DATA = None
RUN = "2021-05-04_DLRM_default"


def read(name):
    with open(DATA / "authors" / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def unrounded(printed, counts=range(1, 2001)):
    """The mean of whole numbers that is printed so with four digits: over the
    fewest of them that give it. Longer numbers have all their digits."""
    value = float(printed)
    if len(printed.partition(".")[2]) > 4:
        return value
    for count in counts:
        mean = round(value * count) / count
        if abs(mean - value) <= 0.5000001e-4:
            return mean
    return value


def overheads():
    # T4 is a mean over all kernels of the trace.
    launches = sum(int(row["kernel_count"])
                   for row in read(f"trace_v100_{RUN}_b2048_kernels.csv")
                   if not row["kernel"].startswith("Mem"))
    parts = {}
    for row in read(f"overheads_v100_{RUN}_2048.csv"):
        part, name = row["overhead_type"], row["op_or_runtime_call"]
        mean = unrounded(row["mean_us"])
        calls = int(row["num_launches_in_first_occurrence"] or 1)
        if part == "t4":
            if name == "cudaLaunchKernel":
                mean = unrounded(row["mean_us"], [launches])
            name = f"launch {name}"
        elif part == "t5" and calls == 0:
            part = "no_launch"
        elif part == "t5" and calls == 1:
            continue  # There is nothing between.
        parts.setdefault(part, {})[name or POOLED] = Overhead(10, mean)
    return OverheadTable(parts)


def launches_of(op, count):
    """Copies go by cudaMemcpyAsync, and so does the second launch of
    SliceBackward."""
    calls = ["cudaMemcpyAsync" if op == "aten::to" else "cudaLaunchKernel"
             ] * count
    if op == "SliceBackward" and count > 1:
        calls[1] = "cudaMemcpyAsync"
    return calls


class AuthorsClocksTest(unittest.TestCase):

    def test_the_walk_gives_the_host_clock_they_printed_after_each_op(self):
        if not (DATA / "authors").exists():
            self.skipTest(f"no published tables in {DATA}")
        printed = read(f"e2e_walk_testvector_{RUN}_b2048.csv")
        self.assertEqual(len(printed), 115)
        ops = [WalkOp(row["op"],
                      launches_of(row["op"], int(row["launches"])))
               for row in printed]
        (walker,) = walk([ops], overheads(), "lin2021")
        for row, clock in zip(printed, walker.clocks):
            self.assertAlmostEqual(
                clock, float(row["authors_cpu_clock_us_after_op"]), delta=1e-6,
                msg=row["op"])


if __name__ == "__main__":
    DATA = pathlib.Path(sys.argv.pop(1))
    unittest.main()
