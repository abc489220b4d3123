"""GPUs and rows for tests."""
import random

from rows import Gpu, Row

V100 = Gpu(name="v100-sxm-16gb", generation="volta", sm_count=80,
           fp32_lanes_per_sm=64, clock_ghz=1.53, fp32_tflops=15.7, l2_mb=6,
           dram_gbs=900, copy_share=0.9, pcie_gbs=15.75)
H100 = Gpu(name="h100-sxm-80gb", generation="hopper", sm_count=132,
           fp32_lanes_per_sm=128, clock_ghz=1.98, fp32_tflops=67, l2_mb=50,
           dram_gbs=3350, copy_share=0.9, pcie_gbs=63)


def products(count):
    """Single products on a V100 that does 1e7 flop/us and never takes less than
    5 us; eight tenths to fit, a tenth each to choose and to test."""
    draw = random.Random(1)
    rows = []
    for i in range(count):
        m, n, k = (draw.randint(16, 2048) for _ in range(3))
        flop = 2 * m * n * k
        part = {8: "validation", 9: "test"}.get(i % 10, "fit")
        rows.append(Row(
            kind="gemm", op="linear", gpu=V100, timing="profiler", part=part,
            shapes=[{"family": "gemm", "batch": 1, "m": m, "n": n, "k": k,
                     "dtype": "fp32"}],
            time_us=5 + 1e-7 * flop, judged=True,
            roofline_us=flop / 15.7e6))
    return rows
