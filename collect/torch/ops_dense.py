"""Products, elementwise operators, norms, reductions and fills."""
from case import Case, aten_row
from points import ELEMENTWISE


def gemm(env, p):
    """Forward, data and weight gradients of a linear layer; batched products.

    Rows are as the product is computed: k is what is summed over.
    """
    torch, op = env.torch, p["op"]
    batch, m, n, k = p["batch"], p["m"], p["n"], p["k"]
    row = {"dtype": "fp32", "batch": batch, "m": m, "n": n, "k": k,
           "layout": "nn", "bias": 0}
    if op == "linear":
        def make():
            x, w, b = env.rand(m, k), env.rand(n, k), env.rand(n)
            return lambda: torch.nn.functional.linear(x, w, b)
        row.update(layout="tn", bias=1)
    elif op == "linear_dgrad":
        # [m,n] gradients by [n,k] weights.
        def make():
            g, w = env.rand(m, n), env.rand(n, k)
            return lambda: torch.mm(g, w)
        row.update(n=k, k=n)
    elif op == "linear_wgrad":
        # [n,m] transposed gradients by [m,k] inputs.
        def make():
            g, x = env.rand(m, n), env.rand(m, k)
            return lambda: torch.mm(g.t(), x)
        row.update(m=n, n=k, k=m, layout="nt")
    elif op == "bmm":
        def make():
            a, b = env.rand(batch, m, k), env.rand(batch, k, n)
            return lambda: torch.bmm(a, b)
    else:
        def make():
            a, b = env.rand(batch, m, k), env.rand(batch, n, k)
            return lambda: torch.bmm(a, b.transpose(1, 2))
        row.update(layout="tn")
    return Case(make, row)


def _elementwise_call(env, op, a, b, c):
    torch, aten = env.torch, env.aten
    out = torch.sigmoid(a)
    return {
        "relu": lambda: torch.relu(a),
        "relu_bwd": lambda: aten.threshold_backward(b, a, 0),
        "add": lambda: torch.add(a, b),
        "mul": lambda: torch.mul(a, b),
        "div": lambda: torch.div(a, b),
        "add_scalar": lambda: torch.add(a, 1.5),
        "mul_scalar": lambda: torch.mul(a, 1.5),
        "sigmoid": lambda: torch.sigmoid(a),
        "sigmoid_bwd": lambda: aten.sigmoid_backward(b, out),
        "tanh": lambda: torch.tanh(a),
        "gelu": lambda: torch.nn.functional.gelu(a),
        # As SGD does it: parameter += -rate * gradient, in place.
        "sgd_step": lambda: a.add_(b, alpha=-1e-9),
        "mse_bwd": lambda: aten.mse_loss_backward(c, a, b, 1),
    }[op]


def elementwise(env, p):
    op, rows, cols = p["op"], p["rows"], p["cols"]

    def make():
        a, b = env.rand(rows, cols), env.rand(rows, cols)
        # The gradient of a mean is a scalar.
        return _elementwise_call(env, op, a, b, env.rand(1)[0])
    return Case(make, {"op": op, "dtype": "fp32",
                       "num_inputs": ELEMENTWISE[op], "rows": rows,
                       "cols": cols})


def rowwise(env, p):
    torch, aten = env.torch, env.aten
    kind, way = p["op"].split("_")
    rows, cols = p["rows"], p["cols"]

    def make():
        x, g = env.rand(rows, cols), env.rand(rows, cols)
        if kind == "softmax":
            if way == "fwd":
                return lambda: torch.softmax(x, 1)
            y = torch.softmax(x, 1)
            return lambda: aten._softmax_backward_data(g, y, 1, torch.float32)
        w, b = env.rand(cols), env.rand(cols)
        if way == "fwd":
            return lambda: torch.native_layer_norm(x, [cols], w, b, 1e-5)
        _, mean, rstd = torch.native_layer_norm(x, [cols], w, b, 1e-5)
        return lambda: aten.native_layer_norm_backward(
            g, x, [cols], mean, rstd, w, b, [True, True, True])
    return Case(make, {"dtype": "fp32", "direction": way, "rows": rows,
                       "cols": cols})


def plane(env, p):
    """Reductions, losses, fills and optimizers over lists."""
    torch, aten, op = env.torch, env.aten, p["op"]
    dims = [p["rows"], p["cols"]]
    tensors = [dims] * p.get("tensors", 1)
    calls = {
        # Bias gradients.
        "column_sum": (lambda a, b: lambda: torch.sum(a, [0], True),
                       aten_row("sum", [dims, [], [], []],
                                values=["", "[0]", "True", ""])),
        "sum": (lambda a, b: lambda: torch.sum(a),
                aten_row("sum", [dims, []], values=["", ""])),
        "mse": (lambda a, b: lambda: aten.mse_loss(a, b, 1),
                aten_row("mse_loss", [dims, dims, []],
                         values=["", "", "1"])),
        "bce": (lambda a, b: lambda: aten.binary_cross_entropy(
            a, b, None, 1), aten_row("binary_cross_entropy",
                                     [dims, dims, [], []],
                                     values=["", "", "", "1"])),
        "zero": (lambda a, b: a.zero_, aten_row("zero_", [dims])),
    }
    if op in calls:
        factory, row = calls[op]
        return Case(lambda: factory(env.rand(*dims), env.rand(*dims)), row)
    if op == "foreach_add":
        if not hasattr(torch, "_foreach_add_"):
            return None

        def make():
            a = [env.rand(*d) for d in tensors]
            b = [env.rand(*d) for d in tensors]
            return lambda: torch._foreach_add_(a, b, alpha=-1e-9)
        return Case(make, aten_row("_foreach_add_", [tensors, tensors, []],
                                   values=["", "", "1"]))
    # Not before 2.0, and on processors not before 2.3.
    if not hasattr(torch, "_fused_adam_"):
        return None

    def make_adam():
        state = [[env.rand(*d) for d in tensors] for _ in range(4)]
        steps = [torch.ones((), device=env.device) for _ in tensors]
        return lambda: torch._fused_adam_(
            *state, [], steps, lr=1e-9, beta1=0.9, beta2=0.999,
            weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
    return Case(make_adam, aten_row("_fused_adam_", [tensors] * 4))
