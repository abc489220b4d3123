"""What to measure: shapes of every operator, sampled from stated ranges.

`papers` are the ranges of Lin et al. (HiPC 2022 and TPDS 2025), `small` the
same operators at sizes that suit a CPU. Samples are seeded, and the
order alternates between the operators, so any prefix of a sweep covers all of
them and the same seed always makes the same sweep.
"""
import json
import random

from sizes import RANGES


def point_id(point):
    """A name that is the same in every run."""
    return json.dumps(point, sort_keys=True, separators=(",", ":"))


def _pick(rng, values):
    return values[rng.randrange(len(values))]


def _linear(rng, r):
    # Forward, data gradient and weight gradient of one layer.
    m, k, n = (_pick(rng, r["gemm_m"]), _pick(rng, r["gemm"]),
               _pick(rng, r["gemm"]))
    return [{"kind": "gemm", "op": op, "batch": 1, "m": m, "n": n, "k": k}
            for op in ("linear", "linear_dgrad", "linear_wgrad")]


def _bmm(rng, r):
    point = {"kind": "gemm", "batch": _pick(rng, r["bmm_batch"])}
    if rng.random() < 0.5:
        # The dot interaction: every vector of a sample with every other.
        features, dim = _pick(rng, r["features"]), _pick(rng, r["dims"])
        point.update(m=features, n=features, k=dim)
    else:
        point.update({name: _pick(rng, r["bmm"]) for name in "mnk"})
    return [{**point, "op": op} for op in ("bmm", "bmm_tn")]


def _bag(rng, r):
    point = {"kind": "embedding_bag", "rows": _pick(rng, r["rows"]),
             "dim": _pick(rng, r["dims"]), "batch": _pick(rng, r["batch"]),
             "lookups": _pick(rng, r["lookups"]),
             "dist": _pick(rng, ["uniform", "power-law-1.05"])}
    return [{**point, "op": op} for op in ("bag_fwd", "bag_bwd", "bag_sgd")]


def _lookup(rng, r):
    point = {"kind": "embedding_lookup", "rows": _pick(rng, r["rows"]),
             "dim": _pick(rng, r["dims"]),
             "lookups": _pick(rng, r["batch"]) * _pick(rng, r["lookups"])}
    # A dense gradient is as large as the table.
    wanted = ("lookup_fwd", "lookup_bwd") if point["rows"] <= 100000 else (
        "lookup_fwd",)
    return [{**point, "op": op} for op in wanted]


def _concat(rng, r):
    if rng.random() < 0.5:
        dims = [[_pick(rng, r["concat_batch"]), _pick(rng, r["concat_m"]),
                 _pick(rng, r["concat_k"])] for _ in range(1)]
        dims.append([dims[0][0], _pick(rng, r["concat_n"]), dims[0][2]])
    else:
        # What a DLRM concatenates: one vector per table and sample.
        one = [_pick(rng, r["batch"]), _pick(rng, r["dims"])]
        dims = [one] * _pick(rng, r["features"])
    return [{"kind": "concat", "op": "cat", "dims": dims, "dim": 1}]


def _transpose(rng, r):
    return [{"kind": "aten", "op": "transpose",
             "dims": [_pick(rng, r["concat_batch"]), _pick(rng, r["plane"]),
                      _pick(rng, r["plane"])]}]


def _tril(rng, r):
    point = {"kind": "aten", "batch": _pick(rng, r["concat_batch"]),
             "size": rng.randint(5, 40), "diagonal": rng.randint(-1, 0)}
    return [{**point, "op": op} for op in ("tril_fwd", "tril_bwd")]


# Op, inputs read.
ELEMENTWISE = {"relu": 1, "relu_bwd": 2, "add": 2, "mul": 2, "div": 2,
               "add_scalar": 1, "mul_scalar": 1, "sigmoid": 1,
               "sigmoid_bwd": 2, "tanh": 1, "gelu": 1, "sgd_step": 2,
               "mse_bwd": 2}


def _elementwise(rng, r):
    return [{"kind": "elementwise", "op": _pick(rng, list(ELEMENTWISE)),
             "rows": _pick(rng, r["plane_rows"]),
             "cols": _pick(rng, r["plane"])}]


def _rowwise(rng, r):
    size = {"rows": _pick(rng, r["plane_rows"]),
            "cols": _pick(rng, r["plane"])}
    kind = _pick(rng, ["layernorm", "softmax"])
    return [{"kind": kind, "op": f"{kind}_{way}", **size}
            for way in ("fwd", "bwd")]


def _reduction(rng, r):
    op = _pick(rng, ["column_sum", "sum", "mse", "bce"])
    return [{"kind": "aten", "op": op, "rows": _pick(rng, r["plane_rows"]),
             "cols": _pick(rng, r["plane"])}]


