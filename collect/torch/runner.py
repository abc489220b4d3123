"""Runs one point on the device and makes its row."""
import gc

from case import Env
from ops import build, kind_of
from stats import Sampler
from timers import make_timers, measure
from work import work_of

# The reference GEMM that shows whether the machine is as fast as before, and
# the copy and GEMMs that measure its peaks.
_REFERENCE = {"kind": "gemm", "op": "bmm", "batch": 4, "m": 64, "n": 64,
              "k": 64}
_PEAKS = [{"kind": "gemm", "op": op, "batch": 1, "m": size, "n": size,
           "k": size}
          for op in ("linear", "linear_dgrad", "linear_wgrad")
          for size in (32, 64, 128, 256)]
# Libraries for convolutions may be far ahead of those for products.
_PEAKS.append({"kind": "conv2d", "op": "conv_fwd", "batch": 4,
               "in_channels": 64, "in_size": 28, "out_channels": 64,
               "kernel": 3, "stride": 1, "padding": 1})
_PEAK_SECONDS = 0.03
# Rates on a quiet machine against those on one that has just woken up.
_HEADROOM = 1.25
_COPY = {"kind": "memcpy", "op": "dtod", "bytes": 128 << 20}


class Runner:
    """Everything here needs torch; what to run and when does not."""

    def __init__(self, torch, device, gpu, limits, rotation, seconds,
                 clock="wall"):
        self._torch = torch
        self._gpu = gpu
        self._limits = limits
        self._rotation = rotation
        self._seconds = seconds
        self._env = Env(torch, device)
        self._timers = make_timers(torch, device, clock)
        self._reference = None

    def reference_us(self):
        if self._reference is None:
            case = build(self._env, _REFERENCE)
            self._reference = [case.make()]
        # A millisecond or two: it runs after every point.
        return measure(self._timers[-1], self._reference, 0.05,
                       Sampler(fewest=3, most=3))["time_us"]

    def _time(self, case, point, seconds=None):
        calls = [case.make() for _ in range(self._rotation.sets(point))]
        last = None
        for timer in self._timers:
            try:
                return measure(timer, calls, seconds or self._seconds)
            except RuntimeError as error:
                last = error
        raise last

    def run(self, point):
        """(kind, row, None), or (None, None, why it was left out)."""
        why = self._limits.reason_to_skip(point)
        if why:
            return None, None, why
        try:
            with self._torch.no_grad():
                if point["kind"] == "launch":
                    self._torch.set_grad_enabled(True)
                case = build(self._env, point)
                if case is None:
                    return None, None, "no such operator here"
                summary = self._time(case, point)
        except (RuntimeError, NotImplementedError) as error:
            gc.collect()
            return None, None, str(error).split("\n", 1)[0][:200]
        self._limits.learn(point, summary["time_us"])
        row = {"gpu": self._gpu, **case.row, **summary, "source": "bench"}
        row.pop("stable")
        return kind_of(point, case.row), row, None

    def _peak_us(self, point):
        case = build(self._env, point)
        return self._time(case, point, _PEAK_SECONDS)["min_us"]

    def peaks(self):
        """The fastest products and the fastest large copy, with headroom:
        no kernel may be faster."""
        best = 0.0
        with self._torch.no_grad():
            for point in _PEAKS:
                rate = work_of(point)[0] / self._peak_us(point) / 1e3
                best = max(best, rate)
            time = self._peak_us(_COPY)
        return {"gflops": _HEADROOM * best,
                "copy_gbs": _HEADROOM * 2 * _COPY["bytes"] / time / 1e3}
