#!/usr/bin/env python3
"""Records steps of a built-in model: execution trace, profile and times.

  capture.py --model dlrm --file data/workloads/dlrm_default.toml \\
      --batch 256 --out recorded/dlrm_default_256
  capture.py --model mlp --widths 512-256-256-1 --batch 128 --out recorded/mlp

To record a training loop of your own, see recorder.py: five lines.
"""
import argparse
import sys

from calibrate import make_step
from clock_option import add_clock, check_clock
from malloc_option import add_malloc, apply_malloc
from recorder import Recorder
from undisturbed import StepFilter, read_reference


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", required=True, choices=[
        "dlrm", "mlp", "cnn", "resnet", "transformer"])
    parser.add_argument("--file", help="the model file of a dlrm")
    parser.add_argument("--widths", default="512-512-512-1",
                        help="of an mlp, or channels of a cnn or resnet")
    parser.add_argument("--size", type=int, default=32,
                        help="of images, or the length of a sequence")
    parser.add_argument("--hidden", type=int, default=128,
                        help="of a transformer")
    parser.add_argument("--most-rows", type=int,
                        help="tables have no more rows than this")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="of the processor")
    parser.add_argument("--steps", type=int, default=50,
                        help="that are timed")
    parser.add_argument("--no-times", action="store_true",
                        help="record one step without timing any")
    parser.add_argument("--out", required=True, help="a directory")
    parser.add_argument("--like", metavar="DIR", help="count only steps "
                        "during which the machine was as fast as when "
                        "bench.py wrote this directory")
    add_clock(parser)
    add_malloc(parser)
    arguments = parser.parse_args(words)
    check_clock(parser, arguments)
    if arguments.batch < 1:
        parser.error(f"--batch is {arguments.batch}; expected 1 or more")
    if arguments.model == "dlrm" and not arguments.file:
        parser.error("no --file; expected the model file of the dlrm")
    return arguments


def numbers(text):
    return [int(word) for word in text.split("-")]


def make_model(torch, arguments):
    """(module, inputs, loss)."""
    import models
    if arguments.model == "dlrm":
        return models.make_dlrm(torch, models.read_model_file(arguments.file),
                                arguments.most_rows)
    if arguments.model == "mlp":
        return models.make_mlp(torch, numbers(arguments.widths))
    if arguments.model == "transformer":
        return models.make_transformer(torch, arguments.hidden,
                                       sequence=arguments.size)
    return models.make_cnn(torch, numbers(arguments.widths), arguments.size,
                           residual=arguments.model == "resnet")


def make_filter(torch, arguments):
    """The filter that finds disturbed steps, or None."""
    mark = read_reference(arguments.like) if arguments.like else None
    if mark is None:
        return None
    from runner import Runner  # Needs torch.
    runner = Runner(torch, arguments.device, "", None, 0, 0,
                    arguments.clock)
    return StepFilter(runner.reference_us, mark)


def main(words=None):
    arguments = parse_arguments(words)
    try:
        import torch
    except ImportError:
        print("error: no PyTorch; expected 1.13 or later", file=sys.stderr)
        return 2
    apply_malloc(arguments)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    step = make_step(torch, make_model(torch, arguments), arguments.batch,
                     arguments.device)
    # Without times one step is still needed to make the recorder's phases.
    lengths = ({"warmup": 2, "timed": 0, "profiled": 0}
               if arguments.no_times else {"timed": arguments.steps})
    with Recorder(arguments.out, arguments.device, arguments.batch,
                  model=vars(arguments), clock=arguments.clock,
                  steps_filter=make_filter(torch, arguments),
                  **lengths) as recorder:
        while True:
            step()
            if recorder.step():
                break
    return 0


if __name__ == "__main__":
    sys.exit(main())
