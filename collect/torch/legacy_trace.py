"""The profile of a PyTorch without Kineto, in the form that Kineto writes.

Debian builds PyTorch without Kineto. The old profiler's own export has no
shapes and no kinds of events, so the trace is made from its events.
"""


def _args(event, number):
    args = {"Ev Idx": number, "External id": number}
    shapes = getattr(event, "input_shapes", None)
    if shapes:
        args["Input Dims"] = shapes
    sequence = getattr(event, "sequence_nr", -1)
    if sequence is not None and sequence >= 0:
        args["Sequence number"] = sequence
    return args


def _is_annotation(name):
    return name.startswith(("ProfilerStep", "## "))


def trace_of(events, first_step=0):
    """A dict to be written as JSON. Events need `id` (in the order of their
    starts), `name`, `thread` and `time_range` with `start` and `end` in
    microseconds. Steps are numbered from `first_step`: the old profiler
    forgets their numbers."""
    rows = []
    step = first_step
    for number, event in enumerate(sorted(events, key=lambda e: e.id)):
        name = event.name
        if name.startswith("ProfilerStep"):
            name = f"ProfilerStep#{step}"
            step += 1
        rows.append({
            "ph": "X",
            "cat": "user_annotation" if _is_annotation(name) else "cpu_op",
            "name": name, "pid": 1, "tid": event.thread,
            "ts": event.time_range.start,
            "dur": event.time_range.end - event.time_range.start,
            "args": _args(event, number)})
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": rows}
