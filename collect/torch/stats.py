"""When a measured time is good enough, and when the machine is disturbed."""
import bisect
import math

# Tukey's fences: beyond 1.5 interquartile ranges from the quartiles.
_FENCE = 1.5
# The standard error of a median over that of a mean, for normal noise:
# sqrt(pi / 2). One interquartile range is 1.349 standard deviations.
_MEDIAN_ERROR = math.sqrt(math.pi / 2)
_IQR_OVER_SIGMA = 1.349


def quantile(values, share):
    """The quantile of the values at `share`, interpolated."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(math.floor(place))
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values):
    return quantile(values, 0.5)


def split_outliers(values):
    """The values inside Tukey's fences, and how many are above them.

    Interrupts only make things slower, so nothing is taken off below.
    """
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    limit = high + _FENCE * (high - low)
    kept = [value for value in values if value <= limit]
    return kept, len(values) - len(kept)


def median_error(values):
    """The standard error of the median, as a share of it."""
    if len(values) < 2:
        return math.inf
    middle = median(values)
    if middle <= 0:
        return math.inf
    spread = quantile(values, 0.75) - quantile(values, 0.25)
    sigma = spread / _IQR_OVER_SIGMA
    return _MEDIAN_ERROR * sigma / math.sqrt(len(values)) / middle


class Sampler:
    """Takes times until their median is stable.

    Stable means: at least `fewest` samples, and a standard error of the
    median of the kept ones of at most `tolerance`.
    """

    def __init__(self, fewest=5, most=60, tolerance=0.01):
        self.fewest = fewest
        self.most = most
        self.tolerance = tolerance
        self.times = []

    def add(self, time):
        self.times.append(time)

    def kept(self):
        return split_outliers(self.times)[0]

    def is_stable(self):
        return (len(self.times) >= self.fewest
                and median_error(self.kept()) <= self.tolerance)

    def is_done(self):
        return self.is_stable() or len(self.times) >= self.most

    def summary(self):
        """What goes into a row."""
        kept, outliers = split_outliers(self.times)
        return {"time_us": median(kept), "min_us": min(self.times),
                "count": len(kept), "outliers": outliers,
                "stable": self.is_stable()}


class ThrottleWatch:
    """Compares a reference kernel's time with that on the idle machine.

    The mark is a low quantile of all its times: a machine that is hot or busy
    is never too fast, but a single fast time may be an accident. `check` says
    whether a time is within reach of the mark; if not, what was measured
    since the last good one is not to be trusted. A mark that is given stays.
    """

    # A kernel repeats within 3 % on a core of its own, and takes twice as long
    # on one whose other half is busy.
    def __init__(self, tolerance=0.10, settle=3, mark=None):
        self.tolerance = tolerance
        self.settle = settle
        self._given = mark
        self._sorted = []
        self.throttled = 0

    @property
    def mark(self):
        if self._given is not None or not self._sorted:
            return self._given
        return self._sorted[len(self._sorted) // 20]

    def check(self, time):
        bisect.insort(self._sorted, time)
        if self._given is None and len(self._sorted) <= self.settle:
            return True
        good = time <= self.mark * (1 + self.tolerance)
        self.throttled += 0 if good else 1
        return good
