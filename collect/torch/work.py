"""FLOP and bytes of a point, before it is run: to leave out what is too large.

Counts are of fp32 and generous by design: a point that is skipped is lost,
one that takes a little longer is not.
"""
import dataclasses
import math

_BYTES = 4


def _gemm(p):
    m, n, k, batch = p["m"], p["n"], p["k"], p["batch"]
    return (2 * batch * m * n * k, _BYTES * batch * (m * k + n * k + m * n))


def _bag(p):
    lookups = p["batch"] * p["lookups"]
    moved = _BYTES * p["dim"] * (2 * lookups + p["batch"])
    return lookups * p["dim"], moved + 8 * lookups


def _lookup(p):
    table = _BYTES * p["rows"] * p["dim"] if p["op"] == "lookup_bwd" else 0
    return (p["lookups"] * p["dim"],
            table + 2 * _BYTES * p["lookups"] * p["dim"])


def _conv(p):
    out = (p["in_size"] + 2 * p["padding"] - p["kernel"]) // p["stride"] + 1
    flops = (2 * p["batch"] * p["out_channels"] * out * out
             * p["in_channels"] * p["kernel"] ** 2)
    moved = _BYTES * p["batch"] * (p["in_channels"] * p["in_size"] ** 2
                                   + p["out_channels"] * out ** 2)
    return flops, moved


def _product(values):
    total = 1
    for value in values:
        total *= value
    return total


def _plane(p):
    elements = p["rows"] * p["cols"] * p.get("tensors", 1)
    return elements, 4 * _BYTES * elements


def _other(p):
    if p["op"] == "transpose":
        elements = _product(p["dims"])
    elif p["op"] == "cat":
        elements = sum(_product(dims) for dims in p["dims"])
    elif "size" in p and "channels" in p:
        elements = p["batch"] * p["channels"] * p["size"] ** 2
    elif "size" in p:
        elements = p["batch"] * p["size"] ** 2
    elif "bytes" in p:
        elements = p["bytes"] // _BYTES
    elif "rows" in p:
        return _plane(p)
    else:
        elements = 1
    return elements, 4 * _BYTES * elements


_BY_KIND = {"gemm": _gemm, "embedding_bag": _bag, "embedding_lookup": _lookup,
            "conv2d": _conv, "elementwise": _plane, "layernorm": _plane,
            "softmax": _plane}


def work_of(point):
    """(FLOP, bytes moved) of one call."""
    return _BY_KIND.get(point["kind"], _other)(point)


def held_bytes(point):
    """Bytes that must be there at once: what is moved, and whole tables."""
    table = _BYTES * point.get("rows", 0) * point.get("dim", 0)
    return work_of(point)[1] + table


class Limits:
    """Leaves out points that would take too long or not fit.

    Speeds are learned as points finish: the slowest seen for products and
    for streams of some size. Before anything is seen, all is tried but the
    very large.
    """

    # A processor without a vector library gets through this much: 1 GFLOP/s
    # and 1 GB/s, in units per microsecond.
    _SLOW_FLOPS_US = 1e3
    _SLOW_BYTES_US = 1e3

    def __init__(self, longest_us, most_bytes):
        self.longest_us = longest_us
        self.most_bytes = most_bytes
        self._rates = {}

    def learn(self, point, time_us):
        flops, moved = work_of(point)
        # Short ones are all overhead and say nothing about speed.
        if time_us > 0.02 * self.longest_us:
            rate = max(flops, moved) / time_us
            key = point["op"]
            self._rates[key] = min(rate, self._rates.get(key, rate))

    def expected_us(self, point):
        flops, moved = work_of(point)
        rate = self._rates.get(point["op"])
        if rate:
            return max(flops, moved) / rate
        return max(flops / self._SLOW_FLOPS_US, moved / self._SLOW_BYTES_US)

    def reason_to_skip(self, point):
        """Why a point is left out, or None."""
        if held_bytes(point) > self.most_bytes:
            return "does not fit"
        if self.expected_us(point) > self.longest_us:
            return "takes too long"
        return None


# What reads or changes a few rows of a table that was out of the caches for a
# whole step, and the most sets of ids: to make them takes time, too.
_COLD_OPS = {"bag_fwd", "bag_sgd", "lookup_fwd"}
_MOST_SETS = 8
_MOST_COLD_SETS = 256


@dataclasses.dataclass
class Rotation:
    """Bytes that the calls of a point cycle through, so that none finds
    what the last one left in the caches: `near`, what is just made or about
    to be used in a step, and `far`, the rows of tables."""
    near: int
    far: int

    def sets(self, point):
        """How many sets of tensors are needed for a point. Tables do not count:
        the sets share one, and a call touches a few rows of it."""
        each = max(1, work_of(point)[1])
        if point["op"] in _COLD_OPS:
            return max(1, min(_MOST_COLD_SETS, math.ceil(self.far / each)))
        return max(1, min(_MOST_SETS, math.ceil(self.near / each)))
