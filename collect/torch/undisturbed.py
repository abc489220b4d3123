"""Which steps ran on an undisturbed machine: nothing else slowed it down.

On a shared machine the same step takes half as long again whenever others use
the other hyper-thread of the core. bench.py discards such operators; disturbed
steps are found in the same way, by a reference GEMM that is timed between them.
"""
import json
import pathlib
import time

from stats import ThrottleWatch

NAME = "reference.json"
# Reference times are at least this far apart, so that short steps are not
# measured with the caches that the reference leaves behind.
_EVERY_S = 0.02


def write_reference(out, mark_us):
    """The reference GEMM's time when idle, for later runs on this machine."""
    if mark_us is not None:
        (pathlib.Path(out) / NAME).write_text(
            json.dumps({"reference_us": mark_us}) + "\n")


def read_reference(out):
    """In microseconds, or None where no sweep wrote it."""
    path = pathlib.Path(out) / NAME
    if not path.exists():
        return None
    return json.loads(path.read_text())["reference_us"]


class StepFilter:
    """Sorts times of steps by the reference times before and after them."""

    def __init__(self, reference_us, mark_us=None, clock=time.monotonic):
        self._reference_us = reference_us
        self._watch = ThrottleWatch(mark=mark_us)
        self._clock = clock
        self._waiting = []
        self.good = []
        self.disturbed = 0
        self._good_before = self._look()

    def _look(self):
        good = self._watch.check(self._reference_us())
        self._looked = self._clock()
        return good

    def add(self, step_us):
        """Counts a step; how many of the last ones turned out disturbed."""
        self._waiting.append(step_us)
        if self._clock() - self._looked < _EVERY_S:
            return 0
        return self.close()

    def close(self):
        """Classifies the steps since the last reference time."""
        if not self._waiting:
            return 0
        count = len(self._waiting)
        before, self._good_before = self._good_before, self._look()
        good = before and self._good_before
        if good:
            self.good += self._waiting
        else:
            self.disturbed += count
        self._waiting = []
        return 0 if good else count
