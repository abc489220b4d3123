"""Convolutions, batch norms and pooling."""
from case import Case, aten_row


def conv(env, p):
    torch, aten, op = env.torch, env.aten, p["op"]
    stride, padding = [p["stride"]] * 2, [p["padding"]] * 2
    image = [p["batch"], p["in_channels"], p["in_size"], p["in_size"]]
    filters = [p["out_channels"], p["in_channels"], p["kernel"], p["kernel"]]

    def make():
        x, w = env.rand(*image), env.rand(*filters)
        y = torch.conv2d(x, w, None, stride, padding)
        if op == "conv_fwd":
            return lambda: torch.conv2d(x, w, None, stride, padding)
        g = env.rand(*y.shape)
        wanted = [op == "conv_bwd_data", op == "conv_bwd_weight", False]
        return lambda: aten.convolution_backward(
            g, x, w, None, stride, padding, [1, 1], False, [0, 0], 1, wanted)
    columns = ("batch", "in_channels", "in_size", "out_channels", "kernel",
               "stride", "padding")
    return Case(make, {"dtype": "fp32", "direction": op[len("conv_"):],
                       **{column: p[column] for column in columns}})


def image(env, p):
    torch, aten, op = env.torch, env.aten, p["op"]
    channels = p["channels"]
    dims = [p["batch"], channels, p["size"], p["size"]]
    one = [channels]
    if op.startswith("batch_norm"):
        def make():
            x, w, b = env.rand(*dims), env.rand(*one), env.rand(*one)
            mean, var = env.rand(*one), env.rand(*one)
            if op == "batch_norm_fwd":
                return lambda: torch.native_batch_norm(
                    x, w, b, mean, var, True, 0.1, 1e-5)
            _, saved, rstd = torch.native_batch_norm(
                x, w, b, mean, var, True, 0.1, 1e-5)
            g = env.rand(*dims)
            return lambda: aten.native_batch_norm_backward(
                g, x, w, mean, var, saved, rstd, True, 1e-5,
                [True, True, True])
        if op == "batch_norm_fwd":
            return Case(make, aten_row("native_batch_norm", [
                dims, one, one, one, one, [], [], []]))
        return Case(make, aten_row("native_batch_norm_backward", [
            dims, dims, one, one, one, one, one, [], [], []]))

    window = [2, 2]
    values = ["", "[2;2]", "[2;2]", "[0;0]", "[1;1]", "False"]

    def make_pool():
        x = env.rand(*dims)
        if op == "avg_pool":
            return lambda: aten.avg_pool2d(x, window, window)
        if op == "max_pool":
            return lambda: aten.max_pool2d_with_indices(x, window, window)
        y, places = aten.max_pool2d_with_indices(x, window, window)
        g = env.rand(*y.shape)
        return lambda: aten.max_pool2d_with_indices_backward(
            g, x, window, window, [0, 0], [1, 1], False, places)
    if op == "avg_pool":
        return Case(make_pool, aten_row(
            "avg_pool2d", [dims, [], [], []], values=values[:4]))
    if op == "max_pool":
        return Case(make_pool, aten_row(
            "max_pool2d_with_indices", [dims, [], [], [], [], []],
            values=values))
    half = dims[:2] + [p["size"] // 2] * 2
    return Case(make_pool, aten_row(
        "max_pool2d_with_indices_backward",
        [half, dims, [], [], [], [], [], half],
        values=["", *values, ""]))
