#!/usr/bin/env python3
"""Tests what tools/closed_loop works out itself, without PyTorch."""
import importlib.machinery
import importlib.util
import pathlib
import stat
import sys
import tempfile
import unittest

import collect_path

SCRIPT = collect_path.ROOT / "tools" / "closed_loop"


def load():
    sys.path.insert(0, str(SCRIPT.parent))  # For the modules it imports.
    loader = importlib.machinery.SourceFileLoader("closed_loop", str(SCRIPT))
    spec = importlib.util.spec_from_loader("closed_loop", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


LOOP = load()

# Writes down its arguments, and answers as capture.py or stepcast would.
FAKE = """#!/bin/sh
echo "$@" >> ROOT/calls
case "$*" in
  predict*) echo '{"step_time_us": 120.0}' ;;
  *--steps*)
    while [ "$1" != --out ]; do shift; done
    mkdir -p "$2"
    echo '{"step_us": {"median": 100.0, "undisturbed": 3}}' \
      > "$2/manifest.json" ;;
  *fail*) exit 3 ;;
esac
"""


class ClosedLoopTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.program = self.root / "program"
        self.program.write_text(FAKE.replace("ROOT", str(self.root)))
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.loop = LOOP.Loop(str(self.program), [str(self.program)],
                              self.root / "out", "wall")

    def calls(self):
        return (self.root / "calls").read_text().splitlines()

    def test_there_are_eight_workloads_or_more_with_names_of_their_own(self):
        names = [name for name, _ in LOOP.WORKLOADS]
        self.assertGreaterEqual(len(names), 8)
        self.assertEqual(len(names), len(set(names)))
        kinds = {words[1] for _, words in LOOP.WORKLOADS}
        self.assertLessEqual({"dlrm", "mlp", "cnn"}, kinds)

    def test_model_files_exist(self):
        for _, words in LOOP.WORKLOADS:
            words = LOOP.model_words(words)
            if "--file" in words:
                path = pathlib.Path(words[words.index("--file") + 1])
                self.assertTrue(path.exists(), path)

    def test_a_prediction_times_nothing(self):
        step = self.loop.predict("mlp", ["--model", "mlp", "--batch", "2"])
        self.assertEqual(step, 120.0)
        capture, predict = self.calls()
        self.assertIn("--no-times", capture)
        self.assertTrue(predict.startswith("predict "))
        self.assertIn("--profile", predict)

    def test_a_measurement_is_an_unprofiled_run_on_the_same_machine(self):
        times = self.loop.measure("mlp", ["--model", "mlp"], 0, 30)
        self.assertEqual(times, {"median": 100.0, "undisturbed": 3})
        self.assertIn(f"--like {self.root / 'out' / 'measured'}",
                      self.calls()[0])

    def test_workloads_without_undisturbed_steps_are_run_again(self):
        counts = {}

        def measure(name, words, number, steps):
            del words, steps
            counts[name] = counts.get(name, 0) + 1
            good = {"cnn-16": 0, "resnet-4": number}.get(name, 5)
            return {"undisturbed": good}
        self.loop.measure = measure
        measured = self.loop.measure_all(2, 12)
        # 0 + 1 + 2 + 3 are five undisturbed steps or more.
        self.assertEqual(counts.pop("resnet-4"), 4)
        self.assertEqual(counts.pop("cnn-16"), 2 + LOOP.MOST_EXTRA)
        self.assertEqual(set(counts.values()), {2})
        self.assertEqual(len(measured["cnn-16"]), 5)

    def test_a_command_that_fails_ends_the_loop(self):
        with self.assertRaisesRegex(SystemExit, "ended with status 3"):
            LOOP.run([self.program, "fail"])

    def test_the_table_has_error_and_spread(self):
        def run(time):
            return {"median": time, "median_of_all": 2 * time,
                    "undisturbed": 1, "all": [time, 3 * time]}
        text = LOOP.report({"a": 110.0, "b": 80.0},
                           {"a": [run(99.0), run(100.0), run(104.0)],
                            "b": [run(100.0)] * 3})
        first, second, last, more = text.splitlines()[1:]
        # 110 of 100; 104 over 99; one step of two; the fastest; all.
        self.assertEqual(first.split(), ["a", "110", "100", "+10.0%", "5.1%",
                                         "50%", "99", "200"])
        self.assertIn("-20.0%", second)
        # sqrt(10 * 20) = 14.1; 110 of 99 is 11.1 %, sqrt(11.1 * 20) = 14.9;
        # 110 and 80 of 200 are 45 and 60 % short: 52.0.
        self.assertEqual(last, "geomean of the errors 14.1 %, worst 20.0 %")
        self.assertEqual(more, "... against the fastest steps 14.9 %, worst "
                         "20.0 %; against all steps 52.0 %, worst 60.0 %")

    def test_runs_that_were_disturbed_throughout_do_not_count(self):
        def run(time, undisturbed):
            return {"median": time, "median_of_all": time,
                    "undisturbed": undisturbed, "all": [time] * 4}
        text = LOOP.report({"a": 110.0}, {"a": [run(100.0, 2),
                                                run(300.0, 0)]})
        self.assertIn("+10.0%", text.splitlines()[1])
        # Unless there is nothing else.
        text = LOOP.report({"a": 110.0}, {"a": [run(100.0, 0)]})
        self.assertIn("+10.0%", text.splitlines()[1])


if __name__ == "__main__":
    unittest.main()
