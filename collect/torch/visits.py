"""Which point a sweep measures next.

On a shared machine a point may be measured while others slow it down. It then
gets further visits, later, for such times pass in seconds or in minutes; what
counts is the visit that nothing disturbed, or the fastest if there is none.
"""
import collections
import time

from journal import MOST_VISITS

# How long a point rests before its second visit, and before its third.
_REST_SECONDS = (20.0, 120.0)
# The last share of the budget is for points that were disturbed so far.
_LAST_SHARE = 0.2


class Visits:
    """New points in the order of the sweep, and disturbed ones in between."""

    def __init__(self, new, disturbed, clock=time.monotonic):
        """`disturbed` are points of earlier runs with their visits so far."""
        self._clock = clock
        self._new = collections.deque(new)
        # A queue for each number of visits: all of a queue rest equally long.
        self._queues = [collections.deque() for _ in _REST_SECONDS]
        for point, count in disturbed:
            self._queues[count - 1].append((0.0, point, count))

    def next(self, budget):
        """The point and how many visits it had, or None: all are done."""
        is_late = budget.left() < _LAST_SHARE * budget.seconds
        for queue in reversed(self._queues):
            if queue and (is_late or self._clock() >= queue[0][0]):
                return queue.popleft()[1:]
        if self._new:
            return self._new.popleft(), 0
        for queue in self._queues:
            if queue:
                return queue.popleft()[1:]
        return None

    def again(self, point, visits):
        """Asks for a further visit of a point that had so many. False: it had
        the last."""
        if visits >= MOST_VISITS:
            return False
        rest = self._clock() + _REST_SECONDS[visits - 1]
        self._queues[visits - 1].append((rest, point, visits))
        return True
