"""The rows that `stepcast eval kernels --rows` writes, and errors on them.

Which row belongs to which part, what its launch costs and whether it is judged
is decided by stepcast alone, so that all models see the same rows.
"""
import dataclasses
import json
import math

ELEMENT_BYTES = {"fp64": 8, "int64": 8, "fp32": 4, "tf32": 4, "int32": 4,
                 "fp16": 2, "bf16": 2, "int16": 2, "fp8": 1, "int8": 1,
                 "uint8": 1, "bool": 1}
# An exact hit has no logarithm: errors count from a thousandth of a percent.
LEAST_ERROR = 1e-5


def element_bytes(shape):
    return ELEMENT_BYTES.get(shape.get("dtype"), 4)


def _value(text):
    if "," in text:
        return [_value(part) for part in text.split(",")]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


def parse_shape(text):
    """{"family": "gemm", "m": 2048} of "gemm m=2048".

    Fields that have their default value are not in the text.
    """
    family, *fields = text.split()
    shape = {"family": family}
    for field in fields:
        key, _, value = field.partition("=")
        shape[key] = _value(value)
    return shape


@dataclasses.dataclass
class Gpu:
    """What formulas need of a GPU, as given in the rows' file."""
    name: str
    generation: str
    sm_count: float
    fp32_lanes_per_sm: float
    clock_ghz: float
    fp32_tflops: float
    l2_mb: float
    dram_gbs: float
    copy_share: float  # Of dram_gbs, that large copies sustain.
    pcie_gbs: float    # One direction.


@dataclasses.dataclass
class Row:
    """One measured kernel, or several that were timed together."""
    kind: str
    op: str
    gpu: Gpu
    timing: str
    part: str  # "fit", "validation" or "test".
    shapes: list
    time_us: float
    judged: bool
    count: float = 1
    lead_us: float = 0   # The launch's part of what the clock showed,
    floor_us: float = 0  # and the least that it shows.
    roofline_us: float = 0  # Of the kernels alone, as those below.
    formula_us: float = 0
    p10_us: float = 0
    p50_us: float = 0
    p90_us: float = 0

    @property
    def shape(self):
        return self.shapes[0]

    @property
    def priced(self):
        return self.roofline_us > 0

    def observed(self, kernel_us):
        """What the clock would show for a kernel of this time."""
        return max(self.floor_us, self.lead_us + kernel_us)


def is_fp32_product(row):
    """Whether the papers' network for products answers for it."""
    return (row.kind == "gemm" and row.priced and len(row.shapes) == 1
            and row.shape["family"] == "gemm"
            and row.shape.get("dtype") == "fp32")


def load(path):
    """All rows of a file."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    gpus = {fields["name"]: Gpu(**fields) for fields in data["gpus"]}
    return [Row(**{**fields, "gpu": gpus[fields["gpu"]],
                   "shapes": [parse_shape(text) for text in fields["shapes"]]})
            for fields in data["rows"]]


@dataclasses.dataclass
class Errors:
    """Relative errors of predictions."""
    relative: list = dataclasses.field(default_factory=list)

    def add(self, predicted, measured):
        self.relative.append(predicted / measured - 1)

    def __len__(self):
        return len(self.relative)

    @property
    def gmae_pct(self):
        """The geometric mean of their sizes."""
        logs = [math.log(max(abs(error), LEAST_ERROR))
                for error in self.relative]
        return 100 * math.exp(math.fsum(logs) / len(logs))

    @property
    def mape_pct(self):
        """The arithmetic mean of their sizes."""
        return 100 * math.fsum(map(abs, self.relative)) / len(self.relative)
