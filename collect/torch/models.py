"""Built-in models to record: DLRM by a model file, MLP, CNN, ResNet,
transformer block."""
import pathlib


def read_model_file(path):
    """A model file of stepcast as a dict (docs/formats/model_file.md)."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for name in ("tomllib", "tomli", "pip._vendor.tomli"):
        try:
            parser = __import__(name, fromlist=["loads"])
        except ImportError:
            continue
        return parser.loads(text)
    raise RuntimeError("no TOML reader; expected Python 3.11 or tomli")


def tables_of(model, most_rows=None):
    """(rows, dim, lookups per sample) of every table of a model file."""
    tables = []
    for group in model.get("tables", []):
        rows = group["rows"]
        rows = rows if isinstance(rows, list) else [rows]
        rows = rows * group.get("count", 1)
        pooling = group.get("pooling", 1)
        pooling = pooling if isinstance(pooling, list) else [pooling] * len(
            rows)
        dim = group.get("dim", model.get("embedding_dim"))
        for count, lookups in zip(rows, pooling):
            tables.append((min(count, most_rows or count), dim,
                           max(1, round(lookups))))
    return tables


def dlrm_widths(model, tables):
    """Widths of the bottom and of the top MLP, inputs included."""
    bottom = [model.get("dense_features", 0), *model.get("bottom_mlp", [])]
    dim = bottom[-1] if len(bottom) > 1 else 0
    vectors = len(tables) + (1 if dim else 0)
    if model.get("interaction", "dot") == "dot":
        first = dim + vectors * (vectors - 1) // 2
    else:
        first = dim + sum(table[1] for table in tables)
    return bottom, [first, *model["top_mlp"]]


def _mlp(nn, widths, last):
    layers = []
    for i in range(len(widths) - 1):
        layers.append(nn.Linear(widths[i], widths[i + 1]))
        is_last = i == len(widths) - 2
        layers.append(nn.ReLU() if not is_last or last == "relu"
                      else nn.Sigmoid() if last == "sigmoid"
                      else nn.Identity())
    return nn.Sequential(*layers)


def make_dlrm(torch, model, most_rows=None):
    """(module, inputs of a batch -> tensors, loss)."""
    nn = torch.nn
    tables = tables_of(model, most_rows)
    bottom, top = dlrm_widths(model, tables)
    bce = model.get("loss", "bce") == "bce"
    dot = model.get("interaction", "dot") == "dot"

    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = nn.ModuleList(
                nn.EmbeddingBag(rows, dim, mode="sum", sparse=True)
                for rows, dim, _ in tables)
            self.bottom = _mlp(nn, bottom, "relu")
            self.top = _mlp(nn, top, "sigmoid" if bce else "none")
            count = len(tables) + 1
            pairs = [(i, j) for i in range(count) for j in range(i)]
            self.register_buffer("li", torch.tensor([i for i, _ in pairs]))
            self.register_buffer("lj", torch.tensor([j for _, j in pairs]))

        def forward(self, dense, *ids):
            x = self.bottom(dense)
            vectors = [x] + [bag(indices, offsets) for bag, indices, offsets
                             in zip(self.bags, ids[::2], ids[1::2])]
            if not dot:
                return self.top(torch.cat(vectors, dim=1))
            z = torch.cat(vectors, dim=1).view(
                x.shape[0], len(vectors), x.shape[1])
            z = torch.bmm(z, z.transpose(1, 2))[:, self.li, self.lj]
            return self.top(torch.cat([x, z], dim=1))

    def inputs(batch, device):
        values = [torch.rand(batch, bottom[0], device=device)]
        for rows, _, lookups in tables:
            values.append(torch.randint(rows, (batch * lookups,),
                                        device=device))
            values.append(torch.arange(0, batch * lookups, lookups,
                                       device=device))
        return values, torch.rand(batch, top[-1], device=device)
    loss = nn.functional.binary_cross_entropy if bce else (
        nn.functional.mse_loss)
    return Dlrm(), inputs, loss


def make_mlp(torch, widths):
    def inputs(batch, device):
        return ([torch.rand(batch, widths[0], device=device)],
                torch.rand(batch, widths[-1], device=device))
    return (_mlp(torch.nn, widths, "none"), inputs,
            torch.nn.functional.mse_loss)


def make_cnn(torch, channels=(16, 32, 64), size=32, residual=False):
    """Convolutions with batch norms and pooling; residual: a small ResNet."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, before, after):
            super().__init__()
            self.first = nn.Conv2d(before, after, 3, padding=1, bias=False)
            self.norm = nn.BatchNorm2d(after)
            self.second = nn.Conv2d(after, after, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(after)
            self.short = nn.Conv2d(before, after, 1, bias=False)

        def forward(self, x):
            y = torch.relu(self.norm(self.first(x)))
            y = self.norm2(self.second(y))
            return torch.relu(y + self.short(x))

    layers = []
    before = 3
    for after in channels:
        if residual:
            layers.append(Block(before, after))
        else:
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False),
                       nn.BatchNorm2d(after), nn.ReLU()]
        layers.append(nn.MaxPool2d(2))
        before = after
    side = size // 2 ** len(channels)
    layers += [nn.Flatten(), nn.Linear(before * side * side, 10)]

    def inputs(batch, device):
        return ([torch.rand(batch, 3, size, size, device=device)],
                torch.rand(batch, 10, device=device))
    return nn.Sequential(*layers), inputs, nn.functional.mse_loss


def make_transformer(torch, hidden=128, heads=4, sequence=64):
    """One block: attention by plain products, then two layers."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(hidden, 3 * hidden)
            self.out = nn.Linear(hidden, hidden)
            self.up = nn.Linear(hidden, 4 * hidden)
            self.down = nn.Linear(4 * hidden, hidden)
            self.norm = nn.LayerNorm(hidden)
            self.norm2 = nn.LayerNorm(hidden)

        def forward(self, x):
            batch, length, _ = x.shape
            qkv = self.qkv(self.norm(x)).view(batch, length, 3, heads, -1)
            q, k, v = (part.transpose(1, 2) for part in qkv.unbind(2))
            scores = torch.matmul(q, k.transpose(2, 3)) / q.shape[-1] ** 0.5
            mixed = torch.matmul(torch.softmax(scores, dim=-1), v)
            x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
            hidden_layer = nn.functional.gelu(self.up(self.norm2(x)))
            return x + self.down(hidden_layer)

    def inputs(batch, device):
        return ([torch.rand(batch, sequence, hidden, device=device)],
                torch.rand(batch, sequence, hidden, device=device))
    return Block(), inputs, nn.functional.mse_loss
