"""Reads the graph text that `stepcast convert` writes (docs/formats/
graph_text.md), as far as a walk over ops needs it."""
import dataclasses
import json
import re

NAME = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclasses.dataclass
class Activity:
    name: str
    stream: str
    start: float
    duration: float
    collective: bool
    us: float = 0  # What it is predicted to take.
    waits_for_collective: bool = False


@dataclasses.dataclass
class Call:
    kind: str
    name: str
    activities: list = dataclasses.field(default_factory=list)

    @property
    def launches(self):
        return self.kind in ("launch", "graph_launch")


@dataclasses.dataclass
class Op:
    name: str
    start: float
    is_op: bool  # Else an annotation.
    parent: "Op" = None
    first_below: "Op" = None  # The op that follows, if it is inside.
    names: list = dataclasses.field(default_factory=list)  # Inside, with own.
    calls: list = dataclasses.field(default_factory=list)  # Inside.

    @property
    def top(self):
        """The outermost op around it that is not an annotation, or None."""
        above = self.parent.top if self.parent else None
        return above or (self if self.is_op else None)


@dataclasses.dataclass
class Rank:
    number: int
    ops: list = dataclasses.field(default_factory=list)
    activities: list = dataclasses.field(default_factory=list)

    def top_level_ops(self):
        """All threads in one line, by start."""
        return sorted((op for op in self.ops if op.top is op),
                      key=lambda op: op.start)


def _name(text):
    return json.loads(re.sub(r"\\x(..)", r"\\u00\1", text))


class _Reader:

    def __init__(self):
        self.ranks = []
        self.open = []     # Ops around the line, with their indentation.
        self.call = None
        self.labels = {}   # Ops, calls and activities.
        self.owners = []   # Calls whose op is given by its label.
        self.waits = []

    def read(self, line):
        indent = len(line) - len(line.lstrip(" "))
        found = NAME.search(line)
        name = _name(found.group()) if found else ""
        words = (NAME.sub(" ", line, count=1) if found else line).split()
        if not words or words[0].startswith("#"):
            return
        time = next((word for word in words if word.startswith("@")), "@0+0")
        start, _, duration = time[1:].rpartition("+")
        thing = self._thing(words, indent, name, float(start or 0),
                            float(duration))
        if thing is not None and words[-1].startswith("#"):
            self.labels[words[-1]] = thing

    def _thing(self, words, indent, name, start, duration):
        if words[0] == "rank":
            self.ranks.append(Rank(int(words[1])))
        elif words[0] == "thread":
            self.open = []
        elif words[0] in ("op", "annotation"):
            return self._op(words, indent, name, start)
        elif words[0] == "call":
            return self._call(words, indent, name)
        elif words[0] == "wait":
            self.waits.append((words[1], words[3]))
        elif words[0].startswith("s") and words[0].endswith(":"):
            return self._activity(words, indent, name, start, duration)
        return None

    def _close(self, indent):
        while self.open and self.open[-1][0] >= indent:
            self.open.pop()

    def _op(self, words, indent, name, start):
        self._close(indent)
        parent = self.open[-1][1] if self.open else None
        op = Op(name, start, words[0] == "op", parent)
        ops = self.ranks[-1].ops
        if parent is not None and ops[-1] is parent:
            parent.first_below = op
        if op.top is not None:
            op.top.names.append(name)
        ops.append(op)
        self.open.append((indent, op))
        return op

    def _call(self, words, indent, name):
        self._close(indent)
        self.call = Call(words[1], name)
        owner = next((word for word in words if word.startswith("op=")), None)
        if owner:
            self.owners.append((self.call, owner.removeprefix("op=")))
        elif self.open and self.open[-1][1].top:
            self.open[-1][1].top.calls.append(self.call)
        return self.call

    def _activity(self, words, indent, name, start, duration):
        stream = words[0][1:-1].partition("[")[0]
        activity = Activity(name, stream, start, duration,
                            collective=words[1] == "collective")
        self.ranks[-1].activities.append(activity)
        if indent > 2:  # Directly below a rank is what no call launched.
            self.call.activities.append(activity)
        return activity

    def finish(self):
        for call, label in self.owners:
            if label in self.labels and self.labels[label].top:
                self.labels[label].top.calls.append(call)
        for before, after in self.waits:
            first, then = self.labels[before], self.labels[after]
            if isinstance(then, Activity) and first.collective:
                then.waits_for_collective = True
        return self.ranks


def parse(text):
    """The ranks of a graph."""
    reader = _Reader()
    for line in text.splitlines():
        reader.read(line)
    return reader.finish()
