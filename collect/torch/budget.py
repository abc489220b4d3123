"""How much time is left, and the progress line."""
import sys
import time


class Budget:
    """A time budget that earlier, killed runs have partly spent."""

    def __init__(self, seconds, spent=0.0, clock=time.monotonic):
        self._clock = clock
        self._start = clock()
        self._spent_before = spent
        self.seconds = seconds

    def spent(self):
        return self._spent_before + self._clock() - self._start

    def left(self):
        return max(0.0, self.seconds - self.spent())

    def is_over(self):
        return self.spent() >= self.seconds


def eta_seconds(done, total, spent, left):
    """When the run ends: all points, or the budget, whichever is first."""
    if done <= 0:
        return left
    return min(left, spent / done * max(0, total - done))


def clock_text(seconds):
    """65.2 -> "1:05"."""
    whole = int(round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


class Progress:
    """One line on stderr: rewritten on a terminal, repeated in a file."""

    def __init__(self, total, stream=sys.stderr, clock=time.monotonic):
        self._total = total
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._every = 0.5 if self._is_terminal else 15.0
        self._last = None

    def show(self, done, budget, note, force=False):
        now = self._clock()
        if (not force and self._last is not None
                and now - self._last < self._every):
            return
        self._last = now
        eta = eta_seconds(done, self._total, budget.spent(), budget.left())
        text = (f"bench: {done} of {self._total} points, "
                f"{clock_text(budget.spent())} spent, "
                f"{clock_text(eta)} to go, {note}")
        if self._is_terminal:
            self._stream.write("\r\x1b[K" + text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def end(self):
        if self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()
