#!/usr/bin/env python3
"""Tests what capture knows without PyTorch: models, phases, traces."""
import contextlib
import io
import types
import unittest

import collect_path
import capture
import legacy_trace
import machine
import malloc_option
import models
import recorder


class ModelTest(unittest.TestCase):

    def test_the_built_in_dlrm_has_the_papers_widths(self):
        try:
            path = collect_path.ROOT / "data/workloads/dlrm_default.toml"
            model = models.read_model_file(path)
        except RuntimeError as error:
            self.skipTest(str(error))
        tables = models.tables_of(model)
        self.assertEqual(len(tables), 8)
        self.assertEqual(tables[0], (1000000, 64, 100))
        bottom, top = models.dlrm_widths(model, tables)
        self.assertEqual(bottom, [512, 512, 64])
        # 64 numbers and the 36 pairs of 9 vectors.
        self.assertEqual(top, [100, 1024, 1024, 1024, 1])

    def test_tables_of_a_list_may_be_capped(self):
        model = {"tables": [{"rows": [10, 500], "dim": 4,
                             "pooling": [1, 2.6]}]}
        self.assertEqual(models.tables_of(model, 100),
                         [(10, 4, 1), (100, 4, 3)])

    def test_a_concatenation_is_as_wide_as_all_vectors(self):
        model = {"interaction": "cat", "dense_features": 3,
                 "bottom_mlp": [8], "top_mlp": [1]}
        tables = [(10, 4, 1), (10, 6, 1)]
        self.assertEqual(models.dlrm_widths(model, tables),
                         ([3, 8], [18, 1]))


class MallocTest(unittest.TestCase):

    def test_memory_is_kept_where_malloc_has_options(self):
        options = {}

        def mallopt(number, value):
            options[number] = value
            return 1
        self.assertTrue(malloc_option.keep_memory(
            types.SimpleNamespace(mallopt=mallopt)))
        # M_MMAP_MAX and M_TRIM_THRESHOLD.
        self.assertEqual(options, {-4: 0, -1: 2 ** 31 - 1})

    def test_other_allocators_are_left_alone(self):
        self.assertFalse(malloc_option.keep_memory(types.SimpleNamespace()))
        self.assertFalse(malloc_option.keep_memory(
            types.SimpleNamespace(mallopt=lambda number, value: 0)))


class RecorderTest(unittest.TestCase):

    def test_steps_warm_up_then_are_timed_then_recorded(self):
        phases = [recorder.phase_of(i, 2, 3, 2) for i in range(9)]
        self.assertEqual(phases, ["warmup"] * 2 + ["timed"] * 3 + ["et"]
                         + ["profiled"] * 2 + ["done"])

    def test_the_old_profilers_events_become_kinetos(self):
        def event(number, name, start, end, **more):
            return types.SimpleNamespace(
                id=number, name=name, thread=1,
                time_range=types.SimpleNamespace(start=start, end=end),
                **more)
        trace = legacy_trace.trace_of([
            event(2, "aten::mm", 1, 5, input_shapes=[[2, 3], [3, 4]],
                  sequence_nr=7),
            event(1, "ProfilerStep*", 1, 9, input_shapes=[],
                  sequence_nr=-1)], first_step=3)
        step, op = trace["traceEvents"]
        self.assertEqual((step["name"], step["cat"]),
                         ("ProfilerStep#3", "user_annotation"))
        self.assertEqual((op["cat"], op["ts"], op["dur"]), ("cpu_op", 1, 4))
        self.assertEqual(op["args"]["Input Dims"], [[2, 3], [3, 4]])
        self.assertEqual(op["args"]["Sequence number"], 7)


class CommandTest(unittest.TestCase):

    def test_a_dlrm_needs_its_file(self):
        with self.assertRaises(SystemExit) as raised, \
                contextlib.redirect_stderr(io.StringIO()):
            capture.parse_arguments(["--model", "dlrm", "--batch", "2",
                                     "--out", "x"])
        self.assertEqual(raised.exception.code, 2)


class MachineTest(unittest.TestCase):

    def test_sizes_and_names_are_read(self):
        self.assertEqual(machine.parse_size("2048K"), 2 << 20)
        self.assertEqual(machine.parse_size("what"), 0)
        self.assertEqual(machine.slug("Intel(R) Xeon(R) Gold 6230 CPU @ 2GHz"),
                         "intel-xeon-gold-6230")
        text = "model name\t: A CPU\ncpu MHz\t\t: 2300.5\n"
        self.assertEqual(machine.cpu_title(text), "A CPU")
        self.assertEqual(machine.cpu_clock_mhz(text), 2300.5)

    def test_a_device_file_has_what_was_measured(self):
        text = machine.device_toml(
            "cpu-a-2t", {"cpu": "A CPU", "threads": 2, "clock_mhz": 2000.0,
                         "memory_bytes": 8e9, "cache_bytes": {"3": 4e6}},
            {"gflops": 50.0, "copy_gbs": 12.5})
        self.assertIn('generation = "cpu"', text)
        self.assertIn('fp32_tflops = { value = 0.05, source = "measured" }',
                      text)
        self.assertIn("l2_mb = { value = 4,", text)


if __name__ == "__main__":
    unittest.main()
