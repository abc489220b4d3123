#!/usr/bin/env python3
"""The kernel formulas of Lin et al. (2022, 2024).

usage: lin2022_formulas.py ROWS.json

ROWS.json is what `stepcast eval kernels --rows` wrote. Prints the GMAE of the
rows that are judged, by kind, GPU, type and timing. Formulas are for lookups
and for everything but products, convolutions and normalisations; for these the
papers have networks (lin2022_network.py).
"""
import collections
import dataclasses
import math
import sys

from rows import Errors, element_bytes, load

# What the authors measured with gpuroofperf, at the clocks they locked, by how
# the GPU's name begins: GFLOP/s, then GB/s of DRAM, L2 and PCIe.
MEASURED = {
    "v100": (15441.5, 804.497, 2847.5, 8.1),
    "a100": (15026.6, 1391.10, 2270.9, 8.1),
    "quadro-gv100": (13035.9, 601.05, 2466.7, 5.0),
    "titan-xp": (10768.6, 438.70, 1406.5, 3.43),
    "p100": (9343.7, 543.41, 1591.3, 7.62),
}
# Of other GPUs, close to the figures above: bytes per clock that an SM reads
# from L2, and the share of PCIe's rate that copies see.
L2_BYTES_PER_CLOCK = 24
PCIE_SHARE = 0.5

SECTOR_BYTES = 32
# Bytes that a bag needs whatever hits: its table's offset, its own offsets.
OFFSET_BYTES = 32 + 64
# Warps on an SM: 64 at an occupancy of 0.71 (2024).
WARPS_PER_SM = 45
SHARE_OF_L2 = 0.9

# Share of DRAM's rate that concatenation reaches, as the authors fitted it.
CONCAT_SHARE = 0.79
# FLOP per element in their table of small ops.
FLOP = {"transcendental": 175, "power": 180}
SOFTMAX_FLOP = 174
SOFTMAX_BACKWARD_FLOP = 2


@dataclasses.dataclass
class Peaks:
    """Units per microsecond."""
    flop: float
    dram: float
    l2: float
    pcie: float


def peaks_of(gpu):
    """As measured by the authors; on other GPUs what large kernels sustain."""
    for name, figures in MEASURED.items():
        if gpu.name.startswith(name):
            return Peaks(*(1e3 * figure for figure in figures))
    return Peaks(flop=gpu.fp32_tflops * 1e6,
                 dram=gpu.dram_gbs * gpu.copy_share * 1e3,
                 l2=L2_BYTES_PER_CLOCK * gpu.sm_count * gpu.clock_ghz * 1e3,
                 pcie=PCIE_SHARE * gpu.pcie_gbs * 1e3)


# Lookups.

def sectors(size):
    return math.ceil(size / SECTOR_BYTES) * SECTOR_BYTES


@dataclasses.dataclass
class Table:
    """One of `count` equal tables: bags of `ids` ids."""
    count: float
    rows: float
    dim: float
    ids: float
    bags: float
    weight_bytes: float  # Of a bag; twice as many if they are written back.
    index_bytes: float   # Of a bag.
    output_bytes: float  # Of a bag.

    @property
    def bytes(self):
        """Of a bag, whatever memory they are in."""
        return (OFFSET_BYTES + self.index_bytes + self.weight_bytes
                + self.output_bytes)


def is_forward(shape):
    return shape.get("pass", "forward") == "forward"


def tables_of(bag):
    """The tables by size; equal ones where they are not listed."""
    count = bag["tables"]

    def listed(key, otherwise):
        values = bag.get(key, [])
        values = values if isinstance(values, list) else [values]
        return values + [otherwise] * (count - len(values))

    sizes = collections.Counter(zip(
        listed("table_rows", bag["rows"] / count),
        listed("table_dims", bag["dim"]),
        listed("table_lookups", bag["lookups"] / count)))
    for (rows, dim, lookups), equal in sorted(sizes.items()):
        if lookups > 0:
            bags = bag["batch"] if bag.get("pooled", True) else lookups
            ids = lookups / bags
            passes = 1 if is_forward(bag) else 2
            yield Table(count=equal, rows=rows, dim=dim, ids=ids, bags=bags,
                        weight_bytes=passes * ids * sectors(4 * dim),
                        index_bytes=sectors(4 * ids),
                        output_bytes=sectors(4 * dim))


def embedding_simple_us(bag, gpu):
    """Every row comes from DRAM."""
    return sum(table.count * table.bags * table.bytes
               for table in tables_of(bag)) / peaks_of(gpu).dram


def bag_hit_rate(table, resident):
    """Of a whole bag, `resident` of a table's rows being in L2."""
    rate = 1.0
    for before in range(math.ceil(table.ids)):
        if resident <= before:
            return 0.0
        rate *= min(1.0, (resident - before) / max(table.rows - before, 1))
    return rate


