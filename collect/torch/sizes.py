"""The ranges that shapes are sampled from.

`papers`: section "microbenchmarks" of the repository of Lin et al.
(owensgroup/ml_perf_model). `small`: the same operators at what a step of a
small model has, for processors and for short budgets.
"""


def _powers(low, high):
    values = []
    while low <= high:
        values.append(low)
        low *= 2
    return values


# Multiples of 32 and the same plus 8: products that fill tiles, and not.
_GEMM = [32, 64, 96, 128, 160, 192, 224, 256, 264, 320, 328, 384, 392, 448,
         456, 512, 520, 640, 648, 768, 776, 896, 904, 1024, 1032, 1536, 1544,
         2048, 2056, 3080, 3088, 4096, 4104]
_PLANE = [64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
          6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536]
_ROWS = [1000, 2000, 5000, 7500, 10000, 20000, 50000, 75000, 100000, 200000,
         500000, 750000, 1000000, 2000000, 5000000, 7500000, 10000000]

PAPERS = {
    "gemm_m": _GEMM, "gemm": _GEMM,
    "bmm_batch": [512, 1024, 2048, 4096], "bmm": _GEMM[:25],
    "features": list(range(5, 41)), "dims": [32, 64, 128, 256],
    "rows": _ROWS, "batch": _powers(128, 4096),
    "lookups": [1, 8, 16, 32, 38, 64, 128],
    "concat_batch": [1, *_powers(128, 4096)],
    "concat_m": [64, 198, 256, 512, 1024, 32768],
    "concat_n": [1, 16, 64, 198, 225, 256, 287, 512],
    "concat_k": [15, 64, 197, 256, 512, 1024, 1281, 2048, 3482, 4096, 32768],
    "plane": _PLANE, "plane_rows": [1, 16, *_PLANE],
    "conv_batch": [1, 8, 16, 32, 64, 128],
    "hw": [7, 8, 14, 17, 28, 35, 56, 71, 73, 112, 147, 149, 224, 299],
    "image": [224, 299],
    "channels": [3, *_powers(16, 2048)], "out": _powers(16, 2048),
    "area": (1500, 15000),
    "copy": [m * n for m in _powers(64, 65536) for n in (64, 1024, 16384)],
}

_SMALL_GEMM = [1, 4, 8, 13, 16, 24, 32, 48, 64, 80, 96, 100, 128, 144, 160,
               192, 224, 256, 288, 320, 384, 400, 448, 512, 640, 768, 1024]

SMALL = {
    "gemm_m": _powers(4, 1024) + [24, 48, 96, 192, 384, 768],
    "gemm": _SMALL_GEMM,
    "bmm_batch": [8, *_powers(16, 1024)],
    "bmm": [4, 8, 16, 24, 32, 48, 64, 96, 128],
    "features": list(range(3, 31)), "dims": [8, 16, 32, 64, 128],
    "rows": _ROWS[:12], "batch": _powers(16, 1024),
    "lookups": [1, 2, 4, 8, 16, 32, 64, 100],
    "concat_batch": [1, *_powers(16, 1024)],
    "concat_m": [8, 16, 64, 198, 256], "concat_n": [1, 16, 64, 198],
    "concat_k": [15, 64, 128, 197, 256, 512],
    "plane": [1, 4, 16, 32, 64, 100, 128, 192, 256, 384, 512, 768, 1024,
              1536, 2048, 4096],
    "plane_rows": [1, 4, 8, *_powers(16, 4096)],
    "conv_batch": [1, 2, 4, 8, 16, 32],
    "hw": [4, 7, 8, 14, 16, 28, 32, 56, 64], "image": [28, 32, 64],
    "channels": [3, *_powers(8, 256)], "out": _powers(8, 256),
    "area": (128, 4096),
    "copy": [m * n for m in _powers(1, 4096) for n in (1, 20, 64, 100, 1024)],
}

RANGES = {"papers": PAPERS, "small": SMALL}
