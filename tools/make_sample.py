#!/usr/bin/env python3
"""Makes the sample that `stepcast sample` writes: a trace and its model file.

usage: make_sample.py [OUT_DIR]          default: data/sample

The trace has the form of PyTorch's profiler since 2024, but nothing was
recorded: this script plays eager PyTorch training a small DLRM on a V100. The
host runs ops and launches kernels one after another; a kernel starts when it
has been launched and its stream is free. The model has three habits that cost
time, for the tutorial to find: lookups table by table, input from pageable
memory, and a loss that is read in every step.

The same bytes come out every time.
"""
import contextlib
import gzip
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The model; model.toml says the same.
BATCH = 2048
DENSE = 13
BOTTOM = [512, 256, 64]
TOP = [512, 256, 1]
TABLES, ROWS, DIM, POOLING = 12, 40_000, 64, 8

STEPS = range(10, 15)
SEED = 1

# What a V100 reaches, and the least time of a kernel.
FLOPS, DRAM_BYTES = 15.7e6 * 0.6, 900e3 * 0.8  # Per microsecond.
FLOOR_US = 2.4
PAGEABLE_BYTES = 6.0e3  # Per microsecond, through a staging buffer.
LATENCY_US = 5.2  # From the end of a launch to the start of its kernel.
GAP_US = 1.0  # Between kernels of one stream.

# What the host takes, in microseconds.
LAUNCH_US, ENTER_US, LEAVE_US, BETWEEN_US = 5.4, 3.1, 2.3, 4.6
COPY_CALL_US, SYNC_CALL_US, RETURN_US = 6.0, 3.0, 6.0
LOADER_US, PYTHON_US = 310.0, 14.0

PID, MAIN, AUTOGRAD, STREAM = 4100, 4100, 4187, 7
BASE_NS = 1_760_000_000_000_000_000

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, {}>"
ADD = "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>"
FILL = "at::native::FillFunctor<float>, at::detail::Array<char*, 1>"
CLAMP = "at::native::launch_clamp_scalar, at::detail::Array<char*, 2>"
THRESHOLD = "at::native::threshold_kernel_impl, at::detail::Array<char*, 3>"
REDUCE = ("void at::native::reduce_kernel<{}, 1, at::native::ReduceOp<float, "
          "at::native::func_wrapper_t<float, at::native::sum_functor>>>")

MODEL = f"""\
# The model of the sample trace: a small DLRM for click-through rates.
source = "tools/make_sample.py"
batch = {BATCH:_}
dense_features = {DENSE}
bottom_mlp = {BOTTOM}
top_mlp = {TOP}
interaction = "dot"
loss = "bce"
optimizer = "sgd"

[[tables]]
count = {TABLES}
rows = {ROWS:_}
dim = {DIM}
pooling = {POOLING}
"""


class Tensor:
    """Sizes and type of an argument."""

    def __init__(self, *dims, dtype="float"):
        self.dims, self.dtype = list(dims), dtype

    def count(self):
        total = 1
        for size in self.dims:
            total *= size
        return total


