"""A set of host overheads, as `stepcast fit overheads` writes it, and the rule
by which stepcast finds a row for every name."""
import dataclasses
import re
import tomllib

ENGINE = "autograd::engine::evaluate_function: "
POOLED = "*"

# Words that, as a part of a plain name, put an op into a family; the first that
# fits.
FAMILY_WORDS = [
    ("optimizer", ["Optimizer.", "optim"]),
    ("collective", ["record_param_comms", "nccl", "allreduce", "all_reduce",
                    "alltoall", "All2All", "allgather", "broadcast",
                    "reduce_scatter"]),
    ("lookup", ["lookup_", "LookupFunction", "embedding", "EmbeddingBag"]),
    ("backward", ["Backward", "backward"]),
]
COPIES = {"to", "_to_copy", "copy", "contiguous", "clone", "pin_memory"}
VIEWS = {"view", "reshape", "t", "transpose", "permute", "slice", "select",
         "expand", "unsqueeze", "squeeze", "detach", "as_strided", "narrow",
         "alias", "flatten", "view_as", "expand_as", "split", "unbind",
         "_reshape_alias"}


def plain_name(op):
    """"add" of "aten::add_", "AddmmBackward" of
    "autograd::engine::evaluate_function: AddmmBackward0"."""
    op = op.removeprefix(ENGINE)
    head = re.split(r"[<( ]", op, maxsplit=1)[0]
    space = head.rfind("::")
    if space >= 0 and space + 2 < len(op):
        op = op[space + 2:]
    op = op[0] + op[1:].rstrip("0123456789")
    return op[:-1] if len(op) > 1 and op.endswith("_") else op


def family(op):
    """A word for ops that do alike on the host, or ""."""
    plain = plain_name(op)
    for name, parts in FAMILY_WORDS:
        if any(part in plain for part in parts):
            return name
    return "copy" if plain in COPIES else "view" if plain in VIEWS else ""


def _call_without_vendor(key):
    """"LaunchKernel" of "launch cudaLaunchKernel"."""
    return re.sub("^(cuda|hip|cu)", "", key.split(" ", 1)[-1])


@dataclasses.dataclass
class Overhead:
    count: int
    mean_us: float
    events: float = 0  # Of the trace in each, on average.


def _pool(rows):
    total = sum(row.count for row in rows)
    if total == 0:
        return Overhead(0, 0)
    return Overhead(total,
                    sum(row.count * row.mean_us for row in rows) / total,
                    sum(row.count * row.events for row in rows) / total)


class Part:
    """The rows of one kind of overhead: by name, by similar names, by family,
    and all together."""

    def __init__(self, rows, by_call):
        self.similar_to = _call_without_vendor if by_call else plain_name
        self.family_of = ((lambda key: key.split(" ", 1)[0]) if by_call
                          else family)
        self.named = {name: row for name, row in rows.items()
                      if name != POOLED}
        self.similar = self._pooled_by(self.similar_to)
        self.families = self._pooled_by(self.family_of)
        self.all = rows.get(POOLED) or _pool(list(self.named.values()))

    def _pooled_by(self, key):
        groups = {}
        for name, row in self.named.items():
            if key(name):
                groups.setdefault(key(name), []).append(row)
        return {group: rows[0] if len(rows) == 1 else _pool(rows)
                for group, rows in groups.items()}

    def find(self, name):
        if name == POOLED:
            return self.all
        return (self.named.get(name) or self.similar.get(self.similar_to(name))
                or self.families.get(self.family_of(name)) or self.all)


class OverheadTable:
    """Mean times of a set, T1 one for all ops as the papers have it."""

    def __init__(self, parts, profiler_us_per_event=0, profiled=True):
        """`parts` is {"t1": {name: Overhead}, ...}; `profiled`: with what the
        recorder adds to each event."""
        self.parts = {name: Part(rows, name == "t4")
                      for name, rows in parts.items()}
        self.event_us = 0 if profiled else profiler_us_per_event

    @classmethod
    def load(cls, path, profiled=True):
        """A file of `stepcast fit overheads`."""
        with open(path, "rb") as file:
            data = tomllib.load(file)
        parts = {part: {name: Overhead(row[0], row[1], row[6])
                        for name, row in rows.items()}
                 for part, rows in data.items() if isinstance(rows, dict)}
        return cls(parts, data["profiler_us_per_event"], profiled)

    def mean(self, part, name):
        if part not in self.parts:
            return 0
        row = self.parts[part].find(name)
        return max(0.0, row.mean_us - row.events * self.event_us)

    def t1(self):
        return self.mean("t1", POOLED)

    def t2(self, op):
        return self.mean("t2", op)

    def t3(self, op):
        return self.mean("t3", op)

    def t4(self, call):
        return self.mean("t4", f"launch {call}")

    def t5(self, op):
        return self.mean("t5", op)

    def whole_op(self, op):
        """Of one that launches nothing."""
        return self.mean("no_launch", op)
