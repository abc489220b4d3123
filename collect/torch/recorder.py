"""Records a training step: unprofiled times, execution trace, profile.

    from recorder import Recorder
    with Recorder("recorded", device="cuda", batch=2048) as recorder:
        for batch in loader:
            train(batch)
            if recorder.step():
                break

The first steps warm up, the next are timed with nothing recorded, one more
makes the execution trace, the last ones the profile. With a filter of
undisturbed.py, timed steps that something else slowed down do not count, and
others take their place.
"""
import json
import pathlib

import machine
from legacy_trace import trace_of
from stats import median, quantile
from timers import CLOCKS


def find_observer(torch):
    """PyTorch's recorder of execution traces, under either of its names."""
    for name in ("ExecutionTraceObserver", "ExecutionGraphObserver"):
        observer = getattr(torch.profiler, name, None)
        if observer is not None:
            return observer()
    return None


def has_kineto(torch):
    probe = getattr(torch.profiler, "kineto_available", None)
    return bool(probe and probe())


def phase_of(step, warmup, timed, profiled):
    """What a step, counted from 0, is for."""
    for phase, length in (("warmup", warmup), ("timed", timed), ("et", 1),
                          ("profiled", profiled)):
        if step < length:
            return phase
        step -= length
    return "done"


class Recorder:
    """Call `step` after each step; true means that all is recorded."""

    # Steps for those that were disturbed, as a share of all.
    _MOST_EXTRA = 2.0

    def __init__(self, out, device="cpu", batch=None, warmup=5, timed=50,
                 profiled=5, model=None, clock="wall", steps_filter=None):
        import torch
        self._torch = torch
        self._out = pathlib.Path(out)
        self._out.mkdir(parents=True, exist_ok=True)
        self._device = device
        self._lengths = (warmup, timed, profiled)
        self._manifest = {"batch": batch, "model": model, "clock": clock}
        self._clock = CLOCKS[clock]
        self._filter = steps_filter
        self._extra = int(self._MOST_EXTRA * timed)
        self._steps = 0
        self._times = []
        self._observer = None
        self._profile = None
        self._kineto = has_kineto(torch)
        self._mark = None
        self._label = None

    def __enter__(self):
        self._enter(self._phase())
        return self

    def __exit__(self, kind, value, trace):
        if kind is None and self._times:
            self._leave(self._phase())
            self._write_manifest()
        return False

    def _phase(self):
        return phase_of(self._steps, *self._lengths)

    def _wait(self):
        module = getattr(self._torch, self._device.split(":")[0], None)
        if self._device != "cpu" and hasattr(module, "synchronize"):
            module.synchronize()

    def _enter(self, phase):
        """Starts what a phase records."""
        torch = self._torch
        if phase == "timed":
            self._wait()
            self._mark = self._clock()
        elif phase == "et":
            self._observer = find_observer(torch)
            if self._observer is not None:
                self._observer.register_callback(
                    str(self._out / "et.json"))
                self._observer.start()
        elif phase == "profiled":
            if self._kineto:
                self._profile = torch.profiler.profile(record_shapes=True)
                self._profile.start()
            else:
                self._profile = torch.autograd.profiler.profile(
                    record_shapes=True, use_kineto=False)
                self._profile.__enter__()
            self._start_label()

    def _leave(self, phase):
        """Ends it."""
        if phase == "et" and self._observer is not None:
            self._observer.stop()
            self._observer.unregister_callback()
            self._observer = None
        elif phase == "profiled" and self._profile is not None:
            self._end_label()
            self._wait()
            path = str(self._out / "trace.json")
            if self._kineto:
                self._profile.stop()
                self._profile.export_chrome_trace(path)
            else:
                self._profile.__exit__(None, None, None)
                first = self._steps - self._lengths[2]
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(trace_of(self._profile.function_events,
                                       max(0, first)), file)
            self._profile = None

    def _start_label(self):
        self._label = self._torch.autograd.profiler.record_function(
            f"ProfilerStep#{self._steps}")
        self._label.__enter__()

    def _end_label(self):
        if self._label is not None:
            self._label.__exit__(None, None, None)
            self._label = None

    def step(self):
        """Called after every step. True: all is recorded."""
        before = self._phase()
        if before == "done":
            return True
        if before == "timed":
            self._wait()
            self._times.append((self._clock() - self._mark) * 1e6)
            self._judge()
            self._mark = self._clock()
        self._steps += 1
        after = self._phase()
        if after != before:
            self._leave(before)
            self._enter(after)
        elif before == "profiled":
            self._end_label()
            self._start_label()
        return after == "done"

    def _judge(self):
        """Makes up for steps that were disturbed, as long as it may."""
        if self._filter is None:
            return
        warmup, timed, profiled = self._lengths
        lost = self._filter.add(self._times[-1])
        if self._steps + 1 >= warmup + timed:
            lost += self._filter.close()
        more = min(lost, self._extra)
        self._extra -= more
        self._lengths = (warmup, timed + more, profiled)

    def _undisturbed(self):
        """How many steps were undisturbed; all without a filter."""
        return len(self._times if self._filter is None else self._filter.good)

    @property
    def times_us(self):
        """Of undisturbed steps, if there are any and there is a filter."""
        if self._filter is not None and self._filter.good:
            return list(self._filter.good)
        return list(self._times)

    def _write_manifest(self):
        times = self.times_us
        manifest = {
            **self._manifest,
            "machine": machine.describe(self._torch, self._device),
            "profiler": "kineto" if self._kineto else "legacy",
            "step_us": {"median": median(times),
                        "p10": quantile(times, 0.1),
                        "p90": quantile(times, 0.9),
                        "undisturbed": self._undisturbed(),
                        "median_of_all": median(self._times),
                        "all": [round(t, 2) for t in self._times]}}
        (self._out / "manifest.json").write_text(
            json.dumps(manifest, indent=1) + "\n")