def _fill(rng, r):
    return [{"kind": "aten", "op": "zero", "rows": _pick(rng, r["plane_rows"]),
             "cols": _pick(rng, r["plane"])}]


def _conv(rng, r):
    """A convolution that a network would have: the papers' filters."""
    while True:
        size, filters = _pick(rng, r["hw"]), _pick(rng, [1, 3, 5])
        channels, out = _pick(rng, r["channels"]), _pick(rng, r["out"])
        stride = 1 if filters == 1 else _pick(rng, [1, 2])
        low, high = r["area"]
        if channels != 3 and not low <= channels * size <= high:
            continue
        if channels != 3 and not 0.125 < channels / out < 8:
            continue
        if size < filters or (channels == 3) != (size in r["image"]):
            continue
        point = {"kind": "conv2d", "batch": _pick(rng, r["conv_batch"]),
                 "in_channels": channels, "in_size": size,
                 "out_channels": out, "kernel": filters, "stride": stride,
                 "padding": filters // 2}
        return [{**point, "op": op}
                for op in ("conv_fwd", "conv_bwd_data", "conv_bwd_weight")]


def _image(rng, r):
    op = _pick(rng, ["batch_norm_fwd", "batch_norm_bwd", "max_pool",
                     "max_pool_bwd", "avg_pool"])
    low, high = r["area"]
    while True:
        size, channels = _pick(rng, r["hw"]), _pick(rng, r["out"])
        if low <= channels * size <= high:
            return [{"kind": "aten", "op": op, "channels": channels,
                     "size": size, "batch": _pick(rng, r["conv_batch"])}]


def _optimizer(rng, r):
    op = _pick(rng, ["foreach_add", "fused_adam"])
    return [{"kind": "aten", "op": op, "tensors": _pick(rng, [2, 4, 8, 16]),
             "rows": _pick(rng, r["gemm"]), "cols": _pick(rng, r["gemm"])}]


def _memcpy(rng, r):
    return [{"kind": "memcpy", "op": op, "bytes": 4 * _pick(rng, r["copy"])}
            for op in ("dtod", "htod_pinned", "htod_pageable", "dtoh_pinned",
                       "dtoh_pageable")]


def _launch(rng, r):
    del rng, r
    return [{"kind": "launch", "op": op}
            for op in ("empty", "view", "scalar_add", "backward_node",
                       "synchronize")]


# Name, samples, shares of the time: GEMMs and lookups dominate a DLRM's step.
# The samples are those of one round over everything.
GENERATORS = {
    "linear": (_linear, 1700, 14), "bmm": (_bmm, 1200, 3),
    "bag": (_bag, 1200, 6), "lookup": (_lookup, 300, 1),
    "concat": (_concat, 600, 3), "transpose": (_transpose, 400, 3),
    "tril": (_tril, 400, 2), "elementwise": (_elementwise, 3000, 10),
    "rowwise": (_rowwise, 400, 2), "reduction": (_reduction, 900, 6),
    "fill": (_fill, 300, 2), "conv": (_conv, 800, 4),
    "image": (_image, 900, 6), "optimizer": (_optimizer, 200, 1),
    "memcpy": (_memcpy, 400, 3), "launch": (_launch, 1, 1),
}


def _unique(make, rng, ranges, count):
    """Groups of points, no point twice."""
    seen = set()
    groups = []
    for _ in range(count):
        group = [p for p in make(rng, ranges) if point_id(p) not in seen]
        seen.update(point_id(p) for p in group)
        if group:
            groups.append(group)
    return groups


def make_sweep(seed, sizes, only=None):
    """All points in the order they are measured."""
    if sizes not in RANGES:
        raise ValueError(f"sizes are '{sizes}'; expected one of: "
                         + ", ".join(RANGES))
    unknown = set(only or ()) - set(GENERATORS)
    if unknown:
        raise ValueError(f"no operator '{sorted(unknown)[0]}'; expected some "
                         "of: " + ", ".join(GENERATORS))
    queues = {}
    for name, (make, count, _) in GENERATORS.items():
        if only and name not in only:
            continue
        rng = random.Random(f"{seed}/{name}")
        queues[name] = _unique(make, rng, RANGES[sizes], count)
    order = random.Random(f"{seed}/order")
    sweep = []
    while queues:
        turn = [name for name in queues
                for _ in range(GENERATORS[name][2])]
        order.shuffle(turn)
        for name in turn:
            if queues.get(name):
                sweep.extend(queues[name].pop())
        queues = {name: queue for name, queue in queues.items() if queue}
    return sweep