def embedding_us(bag, gpu):
    """A bag hits L2 if all its rows do, which are uniform and independent.

    The formula of the published results, one table after the other.
    """
    peaks = peaks_of(gpu)
    total = 0
    for table in tables_of(bag):
        rows_per_block = max(256 // table.dim, 1)
        in_flight = math.ceil(gpu.sm_count * rows_per_block / table.bags)
        # The formula counts L2 in units of 2^20 bytes.
        resident = min(math.floor(gpu.l2_mb * 2**20 / in_flight),
                       4 * table.dim * table.rows)
        hits = bag_hit_rate(table, resident / (4 * table.dim))
        rest = table.weight_bytes * table.bags - resident
        l2 = table.bags * OFFSET_BYTES + hits * rest
        dram = (table.bags * (table.index_bytes + table.output_bytes)
                + (1 - hits) * rest + resident)
        time = max(dram / peaks.dram, l2 / peaks.l2)
        if not is_forward(bag):
            macs = table.bags * table.ids * table.dim
            time = max(time, macs / peaks.flop)
        total += table.count * time
    return total


def embedding_2024_us(bag, gpu):
    """Rows hit L2 one by one, with the expected number of distinct rows.

    Forward only; a backward gets the formula of 2022. Their curve of DRAM's
    bandwidth over size is left out: the rate is that of large transfers.
    """
    if not is_forward(bag):
        return embedding_us(bag, gpu)
    peaks = peaks_of(gpu)
    l2 = 0
    total = 0
    for table in tables_of(bag):
        lookups = table.bags * table.ids
        in_flight = math.ceil(gpu.sm_count * WARPS_PER_SM / table.bags)
        resident = min(
            math.floor(SHARE_OF_L2 * gpu.l2_mb * 2**20 / in_flight
                       / (4 * table.dim)),
            table.rows, lookups)
        # rows (1 - (1 - 1 / rows)^lookups), also for many rows.
        unique = (-table.rows * math.expm1(lookups * math.log1p(
            -1 / table.rows)) if table.rows > 1 else 1)
        missed = unique
        if unique > resident:
            missed = resident + ((lookups - resident)
                                 * (table.rows - resident) / table.rows)
        hit_bytes = (1 - missed / lookups) * table.bags * table.weight_bytes
        l2 += table.count * hit_bytes
        total += table.count * table.bags * table.bytes
    # Found empirically by the authors.
    narrow = 1 if bag["dim"] > 64 else 1.1 if bag["dim"] > 32 else 1.55
    return narrow * max((total - l2) / peaks.dram, l2 / peaks.l2)


# Small ops: FLOP and bytes of DRAM.

def _elementwise(op):
    return (FLOP.get(op.get("arithmetic"), 1) * op["elements"],
            op.get("read", 0) + op["written"])


def _reduction(op):
    return op["inputs"], op["inputs"] * element_bytes(op)


def _softmax(op):
    elements = op["rows"] * op["columns"]
    if is_forward(op):
        return SOFTMAX_FLOP * elements, 2 * elements * element_bytes(op)
    return SOFTMAX_BACKWARD_FLOP * elements, 4 * elements * element_bytes(op)


def _pooling(op):
    window = op["window"] if is_forward(op) else 2 * op["window"]
    return op["outputs"] * (window - 1), 2 * op["outputs"] * element_bytes(op)


def _transpose(op):
    return 0, 2 * op["elements"] * element_bytes(op)


def _index(op):
    width = element_bytes(op)
    if op.get("scatter"):
        return op["elements"], (2 * op["source"] + op["elements"]) * width
    return 0, (op["source"] + op["elements"]) * width


def _fill(op):
    """zero_, ones_like: two streams in their table, though one is enough."""
    return 0, 2 * op["bytes"]


def _optimizer_step(op):
    """One kernel of three streams for every parameter."""
    return op["elements"], 3 * op["elements"] * element_bytes(op)


SMALL_OPS = {"elementwise": _elementwise, "reduction": _reduction,
             "softmax": _softmax, "pooling": _pooling,
             "transpose": _transpose, "index": _index, "fill": _fill,
             "optimizer_step": _optimizer_step}


def roofline_us(shape, gpu):
    """The longer of arithmetic and traffic, without latency.

    None for families that their table of small ops does not have.
    """
    flop_and_bytes = SMALL_OPS.get(shape["family"])
    if flop_and_bytes is None:
        return None
    peaks = peaks_of(gpu)
    flop, moved = flop_and_bytes(shape)
    return max(flop / peaks.flop, moved / peaks.dram)


def concat_us(shape, gpu):
    return (2 * shape["elements"] * element_bytes(shape)
            / (CONCAT_SHARE * peaks_of(gpu).dram))


def memcpy_us(shape, gpu):
    """Bytes over PCIe's rate, whatever the kind of host memory."""
    peaks = peaks_of(gpu)
    if shape.get("kind") == "device_to_device":
        return 2 * shape["bytes"] / peaks.dram
    return shape["bytes"] / peaks.pcie


FORMULAS = {"embedding_bag": embedding_us, "concat": concat_us,
            "copy": memcpy_us}


def kernel_us(shape, gpu):
    """By the formula of 2022 that answers for a shape, or None."""
    return FORMULAS.get(shape["family"], roofline_us)(shape, gpu)


def row_us(row):
    """What the clock would show, or None if no kernel has a formula."""
    known = [time for time in (kernel_us(shape, row.gpu)
                               for shape in row.shapes) if time]
    return row.observed(math.fsum(known)) if known else None


def group_of(row):
    """(kind, GPU, type, timing), as the groups of `stepcast eval kernels`."""
    untyped = "" if row.shape["family"] in ("copy", "fill") else "unknown"
    return (row.kind, row.gpu.name, row.shape.get("dtype", untyped),
            row.timing)


def judge(rows):
    """Errors of groups, by group_of, and of the families of an aten group, by
    the group and the family; without those that have no formula."""
    errors = collections.defaultdict(Errors)
    for row in rows:
        time = row_us(row) if row.judged else None
        if time is not None:
            errors[group_of(row)].add(time, row.time_us)
            if row.kind == "aten":
                errors[(*group_of(row), row.shape["family"])].add(
                    time, row.time_us)
    return errors


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for group, errors in sorted(judge(load(sys.argv[1])).items()):
        print(f"{' '.join(filter(None, group)):48} n {len(errors):6}"
              f"  GMAE {errors.gmae_pct:6.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
