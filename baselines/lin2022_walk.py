#!/usr/bin/env python3
"""The papers' own way from overheads and kernel times to a step: one pass over
the ops with a clock for the host and one for each stream.

usage: lin2022_walk.py STEPCAST TRACES

Lin et al., HiPC 2022, and their multi-GPU sequel of 2024. The ops are those of a
recorded step (`stepcast convert`), their kernels take what stepcast predicts
(`stepcast predict --perfetto`), and the host's overheads are the trace's own
(`stepcast fit overheads`), so that only the walks differ. Prints the slowest
rank's step and how long its GPU was active.
"""
import dataclasses
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import graph_text
from overheads import OverheadTable, plain_name

VARIANTS = ("lin2021",  # A first version of May 2021, known by its host clock.
            "lin2022",  # One GPU: the host never waits for it.
            "lin2024")  # Ranks with two streams each, collectives, copies.

# The papers' constants, in microseconds: between two kernels of a stream, what a
# kernel takes on top of its model, and the call of a copy that turns out to copy
# nothing.
KERNEL_GAP = 1
KERNEL_EXTRA = {"lin2022": 4, "lin2024": 5}
EMPTY_COPY_CALL = 2

# Ops with a kernel model in 2022, by plain name; each may have a model of its
# backward pass, too.
MODELLED_2022 = {
    "linear", "addmm", "bmm", "matmul", "conv2d", "Convolution",
    "CudnnConvolution", "batch_norm", "CudnnBatchNorm", "LookupFunction",
    "index", "relu", "sigmoid", "binary_cross_entropy", "mse_loss", "MseLoss",
    "avg_pool2d", "max_pool2d", "add", "__and__", "sub", "mul", "div", "cat",
    "sum", "to", "ones_like", "zero", "contiguous", "AccumulateGrad"}
# What 2024 added.
MODELLED_2024 = {
    "einsum", "conv1d", "layer_norm", "NativeLayerNorm", "gelu", "softmax",
    "dropout", "NativeDropout", "tanh", "pow", "index_select", "copy",
    "Unsqueeze", "Split", "View", "T", "Mm", "all_to_all", "all_reduce",
    "nccl"}
# Parts of names that only 2024 models: collectives, FBGEMM's lookups.
MODELLED_2024_PARTS = (
    "split_embedding_codegen_lookup", "SplitLookupFunction",
    "record_param_comms", "alltoall", "allreduce", "copy_bucket_to_grad",
    "All2All")
PASSED_OVER = {"SliceBackward", "FusedDropoutBackward", "distribute emb data"}


@dataclasses.dataclass
class Kernel:
    us: float
    communication: bool = False  # On the second stream; the op's collective.


@dataclasses.dataclass
class WalkOp:
    """A top-level operator."""
    name: str
    launches: list = dataclasses.field(default_factory=list)  # Calls' names.
    kernels: list = dataclasses.field(default_factory=list)  # Of the first.
    modelled: bool = True  # Else its kernels count for nothing.
    has_children: bool = True
    # It uses what the last collective made, or is there to wait for it.
    waits_for_collective: bool = False

    @property
    def is_copy(self):
        return plain_name(self.name) == "to"

    @property
    def is_optimizer(self):
        return self.name.startswith("Optimizer.")

    @property
    def is_collective(self):
        return self.modelled and any(kernel.communication
                                     for kernel in self.kernels)


def _has_forward(names, name):
    """Whether "addmm" is among them for "AddmmBackward"."""
    if not name.endswith("Backward"):
        return name in names
    name = name.removesuffix("Backward")
    return name in names or (name[:1].lower() + name[1:]) in names


def is_modelled(op, variant):
    """Whether the papers have kernel models for the op."""
    plain = plain_name(op)
    if op.startswith("Optimizer.") or _has_forward(MODELLED_2022, plain):
        return True
    return variant == "lin2024" and (
        _has_forward(MODELLED_2024, plain)
        or any(part in plain for part in MODELLED_2024_PARTS))


def is_passed_over(op, variant):
    """Whether the walk passes over the op: not even T1 is added."""
    return variant != "lin2021" and plain_name(op) in PASSED_OVER


