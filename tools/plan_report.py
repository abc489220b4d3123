#!/usr/bin/env python3
"""Plans large problems and writes what came out into docs/models/planner.md.

usage: plan_report.py BUILD_DIR [--print]

The problems have as many tables as the two public sets of production-like tables
(856 and 788), with sizes drawn from the ranges that were published for such
models: rows 30 to 20 million and pooling 1 to 100, both evenly over their
logarithm, 32, 64, 128 or 256 columns. --print shows the tables and leaves the page
alone.
"""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "models" / "planner.md"
BEGIN = "<!-- plan_report.py: begin -->"
END = "<!-- plan_report.py: end -->"

# Tables, seed, platform, nodes, GPUs, samples a GPU.
CASES = (
    (856, 2021, "hgx-h200", 1, 8, 2048),
    (788, 2022, "hgx-h200", 1, 8, 2048),
    (856, 2021, "dgx-a100", 16, 128, 512),
    (788, 2022, "dgx-a100", 16, 128, 512),
)
LEAST_ROWS, MOST_ROWS = 30, 20_000_000
MOST_POOLING = 100
DIMS = (32, 64, 128, 256)
HEAD = """batch = {batch}
source = "drawn by tools/plan_report.py"
dense_features = 512
bottom_mlp = [512, 256, 128]
top_mlp = [128, 64, 1]
interaction = "cat"
table_optimizer = "rowwise_adagrad"
dense_optimizer = "sgd"
optimizer_form = "foreach"
"""


def draw(rng, least, most):
    """A number from least to most, evenly over its logarithm."""
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def model_text(tables, seed):
    """A model file with that many tables."""
    rng = random.Random(seed)
    text = HEAD.format(batch=2048)
    for _ in range(tables):
        rows = round(draw(rng, LEAST_ROWS, MOST_ROWS))
        pooling = round(draw(rng, 1, MOST_POOLING), 1)
        text += (f"[[tables]]\nrows = {rows}\ndim = {rng.choice(DIMS)}\n"
                 f"pooling = {pooling}\n")
    return text


def spent():
    """Processor time of all programs run so far."""
    times = os.times()
    return times.children_user + times.children_system


def run(stepcast, case, directory):
    """The planner's answer, and the seconds of processor time it took."""
    tables, seed, platform, nodes, gpus, batch = case
    model = directory / f"tables{tables}.toml"
    model.write_text(model_text(tables, seed))
    begin = spent()
    out = subprocess.run(
        [stepcast, "plan", model, "--platform", platform, "--nodes",
         str(nodes), "--gpus", str(gpus), "--batch", str(batch), "--json"],
        check=True, capture_output=True, text=True).stdout
    return json.loads(out), spent() - begin


def rows_of(report):
    """The sharders as rows of a table."""
    steps = {row["sharder"]: row["step_time_us"] for row in report["sharders"]}
    torchrec = steps.get("torchrec")
    for row in report["sharders"]:
        step = row["step_time_us"]
        against = ("" if step is None or not torchrec
                   else f"{(step / torchrec - 1) * 100:+.1f} %")
        name = row["sharder"]
        if name == report["sharder"]:
            name = f"**{name}**"
        yield (f"| {name} | {step / 1e3:.2f} | {against} |" if step is not None
               else f"| {name} | - | |") + (
            f" {row['cost_us'] / 1e3:.2f} | {row['forward_us'] / 1e3:.2f} |"
            f" {row['backward_us'] / 1e3:.2f} | {row['exchange_us'] / 1e3:.2f} |"
            f" {row['hbm_bytes'] / 1e9:.1f} |"
            f" {'' if row['fits'] else 'does not fit'} |")


def section(case, report, seconds):
    """One problem as Markdown."""
    tables, _, platform, nodes, gpus, batch = case
    steps = {row["sharder"]: row["step_time_us"] for row in report["sharders"]}
    gain = 1 - report["step_time_us"] / steps["torchrec"]
    where = f"{nodes} x {platform}" if nodes > 1 else platform
    lines = [
        f"### {tables} tables on {gpus} GPUs ({where}), batch {batch} a GPU",
        "",
        f"{gain * 100:.1f} % less than TorchRec's estimate with its greedy "
        f"partitioner; {seconds:.1f} s of processor time, "
        f"{report['evaluations']:,} plans by cost, {report['simulations']} "
        f"simulated.",
        "",
        "| sharder | step ms | against torchrec | cost ms | forward | backward "
        "| exchange | HBM GB | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows_of(report), ""]
    return "\n".join(lines)


def main():
    """Runs all problems."""
    arguments = [word for word in sys.argv[1:] if word != "--print"]
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    stepcast = pathlib.Path(arguments[0]) / "src" / "cli" / "stepcast"
    sections = []
    with tempfile.TemporaryDirectory() as directory:
        for case in CASES:
            report, seconds = run(stepcast, case, pathlib.Path(directory))
            sections.append(section(case, report, seconds))
            print(sections[-1], flush=True)
    if "--print" not in sys.argv:
        page = PAGE.read_text()
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(sections) + END +
                        after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
