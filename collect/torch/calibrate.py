"""Records steps of tiny models: the time that a CPU takes between operators.

Their operators have next to nothing to do, so that most of a step is overhead.
These models are not used to test predictions.
"""
import csv
import pathlib

from recorder import Recorder
from stats import median

NAME = "steps/steps.csv"
_STEPS = 60

_TINY_DLRM = {"dense_features": 8, "bottom_mlp": [8, 8],
              "top_mlp": [16, 1], "loss": "mse",
              "tables": [{"count": 4, "rows": 1000, "dim": 8, "pooling": 2}]}


def tiny_models(torch):
    """Name, batch and what models.py makes."""
    import models
    return [
        ("mlp-4x8", 4, models.make_mlp(torch, [8, 8, 8, 8, 1])),
        ("mlp-8x16", 8, models.make_mlp(torch, [16] * 8 + [1])),
        ("dlrm", 4, models.make_dlrm(torch, _TINY_DLRM)),
        ("cnn", 1, models.make_cnn(torch, (4, 8), 8)),
        ("transformer", 2, models.make_transformer(torch, 16, 2, 4)),
    ]


def make_step(torch, made, batch, device):
    """A training step with plain SGD on a batch that is already there."""
    module, inputs, loss = made
    module = module.to(device)
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-4)
    values, target = inputs(batch, device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(module(*values), target).backward()
        optimizer.step()
    return step


def record(torch, out, clock="wall", make_filter=lambda: None):
    """Fills OUT/steps unless an earlier run did."""
    table = pathlib.Path(out) / NAME
    if table.exists():
        return
    rows = []
    for name, batch, made in tiny_models(torch):
        step = make_step(torch, made, batch, "cpu")
        folder = table.parent / name
        with Recorder(folder, "cpu", batch, warmup=10, timed=_STEPS,
                      profiled=0, clock=clock,
                      steps_filter=make_filter()) as recorder:
            step()
            while not recorder.step():
                step()
        rows.append([f"{name}/et.json",
                     f"{median(recorder.times_us):.2f}"])
    scratch = table.with_suffix(".tmp")
    with open(scratch, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["trace", "step_time_us"], *rows])
    scratch.rename(table)
