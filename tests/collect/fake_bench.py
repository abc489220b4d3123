#!/usr/bin/env python3
"""A sweep on a pretended device, to be killed: fake_bench.py OUT POINTS."""
import pathlib
import sys
import time

import collect_path  # noqa: F401  (finds the modules below)
from bench import Bench
from budget import Budget
from journal import Journal, write_tables
from points import make_sweep
from schemas import COLUMNS


class FakeRunner:
    """Every point takes a millisecond; every tenth is left out."""

    def __init__(self):
        self._count = 0

    def reference_us(self):
        return 100.0

    def run(self, point):
        time.sleep(0.001)
        self._count += 1
        if len(str(point)) % 10 == 0:
            return None, None, "takes too long"
        row = {"gpu": "fake", "op": point["op"], "time_us": 1.0,
               "source": str(sorted(point.items()))}
        return point["kind"], row, None


def main():
    out = pathlib.Path(sys.argv[1])
    journal = Journal(out)
    write_tables(out, journal.rows(), COLUMNS)
    sweep = make_sweep(1, "small")[:int(sys.argv[2])]
    bench = Bench(FakeRunner(), sweep, journal, Budget(60))
    print("ready", flush=True)
    whole = bench.run()
    write_tables(out, journal.rows(), COLUMNS)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
