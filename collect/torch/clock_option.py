"""The option --clock, of all that measures."""


def add_clock(parser):
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="cpu: the time that the process itself ran; for "
                        "one thread on a machine that others use")


def check_clock(parser, arguments):
    if arguments.clock == "cpu" and arguments.device != "cpu":
        parser.error(f"--clock cpu with --device {arguments.device}; "
                     "expected --device cpu")
