#!/usr/bin/env python3
"""Runs the benchmarks of a release build and writes docs/performance.md.

usage: bench_report.py BUILD_DIR

Speeds are per second of processor time, so that a busy machine shows less; what
counts are the ratios within the run.
"""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPETITIONS = 7
MEMORY_SIZES_MB = (100, 1000)
OURS = "ReadAndLink"
TITLES = {
    OURS: "stepcast: read and link",
    "SimdjsonReadsTheSameFields": "simdjson on demand, reading the same fields",
    "SimdjsonVisitsMembers": "simdjson on demand, visiting members only",
}
HEADER = """# Performance

Written by `tools/bench_report.py BUILD_DIR`; do not edit. One thread, per second
of processor time. Traces are Kineto traces from our own generator
(`tests/testing/kineto_generator.h`).

Machine: {cpu}, {compiler}.

## Reading and linking a trace of {size:.0f} MB

| what | MB/s | least and most of {repetitions} | ours against it |
| --- | --- | --- | --- |
"""
MEMORY = """
Ratios above 1 mean that stepcast is faster. Targets: 300 MB/s, and a ratio of 0.5
to simdjson's own pass.

## Peak memory of reading and linking

| text MB | peak MB | ratio |
| --- | --- | --- |
"""
PRICES = """
Target: a ratio of at most 1.5. The reader holds a window of the text; only the
events grow with the trace.

## Pricing GEMMs

20,000 distinct shapes with log-uniform sizes, with p10 and p90
(`tests/bench/price_kernels_bench.cc`).

| what | shapes/s | least and most of {repetitions} |
| --- | --- | --- |
"""
PRICE_TITLES = {
    "Price/V100Fp32": "V100 FP32, in a batch",
    "Price/V100Fp32Batched": "V100 FP32 batched, in a batch",
    "Price/H100Bf16": "H100 BF16, in a batch",
    "Price/TitanXpFp32": "TITAN Xp FP32, in a batch: a formula without trees",
    "PriceOneByOne": "V100 FP32, one call per shape",
}
TIMED = """
Target: 300,000 per second where shapes are priced in a batch.

## Simulating

Synthetic tasks on lanes, like training steps of 8 ranks, or random
(`tests/bench/simulate_bench.cc`).

| what | {unit} | least and most of {repetitions} | target |
| --- | --- | --- | --- |
"""
REPLAYS = """
## Replaying

Traces from our own generator, steps of about 1,450 events
(`tests/bench/replay_bench.cc`).

| what | {unit} | least and most of {repetitions} | target |
| --- | --- | --- | --- |
"""
PREDICTIONS = """
## Predicting, in one process

From a model that is read already (`tests/bench/predict_bench.cc`).

| what | predictions/s | least and most of {repetitions} | target |
| --- | --- | --- | --- |
"""
COMMANDS = """
## Predicting, one command

`stepcast predict MODEL --gpu GPU --batch 2048`: processor time of the process, user
and system, from its start to its end, with an interval of 100 Monte Carlo samples.

| model | GPU | ms | least and most of {runs} | target |
| --- | --- | --- | --- | --- |
"""
STUDIES = """
## Exploring

A study of 10,000 scenarios of one GPU (`tests/bench/explore_bench.cc`), on two
threads: wall-clock seconds and CPU seconds. On a busy machine the first is longer;
with two idle cores it is half the second.

| what | s | processor s | target |
| --- | --- | --- | --- |
"""
STUDY_TITLES = {
    "OneGpu": ("10,000 scenarios", "10 s"),
    "OneGpuWithInterval": ("the same with intervals of 20 Monte Carlo samples", ""),
}
# By benchmark: the title, and what is wanted.
SIMULATIONS = {
    "BuildOnly/Training/1000000": ("training: a million tasks linked", ""),
    "SimulateWithPath/Training/1000000":
        ("training: a million simulated, with the critical path", "250"),
    "BuildAndSimulateWithPath/Training/1000000": ("training: both", ""),
    "SimulateWithPath/Any/1000000":
        ("at random: a million simulated, with the critical path", "250"),
    "SimulateAgain/Training/5000":
        ("training: a step of 5,000 simulated again", "1"),
}
REPLAY_TITLES = {
    "LoadAndReplay/70":
        ("a trace of 100,000 events read, all 70 steps replayed", "300"),
    "LoadAndReplayOne/70": ("the same, one step replayed", ""),
    "SimulateStepAgain/150": ("a replayed step of 5,000 nodes again", "1"),
}
PREDICTION_TITLES = {
    "Point": ("DLRM_MLPerf on A100", "500"),
    "WithInterval": ("the same with an interval of 100 Monte Carlo samples", ""),
    "EightGpus": ("DLRM-DCNv2 on 8 H100, TorchRec", ""),
}
COMMAND_RUNS = 20
COMMAND_MODELS = ("dlrm_mlperf", "dlrm_default")
COMMAND_GPUS = ("a100-sxm-80gb", "v100-sxm-32gb", "h100-sxm-80gb",
                "b200-sxm-180gb")
COMMAND_LIMIT_MS = 20


def run(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          capture_output=True, text=True).stdout