class Walker:
    """The clocks of one rank."""

    def __init__(self, ops, overheads, variant):
        self.ops = iter(ops)
        self.overheads = overheads
        self.variant = variant
        self.t1 = overheads.t1()
        self.visit_launches = {"lin2021": self._visit_2021,
                               "lin2022": self._visit_2022,
                               "lin2024": self._visit_2024}[variant]
        self.clocks = []  # The host's, after each op.
        self.host = 0
        self.compute = 0
        self.communication = 0
        self.front = 0  # What the streams had reached before the op.
        self.active = 0

    def to_collective(self):
        """Walks past the next collective; false if there is none left."""
        for op in self.ops:
            self._visit(op)
            self.clocks.append(self.host)
            if self.variant == "lin2024" and op.is_collective:
                return True
        return False

    def wait_until(self, clock):
        """The collective ends for all ranks at once."""
        self.active += clock - self.communication
        self.communication = clock
        self.front = max(self.front, clock)

    @property
    def gpu(self):
        return max(self.compute, self.communication)

    @property
    def step(self):
        return max(self.host, self.gpu)

    def _visit(self, op):
        self.host += self.t1
        if not op.launches:
            self.host += self.overheads.whole_op(op.name)
        else:
            self.visit_launches(op)

    def _add_calls(self, op):
        self.host += sum(map(self.overheads.t4, op.launches))
        self.host += (len(op.launches) - 1) * self.overheads.t5(op.name)

    def _visit_2021(self, op):
        """The optimizer's T2 and T3 count twice and its calls not at all: a
        slip of that version which its printed clocks confirm."""
        times = 2 if op.is_optimizer else 1
        self.host += times * self.overheads.t2(op.name)
        for i, (call, kernel) in enumerate(
                itertools.zip_longest(op.launches, op.kernels)):
            t4 = self.overheads.t4(call)
            if op.modelled and kernel:
                self.compute = max(self.compute, self.host + t4 / 2)
                self.compute += kernel.us
                self.active += kernel.us
            self.host += 0 if op.is_optimizer else t4
            if i + 1 < len(op.launches):
                self.host += self.overheads.t5(op.name)
        self.host += times * self.overheads.t3(op.name)

    def _visit_2022(self, op):
        self.host += self.overheads.t2(op.name)
        if not op.modelled:
            self._add_calls(op)
        else:
            for i, (call, kernel) in enumerate(
                    itertools.zip_longest(op.launches, op.kernels)):
                t4 = self.overheads.t4(call)
                self.compute = max(self.compute + KERNEL_GAP, self.host + t4)
                if kernel:
                    time = kernel.us + KERNEL_EXTRA[self.variant]
                    self.compute += time
                    self.active += time
                empty = op.is_copy and not op.has_children
                self.host += EMPTY_COPY_CALL if empty else t4
                if i + 1 < len(op.launches):
                    self.host += self.overheads.t5(op.name)
        self.host += self.overheads.t3(op.name)

    def _visit_2024(self, op):
        if op.waits_for_collective or op.is_collective:
            self.compute = self.communication = self.gpu
        self.host += self.overheads.t2(op.name)
        if not op.modelled:
            self._add_calls(op)
        else:
            # Launches beyond the modelled kernels cost nothing.
            for i, (call, kernel) in enumerate(zip(op.launches, op.kernels)):
                self.host += self.overheads.t5(op.name) if i > 0 else 0
                t4 = self.overheads.t4(call)
                self._place(kernel, t4)
                self.host += t4
        self.host += self.overheads.t3(op.name)
        if op.is_copy:
            self.host = max(self.host, self.compute)
        self.front = max(self.front, self.gpu)

    def _place(self, kernel, t4):
        """A kernel on its stream; a collective also waits for the other."""
        stream = self.communication if kernel.communication else self.compute
        start = max(stream + KERNEL_GAP, self.host + t4)
        if kernel.communication:
            start = max(self.compute + KERNEL_GAP, start)
        time = kernel.us + KERNEL_EXTRA[self.variant]
        self.active += min(max(start + time - self.front, 0), time)
        if kernel.communication:
            self.communication = start + time
        else:
            self.compute = start + time


def walk(ranks, overheads, variant):
    """Walkers that have gone over the ops of every rank. In 2024 they wait for
    one another in every collective: the n-th of one for the n-th of the
    others."""
    walkers = [Walker(ops, overheads, variant) for ops in ranks]
    while waiting := [walker for walker in walkers if walker.to_collective()]:
        last = max(walker.communication for walker in waiting)
        for walker in waiting:
            walker.wait_until(last)
    return walkers


