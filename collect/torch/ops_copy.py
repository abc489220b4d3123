"""Concatenations, transposes, copies to and from a device, launches."""
from case import Case, aten_row, dims_text


def concat(env, p):
    def make():
        parts = [env.rand(*dims) for dims in p["dims"]]
        return lambda: env.torch.cat(parts, p["dim"])
    elements = 0
    for dims in p["dims"]:
        size = 1
        for value in dims:
            size *= value
        elements += size
    return Case(make, {"dtype": "fp32", "dim": p["dim"],
                       "num_inputs": len(p["dims"]),
                       "input_dims": dims_text(p["dims"]),
                       "out_elements": elements})


def transpose(env, p):
    """A copy of (b, m, n) that is stored as (b, n, m)."""
    b, m, n = p["dims"]

    def make():
        x, y = env.rand(b, m, n), env.rand(b, n, m)
        return lambda: y.copy_(x.transpose(1, 2))
    dims = [b, n, m]
    return Case(make, aten_row(
        "copy_", [dims, dims, []],
        strides=[(n * m, m, 1), (n * m, 1, n), ()],
        values=["", "", "False"]))


def memcpy(env, p):
    """On a device, to and from it; None where there is none."""
    torch = env.torch
    count = p["bytes"] // 4
    if p["op"] == "dtod":
        def make_inside():
            a = torch.ones(count, device=env.device)
            b = torch.ones(count, device=env.device)
            return lambda: b.copy_(a)
        return Case(make_inside, {"kind": "dtod", "host_memory": "",
                                  "bytes": p["bytes"]})
    if env.device == "cpu":
        return None
    kind, memory = p["op"].split("_")

    def make():
        host = torch.ones(count)
        if memory == "pinned":
            host = host.pin_memory()
        there = torch.ones(count, device=env.device)
        if kind == "htod":
            return lambda: there.copy_(host, non_blocking=True)
        return lambda: host.copy_(there, non_blocking=True)
    return Case(make, {"kind": kind, "host_memory": memory,
                       "bytes": p["bytes"]})


def launch(env, p):
    """What a call costs that has next to nothing to do."""
    torch, op = env.torch, p["op"]

    def make():
        one = torch.ones(1, device=env.device)
        square = torch.ones(8, 8, device=env.device)
        leaf = torch.ones(1, device=env.device, requires_grad=True)
        if op == "empty":
            return lambda: torch.empty(1, device=env.device)
        if op == "view":
            return lambda: square.view(64)
        if op == "scalar_add":
            return lambda: one.add_(1.0)
        if op == "synchronize":
            return lambda: one.item()

        def backward_node():
            return torch.autograd.grad(leaf * 2.0, leaf, one)
        return backward_node
    return Case(make, {"launch": op})