def speeds(build):
    """Returns {benchmark: [MB/s of each repetition]} and the bytes read."""
    report = json.loads(run(
        build / "tests/bench/read_trace_bench", "--benchmark_format=json",
        f"--benchmark_repetitions={REPETITIONS}",
        "--benchmark_enable_random_interleaving=true"))
    rates, size = {}, 0
    for row in report["benchmarks"]:
        if row["run_type"] == "iteration":
            rate = row["bytes_per_second"] / 1e6
            rates.setdefault(row["name"].split("/")[0], []).append(rate)
            size = rate * row["cpu_time"] / 1e3
    return rates, size


def prices(build):
    """Returns {benchmark: [shapes a second of each repetition]}."""
    report = json.loads(run(
        build / "tests/bench/price_kernels_bench", "--benchmark_format=json",
        f"--benchmark_repetitions={REPETITIONS}",
        "--benchmark_enable_random_interleaving=true"))
    rates = {}
    for row in report["benchmarks"]:
        if row["run_type"] == "iteration":
            rates.setdefault(row["run_name"], []).append(
                row["items_per_second"])
    return rates


def times(build, bench):
    """Returns {benchmark: [milliseconds of each repetition]}."""
    report = json.loads(run(
        build / "tests/bench" / bench, "--benchmark_format=json",
        f"--benchmark_repetitions={REPETITIONS}",
        "--benchmark_enable_random_interleaving=true"))
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1}
    found = {}
    for row in report["benchmarks"]:
        if row["run_type"] == "iteration":
            found.setdefault(row["run_name"], []).append(
                row["cpu_time"] * scale[row["time_unit"]])
    return found


def timed_rows(found, titles):
    text = ""
    for name, (title, wanted) in titles.items():
        values = found[name]
        text += (f"| {title} | {median(values):.3g} | {min(values):.3g} to "
                 f"{max(values):.3g} | {wanted or '–'} |\n")
    return text


def process_ms(command):
    """Processor time of one run, user and system."""
    with subprocess.Popen([str(word) for word in command],
                          stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return 1e3 * (usage.ru_utime + usage.ru_stime)


def commands(build):
    text = COMMANDS.format(runs=COMMAND_RUNS)
    for model in COMMAND_MODELS:
        for gpu in COMMAND_GPUS:
            values = [process_ms([build / "src/cli/stepcast", "predict", model,
                                  "--gpu", gpu, "--batch", 2048])
                      for _ in range(COMMAND_RUNS)]
            text += (f"| {model} | {gpu} | {median(values):.1f} |"
                     f" {min(values):.1f} to {max(values):.1f} |"
                     f" {COMMAND_LIMIT_MS} |\n")
    return text


def predictions(build):
    text = PREDICTIONS.format(repetitions=REPETITIONS)
    found = times(build, "predict_bench")
    for name, (title, wanted) in PREDICTION_TITLES.items():
        rates = [1e3 / value for value in found[name]]
        text += (f"| {title} | {median(rates):.0f} | {min(rates):.0f} to "
                 f"{max(rates):.0f} | {wanted or '–'} |\n")
    return text


def studies(build):
    report = json.loads(run(build / "tests/bench/explore_bench",
                            "--benchmark_format=json"))
    text = STUDIES
    for row in report["benchmarks"]:
        title, wanted = STUDY_TITLES[row["name"].split("/")[0]]
        text += (f"| {title} | {row['real_time']:.1f} | {row['cpu_time']:.1f}"
                 f" | {wanted or '–'} |\n")
    return text


def memory(build, megabytes):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        run(build / "tests/testing/make_trace", trace, f"mb={megabytes}")
        line = run(build / "tests/bench/read_trace_memory", trace)
    return re.match(r"text (\d+) MB, peak (\d+) MB, ratio ([\d.]+)",
                    line).groups()


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1]).resolve()
    rates, size = speeds(build)
    text = HEADER.format(cpu=cpu_name(), size=size, repetitions=REPETITIONS,
                         compiler=run("g++", "--version").splitlines()[0])
    ours = median(rates[OURS])
    for name, title in TITLES.items():
        values = rates[name]
        ratio = ours / median(values)
        text += (f"| {title} | {median(values):.0f} | {min(values):.0f} to "
                 f"{max(values):.0f} | {ratio:.2f} |\n")
    text += MEMORY
    for megabytes in MEMORY_SIZES_MB:
        text += "| {} | {} | {} |\n".format(*memory(build, megabytes))
    text += PRICES.format(repetitions=REPETITIONS)
    rates = prices(build)
    for name, title in PRICE_TITLES.items():
        values = rates[name]
        text += (f"| {title} | {median(values):,.0f} | {min(values):,.0f} to "
                 f"{max(values):,.0f} |\n")
    text += TIMED.format(unit="ms", repetitions=REPETITIONS)
    text += timed_rows(times(build, "simulate_bench"), SIMULATIONS)
    text += REPLAYS.format(unit="ms", repetitions=REPETITIONS)
    text += timed_rows(times(build, "replay_bench"), REPLAY_TITLES)
    text += predictions(build) + commands(build) + studies(build)
    (ROOT / "docs/performance.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
