#!/usr/bin/env python3
"""Measures PyTorch's operators on a device: CSV files for `stepcast fit`.

  bench.py --device cuda:0 --out measured --minutes 30
  bench.py --device cpu --out measured --minutes 10

A run that was killed continues where it was if it is started again with the
same --out. Only PyTorch is needed, 1.13 or later.
"""
import argparse
import pathlib
import sys
import time

import calibrate
import machine
from budget import Budget, Progress, clock_text
from clock_option import add_clock, check_clock
from journal import Journal, write_tables
from malloc_option import add_malloc, apply_malloc
from points import GENERATORS, make_sweep, point_id
from schemas import COLUMNS
from stats import ThrottleWatch
from undisturbed import StepFilter, write_reference
from visits import Visits
from work import Limits, Rotation

# How long a point is sampled at most; creating its tensors and warming up
# are extra.
_POINT_SECONDS = 0.12
# How often a sweep checks whether a hot or busy machine is as fast as before
# until it continues anyway, and the largest share of its budget for that.
_WAIT_SECONDS = 0.01
_MOST_WAITS = 10
_WAIT_SHARE = 0.2


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0],
        epilog="operators: " + ", ".join(GENERATORS))
    parser.add_argument("--device", default="cpu",
                        help="cpu, cuda, cuda:1, ...")
    parser.add_argument("--out", required=True, help="directory of the CSVs")
    parser.add_argument("--minutes", type=float, default=10.0,
                        help="of all runs with this --out together")
    parser.add_argument("--gpu", help="the name in the rows; default: by the "
                        "device's own")
    parser.add_argument("--sizes", choices=["papers", "small"],
                        help="default: small on cpu, else papers")
    parser.add_argument("--only", nargs="+", metavar="OP",
                        help="these operators alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, help="of the processor")
    add_clock(parser)
    add_malloc(parser)
    parser.add_argument("--longest-ms", type=float, default=60.0,
                        help="leave out calls that take longer")
    arguments = parser.parse_args(words)
    if not arguments.minutes > 0:
        parser.error(f"--minutes is {arguments.minutes}; expected more than "
                     "0")
    check_clock(parser, arguments)
    if arguments.sizes is None:
        arguments.sizes = "small" if arguments.device == "cpu" else "papers"
    return arguments


def check_header(journal, settings):
    """The same sweep as before, or a reason why not."""
    header = journal.header()
    if header is None:
        journal.add({"type": "start", "settings": settings})
        return None
    for key, value in settings.items():
        before = header["settings"].get(key)
        if before != value:
            return (f"--out has a sweep with {key} {before}, not {value}; "
                    "expected the same, or another directory")
    return None


class Bench:
    """One run of a sweep: points in order, each into the journal."""

    def __init__(self, runner, sweep, journal, budget):
        self._runner = runner
        self._sweep = sweep
        self._journal = journal
        self._budget = budget
        self._start = time.monotonic()
        self._watch = ThrottleWatch()
        self._waited = 0.0
        self.measured = 0
        self.done = 0

    def _add(self, entry):
        entry["at_s"] = round(time.monotonic() - self._start, 3)
        self._journal.add(entry)

    def _is_itself(self):
        """Whether the machine is as fast as when idle."""
        return self._watch.check(self._runner.reference_us())

    @property
    def _may_wait(self):
        return (self._waited + _WAIT_SECONDS
                <= _WAIT_SHARE * self._budget.seconds)

    def _rest(self):
        """Waits until the machine has cooled down or finished other work. True
        once it has."""
        for _ in range(_MOST_WAITS):
            if not self._may_wait:
                break
            self._waited += _WAIT_SECONDS
            time.sleep(_WAIT_SECONDS)
            if self._is_itself():
                return True
        return False

    def _visit(self, point, before):
        """Measures a point on a machine that was undisturbed before, or not.
        The entry for the journal, and whether it is undisturbed after it."""
        entry = {"type": "point", "id": point_id(point),
                 "kind": point["kind"], "rows": []}
        kind, row, why = self._runner.run(point)
        if row is None:
            entry["skipped"] = why
            return entry, before
        entry["kind"] = kind
        entry["rows"] = [row]
        after = self._is_itself()
        if not (before and after):
            entry["disturbed"] = True
        return entry, after

    def _visits(self):
        done, disturbed = self._journal.done(), self._journal.disturbed()
        new = []
        again = []
        for point in self._sweep:
            name = point_id(point)
            if name in disturbed:
                again.append((point, disturbed[name]))
            elif name not in done:
                new.append(point)
        self.done = len(done)
        return Visits(new, again)

    def run(self):
        """Until the sweep or the budget is over. True: the whole sweep."""
        self._add({"type": "run"})
        progress = Progress(len(self._sweep))
        visits = self._visits()
        itself = self._is_itself()
        while True:
            if self._budget.is_over():
                progress.end()
                return False
            found = visits.next(self._budget)
            if found is None:
                progress.end()
                return True
            point, count = found
            itself = itself or self._rest()
            entry, itself = self._visit(point, itself)
            self._add(entry)
            self.measured += bool(entry["rows"])
            if not (entry.get("disturbed")
                    and visits.again(point, count + 1)):
                self.done += 1
            progress.show(self.done, self._budget, point["op"])

    @property
    def throttled(self):
        return self._watch.throttled

    @property
    def mark_us(self):
        return self._watch.mark


def main(words=None):
    arguments = parse_arguments(words)
    try:
        import torch
    except ImportError:
        print("error: no PyTorch; expected 1.13 or later", file=sys.stderr)
        return 2
    from runner import Runner  # Needs torch.
    apply_malloc(arguments)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    out = pathlib.Path(arguments.out)
    name = arguments.gpu or machine.default_name(torch, arguments.device)
    journal = Journal(out)
    wrong = check_header(journal, {
        "gpu": name, "device": arguments.device, "sizes": arguments.sizes,
        "seed": arguments.seed, "only": arguments.only,
        "threads": torch.get_num_threads(), "clock": arguments.clock,
        "malloc": arguments.malloc,
        "torch": torch.__version__})
    if wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    # What a kill has left out.
    write_tables(out, journal.rows(), COLUMNS)
    budget = Budget(60 * arguments.minutes, journal.spent())
    facts = machine.describe(torch, arguments.device)
    limits = Limits(1e3 * arguments.longest_ms, facts["memory_bytes"] / 8)
    if "gpu" in facts:
        limits.most_bytes = facts["gpu"]["memory_bytes"] / 4
    runner = Runner(torch, arguments.device, name, limits,
                    rotation=rotation(facts), seconds=_POINT_SECONDS,
                    clock=arguments.clock)
    if not (out / "device.toml").exists():
        (out / "device.toml").write_text(
            machine.device_toml(name, facts, runner.peaks()))
    bench = Bench(runner, make_sweep(arguments.seed, arguments.sizes,
                                     arguments.only), journal, budget)
    try:
        whole = bench.run()
    except KeyboardInterrupt:
        return 130
    finally:
        write_tables(out, journal.rows(), COLUMNS)
        write_reference(out, bench.mark_us)
    if arguments.device == "cpu" and not arguments.only:
        calibrate.record(
            torch, out, arguments.clock,
            lambda: StepFilter(runner.reference_us, bench.mark_us))
    unsure = len(journal.disturbed())
    print(f"bench: {bench.measured} measurements in this run, "
          f"{bench.done} points done in all"
          + (f" and {unsure} disturbed so far" if unsure else "") + ", "
          f"{clock_text(budget.spent())} spent"
          + ("" if whole else "; --minutes more to go on")
          + (f"; the machine was slow {bench.throttled} times"
             if bench.throttled else ""), file=sys.stderr)
    journal.close()
    return 0


def rotation(facts):
    """Twice the private cache of a core, and twice the last-level cache. The
    cache of a GPU is not queried: 64 MB is larger than most, as a step is."""
    if "gpu" in facts:
        return Rotation(near=64 << 20, far=64 << 20)
    sizes = {int(k): v for k, v in facts["cache_bytes"].items()}
    own = sizes.get(2, 1 << 20)
    return Rotation(near=2 * own, far=2 * max(sizes.values(), default=own))


if __name__ == "__main__":
    sys.exit(main())