class Recorder:
    """Plays host and GPU, and writes down what a profiler would see."""

    def __init__(self):
        self.random = random.Random(SEED)
        self.events = []
        self.now = 1000.0  # The host's clock: one thread runs at a time.
        self.thread = MAIN
        self.free = 0.0  # When the stream is.
        self.ids = self.sequence = 0
        self.correlation = 5000
        self.open = []  # External ids of the ops around.

    def spend(self, us):
        """The host is busy for about so long."""
        self.now += us * self.random.uniform(0.85, 1.2)

    def add(self, category, name, thread, start, length, arguments, pid=PID):
        self.events.append({
            "ph": "X", "cat": category, "name": name, "pid": pid,
            "tid": thread, "ts": round(start, 3), "dur": round(length, 3),
            "args": arguments})
        return self.events[-1]

    @contextlib.contextmanager
    def range(self, category, name, arguments, enter=ENTER_US, leave=LEAVE_US):
        self.ids += 1
        arguments = {"External id": self.ids, "Record function id": self.ids,
                     **arguments, "Ev Idx": self.ids - 1}
        event = self.add(category, name, self.thread, self.now, 0, arguments)
        self.open.append(self.ids)
        self.spend(enter)
        yield
        self.spend(leave)
        self.open.pop()
        event["dur"] = round(self.now - event["ts"], 3)

    def mark(self, name):
        """A range that user code named."""
        return self.range("user_annotation", name, {}, 1.0, 1.0)

    def op(self, name, *inputs, sequence=None, **costs):
        """An op; inputs are Tensors, lists of them, or plain values."""
        arguments = {}
        if sequence is not None:
            arguments["Sequence number"] = sequence
            arguments["Fwd thread id"] = 0 if self.thread == MAIN else 1
        if inputs:
            def dims(value):
                if isinstance(value, Tensor):
                    return value.dims
                return [dims(item) for item in value] if isinstance(
                    value, list) else []

            def kind(value):
                if isinstance(value, Tensor):
                    return value.dtype
                return "TensorList" if isinstance(value, list) else "Scalar"

            arguments["Concrete Inputs"] = [
                "" if isinstance(value, (Tensor, list)) else str(value)
                for value in inputs]
            arguments["Input type"] = [kind(value) for value in inputs]
            arguments["Input Dims"] = [dims(value) for value in inputs]
        return self.range("cpu_op", name, arguments, **costs)

    def call(self, name, us):
        """A call of the CUDA runtime; returns its event."""
        self.correlation += 1
        start = self.now
        self.spend(us)
        return self.add("cuda_runtime", name, self.thread, start,
                        self.now - start,
                        {"External id": self.open[-1],
                         "correlation": self.correlation})

    def device(self, category, name, call, us, **arguments):
        """Work on the stream, launched by `call`; returns when it ends."""
        length = max(FLOOR_US, us) * self.random.uniform(0.97, 1.05)
        ready = call["ts"] + call["dur"] + LATENCY_US
        start = max(ready, self.free + GAP_US)
        self.free = start + length
        self.add(category, name, STREAM, start, length,
                 {"External id": self.open[-1], "device": 0, "context": 1,
                  "stream": STREAM,
                  "correlation": call["args"]["correlation"], **arguments},
                 pid=0)
        return self.free

    def kernel(self, name, us, threads, block=128):
        self.device("kernel", name, self.call("cudaLaunchKernel", LAUNCH_US),
                    us, grid=[max(1, -(-threads // block)), 1, 1],
                    block=[block, 1, 1])

    def pointwise(self, name, count, tensors):
        """An elementwise kernel that moves so many FP32 tensors."""
        self.kernel(ELEMENTWISE.format(name), 4 * count * tensors / DRAM_BYTES,
                    count // 4)

    def product(self, layout, batch, m, n, k):
        compute = 2 * batch * m * n * k / FLOPS
        move = 4 * batch * (m * n + m * k + n * k) / DRAM_BYTES
        self.kernel(f"volta_sgemm_128x64_{layout}", 4 + max(compute, move),
                    batch * m * n // 64, 256)

    def wait(self, end):
        """The host waits until `end`, when the stream is done."""
        event = self.call("cudaStreamSynchronize", SYNC_CALL_US)
        self.now = max(self.now, end) + RETURN_US
        event["dur"] = round(self.now - event["ts"], 3)


def copy_in(r, tensor, item_bytes):
    """aten::to of a batch's tensor, from pageable memory: the host waits."""
    total = tensor.count() * item_bytes
    with r.op("aten::to", tensor, 4, 0, False, False, "None"):
        with r.op("aten::_to_copy", tensor, 4, 0, "cuda:0", False, False):
            with r.op("aten::empty_strided", [], [], 6, 0, "cuda:0", False):
                pass
            with r.op("aten::copy_", tensor, tensor, False):
                call = r.call("cudaMemcpyAsync", COPY_CALL_US)
                end = r.device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)",
                               call, total / PAGEABLE_BYTES, bytes=total)
                r.wait(end)
    r.spend(BETWEEN_US)


def linear(r, m, n, k, activation):
    """aten::linear with its activation; returns what backward needs."""
    r.spend(PYTHON_US)
    sequence = r.sequence
    with r.op("aten::linear", Tensor(m, k), Tensor(n, k), Tensor(n)):
        with r.op("aten::t", Tensor(n, k), sequence=sequence):
            with r.op("aten::transpose", Tensor(n, k), 0, 1):
                pass
        with r.op("aten::addmm", Tensor(n), Tensor(m, k), Tensor(k, n), 1, 1,
                  sequence=sequence + 1, enter=9.0):
            r.product("tn", 1, m, n, k)
    r.spend(BETWEEN_US)
    with r.op(f"aten::{activation}", Tensor(m, n), sequence=sequence + 2):
        if activation == "relu":
            with r.op("aten::clamp_min", Tensor(m, n), 0):
                r.pointwise(CLAMP, m * n, 2)
        else:
            r.pointwise("at::native::sigmoid_kernel_cuda", m * n, 2)
    r.sequence += 3
    return m, n, k, activation, sequence


def look_up(r, number):
    """nn.EmbeddingBag of one table; returns its number for backward."""
    r.spend(PYTHON_US)
    sequence, ids = r.sequence, BATCH * POOLING
    arguments = (Tensor(ROWS, DIM), Tensor(ids, dtype="long int"),
                 Tensor(BATCH, dtype="long int"), False, 0, False)
    with r.op("aten::embedding_bag", *arguments, sequence=sequence):
        with r.op("aten::_embedding_bag", *arguments, sequence=sequence,
                  enter=12.0):
            for _ in range(3):
                with r.op("aten::empty", [], 6, 0, "cuda:0", False):
                    pass
            # Rows that a batch reads more than once come from the L2 cache.
            moved = 4 * DIM * (0.7 * ids + BATCH) + 8 * ids
            r.kernel("void at::native::EmbeddingBag_updateOutputKernel_sum_"
                     "mean<float, long>", 6 + moved / DRAM_BYTES, BATCH * DIM)
    r.sequence += 1
    return sequence, number


def interact(r):
    """The dot products of all pairs of vectors; returns for backward."""
    vectors = TABLES + 1
    pairs = vectors * (vectors - 1) // 2
    joined = Tensor(BATCH, vectors * DIM)
    cube = Tensor(BATCH, vectors, DIM)
    square = Tensor(BATCH, vectors, vectors)
    sequence = r.sequence
    r.spend(PYTHON_US)
    with r.op("aten::cat", [Tensor(BATCH, DIM)] * vectors, 1,
              sequence=sequence):
        r.kernel("void at::native::(anonymous namespace)::"
                 "CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>",
                 8 * joined.count() / DRAM_BYTES, joined.count())
    with r.op("aten::view", joined, [BATCH], sequence=sequence + 1):
        pass
    with r.op("aten::transpose", cube, 1, 2, sequence=sequence + 2):
        pass
    with r.op("aten::bmm", cube, Tensor(BATCH, DIM, vectors),
              sequence=sequence + 3, enter=8.0):
        r.product("nn", BATCH, vectors, vectors, DIM)
    r.spend(PYTHON_US)
    with r.op("aten::index", square,
              [Tensor(), Tensor(pairs, dtype="long int"),
               Tensor(pairs, dtype="long int")], sequence=sequence + 4,
              enter=22.0):
        r.kernel("void at::native::index_elementwise_kernel<128, 4, "
                 "at::native::gpu_index_kernel>",
                 8 * BATCH * pairs / DRAM_BYTES * 3, BATCH * pairs)
    with r.op("aten::cat", [Tensor(BATCH, DIM), Tensor(BATCH, pairs)], 1,
              sequence=sequence + 5):
        r.kernel("void at::native::(anonymous namespace)::"
                 "CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>",
                 8 * BATCH * (DIM + pairs) / DRAM_BYTES, BATCH * DIM)
    r.sequence += 6
    return sequence, pairs


@contextlib.contextmanager
def backward(r, node, sequence):
    """A node of autograd's graph."""
    r.spend(BETWEEN_US)
    with r.op(f"autograd::engine::evaluate_function: {node}",
              sequence=sequence):
        with r.op(node, sequence=sequence):
            yield


def accumulate(r, *dims):
    """The gradient of a parameter, put where the optimizer finds it."""
    r.spend(BETWEEN_US)
    node = "torch::autograd::AccumulateGrad"
    with r.op(f"autograd::engine::evaluate_function: {node}"):
        with r.op(node, Tensor(*dims)):
            with r.op("aten::detach", Tensor(*dims)):
                pass


def linear_backward(r, layer, needs_input):
    m, n, k, activation, sequence = layer
    grad = Tensor(m, n)
    if activation == "relu":
        with backward(r, "ReluBackward0", sequence + 2):
            with r.op("aten::threshold_backward", grad, grad, 0):
                r.pointwise(THRESHOLD, m * n, 3)
    else:
        with backward(r, "SigmoidBackward0", sequence + 2):
            with r.op("aten::sigmoid_backward", grad, grad):
                r.pointwise("at::native::sigmoid_backward_kernel_cuda", m * n,
                            3)
    with backward(r, "AddmmBackward0", sequence + 1):
        if needs_input:
            with r.op("aten::t", Tensor(k, n)):
                pass
            with r.op("aten::mm", grad, Tensor(n, k), enter=8.0):
                r.product("nn", 1, m, k, n)
        with r.op("aten::t", grad):
            pass
        with r.op("aten::mm", Tensor(n, m), Tensor(m, k), enter=8.0):
            r.product("nt", 1, n, k, m)
        with r.op("aten::sum", grad, [0], True, "None", enter=7.0):
            r.kernel(REDUCE.format(128), 5 + 4 * m * n / DRAM_BYTES * 1.5, m * n)
    accumulate(r, n)
    with backward(r, "TBackward0", sequence):
        with r.op("aten::t", Tensor(k, n)):
            pass
    accumulate(r, n, k)


def interact_backward(r, interaction):
    sequence, pairs = interaction
    vectors = TABLES + 1
    cube, grad = Tensor(BATCH, vectors, DIM), Tensor(BATCH, vectors, vectors)
    with backward(r, "CatBackward0", sequence + 5):
        with r.op("aten::narrow", Tensor(BATCH, DIM + pairs), 1, 0, DIM):
            pass
    with backward(r, "IndexBackward0", sequence + 4):
        with r.op("aten::new_zeros", Tensor(BATCH, pairs), [], 6, 0):
            with r.op("aten::zero_", grad):
                with r.op("aten::fill_", grad, 0):
                    r.pointwise(FILL, grad.count(), 1)
        places = [Tensor(), Tensor(pairs, dtype="long int"),
                  Tensor(pairs, dtype="long int")]
        with r.op("aten::_index_put_impl_", grad, places,
                  Tensor(BATCH, pairs), True, True, enter=35.0):
            r.kernel("void at::native::indexing_backward_kernel<float, 4>",
                     12 * BATCH * pairs / DRAM_BYTES * 18, BATCH * pairs)
    with backward(r, "BmmBackward0", sequence + 3):
        with r.op("aten::bmm", Tensor(BATCH, vectors, vectors), cube,
                  enter=8.0):
            r.product("nn", BATCH, vectors, DIM, vectors)
        with r.op("aten::bmm", grad, cube, enter=8.0):
            r.product("nt", BATCH, vectors, DIM, vectors)
    with backward(r, "TransposeBackward0", sequence + 2):
        with r.op("aten::transpose", Tensor(BATCH, DIM, vectors), 1, 2):
            pass
    r.spend(BETWEEN_US)
    with r.op("aten::add", cube, cube, 1):
        r.pointwise(ADD, cube.count(), 3)
    with backward(r, "CatBackward0", sequence):
        for at in range(vectors):
            with r.op("aten::narrow", Tensor(BATCH, vectors * DIM), 1,
                      at * DIM, DIM):
                pass


def look_up_backward(r, lookup):
    """The gradient of a table as one dense tensor, nn.EmbeddingBag's way."""
    sequence, _ = lookup
    ids = Tensor(BATCH * POOLING, dtype="long int")
    bags = Tensor(BATCH, dtype="long int")
    table = Tensor(ROWS, DIM)
    arguments = (Tensor(BATCH, DIM), ids, bags, ids, bags)
    with backward(r, "EmbeddingBagBackward0", sequence):
        with r.op("aten::_embedding_bag_backward", *arguments, ROWS, False, 0,
                  False):
            with r.op("aten::_embedding_bag_dense_backward", *arguments, ROWS,
                      False, 0, enter=14.0):
                with r.op("aten::zeros", [], 6, 0, "cuda:0", False):
                    with r.op("aten::zero_", table):
                        with r.op("aten::fill_", table, 0):
                            r.pointwise(FILL, table.count(), 1)
                with r.op("aten::sort", ids, 0, False, enter=11.0):
                    r.kernel("void at_cuda_detail::cub::"
                             "DeviceRadixSortSingleTileKernel<long, long>",
                             12, ids.count())
                # Rows of a gradient are summed at random places.
                moved = 4 * DIM * (BATCH + 7.5 * ids.count())
                r.kernel("void at::native::compute_grad_weight_bags<float, "
                         "long>", 8 + moved / DRAM_BYTES, ids.count() * DIM)
    accumulate(r, ROWS, DIM)


def parameters():
    """The sizes of all parameters, tables last."""
    sizes, before = [], DENSE
    for width in BOTTOM:
        sizes += [(width, before), (width,)]
        before = width
    before = DIM + (TABLES + 1) * TABLES // 2
    for width in TOP:
        sizes += [(width, before), (width,)]
        before = width
    return sizes + [(ROWS, DIM)] * TABLES


def forward(r):
    layers, before = [], DENSE
    for width in BOTTOM:
        layers.append(linear(r, BATCH, width, before, "relu"))
        before = width
    lookups = [look_up(r, number) for number in range(TABLES)]
    interaction = interact(r)
    top, before = [], DIM + interaction[1]
    for width in TOP:
        top.append(linear(r, BATCH, width, before,
                          "relu" if width > 1 else "sigmoid"))
        before = width
    return layers, lookups, interaction, top


def loss(r):
    r.spend(PYTHON_US)
    column = Tensor(BATCH, 1)
    with r.op("aten::binary_cross_entropy", column, column, [], 1,
              sequence=r.sequence, enter=8.0):
        r.pointwise("at::native::binary_cross_entropy_out_kernel", BATCH, 3)
        with r.op("aten::mean", column, "None"):
            r.kernel(REDUCE.format(512), FLOOR_US, BATCH)
    r.sequence += 1


def run_backward(r, made):
    layers, lookups, interaction, top = made
    r.spend(22.0)
    r.thread = AUTOGRAD
    with backward(r, "BinaryCrossEntropyBackward0", r.sequence - 1):
        with r.op("aten::binary_cross_entropy_backward", Tensor(),
                  Tensor(BATCH, 1), Tensor(BATCH, 1), [], 1):
            r.pointwise("at::native::binary_cross_entropy_backward_kernel",
                        BATCH, 4)
    for layer in reversed(top):
        linear_backward(r, layer, True)
    interact_backward(r, interaction)
    for lookup in reversed(lookups):
        look_up_backward(r, lookup)
    for number, layer in reversed(list(enumerate(layers))):
        linear_backward(r, layer, number > 0)
    r.spend(18.0)
    r.thread = MAIN


def optimize(r):
    for dims in parameters():
        tensor = Tensor(*dims)
        with r.op("aten::add_", tensor, tensor, -0.1):
            r.pointwise(ADD, tensor.count(), 3)
        r.spend(BETWEEN_US)


def read_loss(r):
    """loss.item(), for a progress bar: the host waits for the device."""
    with r.op("aten::item", Tensor()):
        with r.op("aten::_local_scalar_dense", Tensor()):
            call = r.call("cudaMemcpyAsync", COPY_CALL_US)
            end = r.device("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)",
                           call, FLOOR_US, bytes=4)
            r.wait(end)


def step(r, number):
    with r.mark(f"ProfilerStep#{number}"):
        with r.mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter."
                    "__next__"):
            r.spend(LOADER_US)
        r.spend(PYTHON_US)
        copy_in(r, Tensor(BATCH, DENSE), 4)
        copy_in(r, Tensor(TABLES, BATCH, dtype="long int"), 8)
        for _ in range(TABLES):
            copy_in(r, Tensor(BATCH * POOLING, dtype="long int"), 8)
        copy_in(r, Tensor(BATCH, 1), 4)
        with r.mark("## forward ##"):
            made = forward(r)
            loss(r)
        with r.mark("Optimizer.zero_grad#SGD.zero_grad"):
            r.spend(2.0 * len(parameters()))
        run_backward(r, made)
        with r.mark("Optimizer.step#SGD.step"):
            optimize(r)
        read_loss(r)
    r.spend(6.0)


def trace_text():
    r = Recorder()
    for number in STEPS:
        step(r, number)
    for thread, name in ((MAIN, "thread 4100 (python)"),
                         (AUTOGRAD, "thread 4187 (pt_autograd_0)")):
        r.events.append({"ph": "M", "name": "thread_name", "pid": PID,
                         "tid": thread, "args": {"name": name}})
    head = {"schemaVersion": 1, "displayTimeUnit": "ms",
            "baseTimeNanoseconds": BASE_NS,
            "made_by": "tools/make_sample.py; not a recording",
            "deviceProperties": [{
                "id": 0, "name": "Tesla V100-SXM2-16GB",
                "totalGlobalMem": 16945512448, "computeMajor": 7,
                "computeMinor": 0, "numSms": 80}]}
    lines = ",\n".join(json.dumps(event) for event in r.events)
    return json.dumps(head)[:-1] + ', "traceEvents": [\n' + lines + "\n]}\n"


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else (
        ROOT / "data" / "sample")
    out.mkdir(parents=True, exist_ok=True)
    (out / "trace.json.gz").write_bytes(
        gzip.compress(trace_text().encode(), 9, mtime=0))
    (out / "model.toml").write_text(MODEL, encoding="utf-8")


if __name__ == "__main__":
    main()
