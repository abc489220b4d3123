#!/usr/bin/env python3
"""The papers' learned kernel model in PyTorch: a network from the logarithms of
a kernel's sizes to the logarithm of its time.

usage: lin2022_network.py ROWS.json

ROWS.json is what `stepcast eval kernels --data .../gemm --rows` wrote, with all
its parts. Trains a network per GPU on FP32 products and prints the errors on
the test part, by GPU and op. Needs PyTorch, and a minute per GPU.

Lin et al., "Building a Performance Model for Deep Learning Recommendation Model
Training on GPUs" (2022): hidden layers of equal width, ReLUs, Xavier weights,
Adam with weight decay, least squares on the logarithm of time, inputs not
normalised. Where this departs, and why:

- It learns what the benchmark's clock showed, which in event-timed rows
  includes the launch; the papers' times were those of kernels alone.
- The papers train 800 epochs and try 140 networks, which is a day per GPU here.
  The rate falls to 0, which needs a tenth of the epochs, and the choice is from
  a short grid.
- The papers choose and report on the same fifth of the rows. We choose on the
  validation part.
"""
import collections
import dataclasses
import math
import os
import sys

# The same bytes every time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import torch  # noqa: E402  (reads the line above)

from rows import Errors, is_fp32_product, load  # noqa: E402

# What biases start at: a little above 0, so that few ReLUs start dead.
FIRST_BIAS = 0.01
WEIGHT_DECAY = 1e-4
# As ir::Arithmetic counts what an elementwise kernel computes.
ARITHMETIC = ["plain", "division", "transcendental", "power"]


@dataclasses.dataclass
class Grid:
    """Networks to choose from."""
    widths: tuple = (128,)
    rates: tuple = (1e-3, 2e-3, 5e-3)
    layers: int = 4
    batch: int = 64
    most_epochs: int = 800
    # Large sets are seen fewer times: rows x epochs is at most this, which is
    # 60 epochs of the FP32 products of one GPU.
    most_visits: float = 1.05e6
    seed: int = 1

    def epochs(self, rows):
        return max(int(min(self.most_visits / rows, self.most_epochs)), 1)


def _ln(size):
    return math.log(max(size, 1))


def _is_backward(shape):
    """The papers have a network per direction; one with this stands for
    both."""
    return float(shape.get("pass", "forward") != "forward")


def _gemm(shape):
    return [_ln(shape[key]) for key in ("batch", "m", "n", "k")]


def _convolution(shape):
    """Dilation is not in our shapes."""
    groups = shape.get("groups", 1)
    depthwise = groups > 1 and groups == shape["in_channels"]
    return [_ln(shape["batch"]),
            _ln(shape["height"] + 2 * shape.get("padding", 0)),
            _ln(shape["in_channels"]), _ln(shape["out_channels"]),
            shape.get("stride", 1), shape["kernel_height"],
            shape["kernel_width"], float(depthwise), _is_backward(shape)]


def _rows_and_columns(shape):
    return [_ln(shape["rows"]), _ln(shape["columns"]), _is_backward(shape)]


def _elementwise(shape):
    return [_ln(shape["elements"]), _ln(shape.get("read", 0)),
            _ln(shape["written"]),
            ARITHMETIC.index(shape.get("arithmetic", "plain"))]


# The papers price softmax and elementwise kernels by a roofline; these are the
# inputs that their recipe would have.
INPUTS = {"gemm": _gemm, "convolution": _convolution,
          "normalization": _rows_and_columns, "softmax": _rows_and_columns,
          "elementwise": _elementwise}


def inputs(shape):
    """What the network sees of a shape; empty for families without one."""
    return INPUTS.get(shape["family"], lambda _: [])(shape)


def make_net(input_count, width, layers):
    """Dense layers with ReLUs between them and one output."""
    sizes = [input_count, *[width] * layers, 1]
    parts = []
    for size, next_size in zip(sizes, sizes[1:]):
        dense = torch.nn.Linear(size, next_size)
        torch.nn.init.xavier_uniform_(dense.weight)
        torch.nn.init.constant_(dense.bias, FIRST_BIAS)
        parts += [dense, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def fit_net(table, targets, width, rate, grid):
    """The same bytes every time, on one thread. The rate falls along half a
    cosine."""
    torch.manual_seed(grid.seed)
    torch.set_num_threads(1)
    net = make_net(table.shape[1], width, grid.layers)
    # The step size follows the rate; weight decay is part of the gradient.
    adam = torch.optim.Adam(net.parameters(), lr=rate,
                            weight_decay=WEIGHT_DECAY)
    epochs = grid.epochs(len(table))
    seen = 0
    for _ in range(epochs):
        for chosen in torch.randperm(len(table)).split(grid.batch):
            left = (1 + math.cos(math.pi * seen / (epochs * len(table)))) / 2
            for group in adam.param_groups:
                group["lr"] = rate * left
            loss = torch.nn.functional.mse_loss(net(table[chosen])[:, 0],
                                                targets[chosen])
            adam.zero_grad()
            loss.backward()
            adam.step()
            seen += len(chosen)
    return net


class Network:
    """A trained network and how it was trained."""

    def __init__(self, net, width, rate, epochs):
        self.net = net
        self.width = width
        self.rate = rate
        self.epochs = epochs

    def predict(self, rows):
        """What the clock would show for every row, in microseconds."""
        table = torch.tensor([inputs(row.shape) for row in rows],
                             dtype=torch.float32)
        with torch.no_grad():
            return self.net(table)[:, 0].double().exp().tolist()

    def errors(self, rows, part):
        """Of the rows of one part that are judged."""
        chosen = [row for row in rows if row.part == part and row.judged]
        errors = Errors()
        if chosen:
            for row, time in zip(chosen, self.predict(chosen)):
                errors.add(time, row.time_us)
        return errors


def train(rows, grid=Grid()):
    """The network of the grid, trained on the fit part, that is best on the
    validation part; None if either has no rows or the family no inputs."""
    fit = [row for row in rows if row.part == "fit" and inputs(row.shape)]
    if not fit:
        return None
    table = torch.tensor([inputs(row.shape) for row in fit],
                         dtype=torch.float32)
    targets = torch.tensor([math.log(row.time_us) for row in fit],
                           dtype=torch.float32)
    best, least = None, math.inf
    for width in grid.widths:
        for rate in grid.rates:
            network = Network(fit_net(table, targets, width, rate, grid),
                              width, rate, grid.epochs(len(fit)))
            errors = network.errors(rows, "validation")
            if len(errors) and errors.gmae_pct < least:
                best, least = network, errors.gmae_pct
    return best


def judge(rows):
    """Errors on the test part, by GPU and op. Single products and batches have
    one network, as in the papers."""
    by_gpu = collections.defaultdict(list)
    for row in filter(is_fp32_product, rows):
        by_gpu[row.gpu.name].append(row)
    errors = collections.defaultdict(Errors)
    for gpu, products in sorted(by_gpu.items()):
        network = train(products)
        tests = [row for row in products if row.part == "test" and row.judged]
        if network and tests:
            for row, time in zip(tests, network.predict(tests)):
                errors[gpu, row.op].add(time, row.time_us)
    return errors


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for (gpu, op), errors in sorted(judge(load(sys.argv[1])).items()):
        print(gpu, op, len(errors), f"{errors.gmae_pct:.3f}",
              f"{errors.mape_pct:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
