"""How long one call takes: on a processor by its clock, on CUDA by replays of
a captured graph, elsewhere by calls back to back."""
import time

from stats import Sampler

# A sample lasts this long at the least, so that the clock's own cost (some
# 50 ns per reading) stays far below a percent.
_SAMPLE_US = 300.0
# The most calls in a sample.
_MOST_CALLS = 2000


class LoopTimer:
    """Calls back to back, on a device that is waited for around each sample."""

    timing = "loop"

    def __init__(self, torch, device, clock=time.perf_counter):
        self._wait = _synchronizer(torch, device)
        self._clock = clock

    def prepare(self, calls):
        """Something that runs all calls once, and how many they are."""
        def run():
            for call in calls:
                call()
        return run, len(calls)

    def time_us(self, run, rounds):
        self._wait()
        start = self._clock()
        for _ in range(rounds):
            run()
        self._wait()
        return (self._clock() - start) * 1e6


class GraphTimer(LoopTimer):
    """Replays of a captured CUDA graph: no launch cost in it."""

    timing = "graph"

    def __init__(self, torch, device):
        super().__init__(torch, device)
        self._torch = torch

    def prepare(self, calls):
        torch = self._torch
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for call in calls:
                call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        return graph.replay, len(calls)


def _synchronizer(torch, device):
    """Waits for the device; nothing where calls are synchronous."""
    kind = device.split(":")[0]
    module = getattr(torch, kind, None)
    if kind != "cpu" and hasattr(module, "synchronize"):
        return module.synchronize
    return lambda: None


# The clocks: wall time, or the CPU time of the process, which does not advance
# while others have the core. The second is for one thread of a
# CPU on a busy machine.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def make_timers(torch, device, clock="wall"):
    """The best way first; the next where it does not work for an operator."""
    timers = [LoopTimer(torch, device, CLOCKS[clock])]
    if device.startswith("cuda") and hasattr(torch.cuda, "CUDAGraph"):
        timers.insert(0, GraphTimer(torch, device))
    return timers


def measure(timer, calls, seconds, sampler=None):
    """Warms up, then samples until the median is stable or `seconds` are
    over. A summary with times of one call."""
    run, count = timer.prepare(calls)
    # Twice: the first call may choose an algorithm or touch new memory.
    timer.time_us(run, 1)
    once = timer.time_us(run, 1)
    rounds = int(min(_MOST_CALLS / count,
                     max(1.0, _SAMPLE_US / max(once, 0.1))))
    rounds = max(1, rounds)
    timer.time_us(run, rounds)
    sampler = sampler or Sampler()
    until = time.monotonic() + seconds
    while not sampler.is_done():
        sampler.add(timer.time_us(run, rounds) / rounds / count)
        if len(sampler.times) >= 3 and time.monotonic() > until:
            break
    return {**sampler.summary(), "timing": timer.timing}
