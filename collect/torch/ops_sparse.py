"""Embedding tables, and everything that moves data by an index."""
from case import Case, aten_row


def make_ids(torch, rows, count, dist, seed):
    """Row numbers: uniform, or by a power law ("power-law-1.05").

    The power law is sampled by inverting its continuous distribution on
    [1, rows + 1), which for an exponent a is
    u -> (1 + u ((rows + 1)^(1 - a) - 1))^(1 / (1 - a)).
    """
    generator = torch.Generator().manual_seed(seed)
    if dist == "uniform":
        return torch.randint(rows, (count,), generator=generator)
    power = 1.0 - float(dist.rsplit("-", 1)[1])
    top = (rows + 1.0) ** power - 1.0
    drawn = torch.rand(count, generator=generator, dtype=torch.float64)
    places = (1.0 + drawn * top) ** (1.0 / power)
    return (places.long() - 1).clamp_(0, rows - 1)


class _Tables:
    """Tables are large and only read or added to: the sets share one."""

    def __init__(self):
        self._table = None
        self._key = None

    def get(self, env, rows, dim):
        if self._key != (rows, dim, env.device):
            self._table = None
            self._table = env.rand(rows, dim)
            self._key = (rows, dim, env.device)
        return self._table


_TABLES = _Tables()


def bag(env, p):
    """nn.EmbeddingBag with sparse gradients: forward, backward, SGD's step."""
    torch, aten, op = env.torch, env.aten, p["op"]
    rows, dim, batch = p["rows"], p["dim"], p["batch"]
    lookups = p["lookups"]
    count = batch * lookups
    ids = make_ids(torch, rows, count, p["dist"], env.seed)
    number = [env.seed]
    # All sets share the gradient: a step has just made it.
    values = env.rand(count, dim) if op == "bag_sgd" else None

    def inputs():
        number[0] += 1
        drawn = make_ids(torch, rows, count, p["dist"], number[0])
        indices = drawn.to(env.device)
        offsets = torch.arange(0, count, lookups, device=env.device)
        return _TABLES.get(env, rows, dim), indices, offsets

    def make():
        table, indices, offsets = inputs()
        if op == "bag_fwd":
            return lambda: aten._embedding_bag(
                table, indices, offsets, False, 0, True, None, False, -1)
        if op == "bag_bwd":
            grad = env.rand(batch, dim)
            _, bags, sizes, most = aten._embedding_bag(
                table, indices, offsets, False, 0, True, None, False, -1)
            return lambda: aten._embedding_bag_backward(
                grad, indices, offsets, bags, sizes, most, rows, False, 0,
                True, None, -1)
        sparse = torch.sparse_coo_tensor(
            indices.reshape(1, -1), values, (rows, dim))
        return lambda: table.add_(sparse, alpha=-1e-9)

    if op == "bag_sgd":
        # add_ of a sparse gradient: table, ids, values.
        row = aten_row("sparse_add_", [[rows, dim], [count], [count, dim]])
        return Case(make, row)
    return Case(make, {
        "impl": "nn.EmbeddingBag", "direction": op.split("_")[1],
        "optimizer": "", "dtype": "fp32", "location": "hbm", "num_tables": 1,
        "rows_per_table": rows, "dim": dim, "batch": batch,
        "lookups_per_bag": lookups, "pooling": "sum", "index_dist": p["dist"],
        "unique_rows": len(torch.unique(ids))})


def lookup(env, p):
    """nn.Embedding: one row per id, and a gradient as large as the table."""
    torch, aten = env.torch, env.aten
    rows, dim, count = p["rows"], p["dim"], p["lookups"]
    number = [env.seed]

    def make():
        number[0] += 1
        indices = make_ids(torch, rows, count, "uniform",
                           number[0]).to(env.device)
        table = _TABLES.get(env, rows, dim)
        if p["op"] == "lookup_fwd":
            return lambda: torch.nn.functional.embedding(indices, table)
        grad = env.rand(count, dim)
        return lambda: aten.embedding_dense_backward(
            grad, indices, rows, -1, False)
    return Case(make, {"dtype": "fp32", "direction": p["op"].split("_")[1],
                       "table_rows": rows, "dim": dim, "lookups": count})


def tril(env, p):
    """The lower triangle of one matrix per sample, and its gradient."""
    torch, batch, size = env.torch, p["batch"], p["size"]
    pairs = [(i, j) for i in range(size)
             for j in range(i + p["diagonal"] + 1)]
    dims, picked = [batch, size, size], [len(pairs)]

    def make():
        z = env.rand(*dims)
        li = torch.tensor([i for i, _ in pairs], device=env.device)
        lj = torch.tensor([j for _, j in pairs], device=env.device)
        if p["op"] == "tril_fwd":
            return lambda: z[:, li, lj]
        g = env.rand(batch, len(pairs))
        zero = torch.zeros_like(z)
        return lambda: env.aten._index_put_impl_(
            zero, [None, li, lj], g, True, True)
    indices = [[], picked, picked]
    if p["op"] == "tril_fwd":
        return Case(make, aten_row("index", [dims, indices]))
    return Case(make, aten_row(
        "_index_put_impl_", [dims, indices, [batch, len(pairs)], [], []],
        values=["", "", "", "True", "True"]))
