"""One point made ready to run: calls with their own tensors, and its row."""
import dataclasses
import typing


@dataclasses.dataclass
class Case:
    """`make` makes a call with fresh tensors. Several of them in turn keep
    one call from finding in the caches what the last one left there."""
    make: typing.Callable[[], typing.Callable[[], object]]
    row: dict
    bytes_each: int = 0


@dataclasses.dataclass
class Env:
    """What builders need: torch itself and where tensors go."""
    torch: typing.Any
    device: str
    seed: int = 1

    @property
    def aten(self):
        return self.torch.ops.aten

    def rand(self, *dims):
        # Between 0.05 and 0.95: fine for losses that take logarithms.
        return self.torch.rand(*dims, device=self.device) * 0.9 + 0.05

    def has(self, name):
        """Whether this PyTorch has the operator."""
        return hasattr(self.aten, name)


def dims_text(dims):
    """[[2;3];[]] as the CSV files write it."""
    if isinstance(dims, (list, tuple)):
        return "[" + ";".join(dims_text(item) for item in dims) + "]"
    return str(dims)


def strides_text(strides):
    """((3;1);()) likewise."""
    def one(item):
        return "(" + "".join(f"{value};" for value in item) + ")"
    return "(" + ";".join(one(item) for item in strides) + ")"


def values_text(values):
    """('';'1') likewise."""
    return "(" + ";".join("'" + str(value).replace(",", ";") + "'"
                          for value in values) + ")"


def aten_row(op, dims, strides=None, values=None):
    """The columns of an aten row."""
    return {"op": op, "dtype": "fp32", "input_dims": dims_text(dims),
            "input_strides": strides_text(strides) if strides else "",
            "concrete_inputs": values_text(values) if values else ""}