def walk_ops(rank, variant):
    """The ops of a graph's rank as the walk goes over them."""
    for op in rank.top_level_ops():
        silent = variant == "lin2024" and (
            any("broadcast" in name for name in op.names)
            or (op.name == "record_param_comms" and not op.first_below))
        if silent or is_passed_over(op.name, variant):
            continue
        launches = [call for call in op.calls if call.launches]
        yield WalkOp(
            name=op.name,
            launches=[call.name for call in launches],
            kernels=[Kernel(sum(one.us for one in call.activities),
                            any(one.collective for one in call.activities))
                     for call in launches],
            modelled=is_modelled(op.name, variant),
            has_children=op.first_below is not None,
            waits_for_collective=any(one.waits_for_collective
                                     for call in launches
                                     for one in call.activities))


def set_times(ranks, events):
    """Gives activities their time in a simulated timeline, without the time
    that a collective waits for other ranks. A stream keeps its order."""
    processes = {}
    streams = {}
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_name":
            name = event["args"]["name"]
            if name.endswith(" simulated"):
                processes[event["pid"]] = int(name.split()[1])
        elif event["ph"] == "M" and event["name"] == "thread_name":
            streams[event["pid"], event["tid"]] = (
                event["args"]["name"].removeprefix("stream "))
    simulated = {}
    for event in events:
        if event["ph"] == "X" and event["pid"] in processes and (
                event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")):
            key = (processes[event["pid"]],
                   streams[event["pid"], event["tid"]])
            simulated.setdefault(key, []).append(event)
    for rank in ranks:
        measured = {}
        for activity in rank.activities:
            key = (rank.number, activity.stream)
            measured.setdefault(key, []).append(activity)
        for key, activities in measured.items():
            times = sorted(simulated.get(key, []),
                           key=lambda event: event["ts"])
            activities.sort(key=lambda activity: activity.start)
            if len(times) != len(activities):
                raise ValueError(f"rank {key[0]}, stream {key[1]}: "
                                 f"{len(times)} activities are simulated; "
                                 f"expected {len(activities)}")
            for activity, event in zip(activities, times):
                activity.us = event["dur"] - event["args"].get("wait_us", 0)


@dataclasses.dataclass
class Step:
    """Of the slowest rank, in microseconds."""
    step_us: float
    gpu_active_us: float


def walk_trace(stepcast, traces):
    """{"measured": us, "stepcast": Step, "lin2022": Step, "lin2024": Step}."""
    def run(*words):
        done = subprocess.run([str(word) for word in words], check=False,
                              capture_output=True, text=True)
        if done.returncode not in (0, 1):  # 1: it does not fit in memory.
            raise ValueError(done.stderr.strip())
        return done.stdout
    with tempfile.TemporaryDirectory() as scratch:
        timeline, graph, host = (pathlib.Path(scratch) / name for name in (
            "timeline.json", "step.graph", "host.toml"))
        report = json.loads(run(stepcast, "predict", traces, "--samples", 0,
                                "--json", "--perfetto", timeline))
        run(stepcast, "convert", traces, "-o", graph)
        run(stepcast, "fit", "overheads", "--data", traces, "-o", host)
        ranks = graph_text.parse(graph.read_text(encoding="utf-8"))
        events = json.loads(timeline.read_text(encoding="utf-8"))
        overheads = OverheadTable.load(host)
    set_times(ranks, events["traceEvents"])
    steps = {"measured": max(rank["measured_us"] for rank in report["ranks"]),
             "stepcast": Step(report["step_time_us"],
                              report["gpu_active_us"])}
    for variant in ("lin2022", "lin2024"):
        walkers = walk([list(walk_ops(rank, variant)) for rank in ranks],
                       overheads, variant)
        steps[variant] = Step(max(walker.step for walker in walkers),
                              max(walker.active for walker in walkers))
    return steps


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    steps = walk_trace(*sys.argv[1:])
    measured = steps.pop("measured")
    print(f"measured  {measured / 1e3:10.3f} ms")
    for name, step in steps.items():
        print(f"{name:9} {step.step_us / 1e3:10.3f} ms"
              f" {100 * (step.step_us / measured - 1):+6.1f} %,"
              f" GPU active {step.gpu_active_us / 1e3:.3f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
