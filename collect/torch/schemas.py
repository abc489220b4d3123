"""The columns of each kind of CSV file, in order.

docs/formats/kernel_csv.md says what they mean.
"""
_TAIL = ["time_us", "min_us", "count", "outliers", "timing", "kernel_names",
         "source"]

COLUMNS = {
    "gemm": ["gpu", "dtype", "batch", "m", "n", "k", "layout", "bias",
             *_TAIL],
    "elementwise": ["gpu", "op", "dtype", "num_inputs", "rows", "cols",
                    *_TAIL],
    "layernorm": ["gpu", "dtype", "direction", "rows", "cols", *_TAIL],
    "softmax": ["gpu", "dtype", "direction", "rows", "cols", *_TAIL],
    "conv2d": ["gpu", "dtype", "direction", "batch", "in_channels",
               "in_size", "out_channels", "kernel", "stride", "padding",
               *_TAIL],
    "embedding_lookup": ["gpu", "dtype", "direction", "table_rows", "dim",
                         "lookups", *_TAIL],
    "embedding_bag": ["gpu", "impl", "direction", "optimizer", "dtype",
                      "location", "num_tables", "rows_per_table", "dim",
                      "batch", "lookups_per_bag", "pooling", "index_dist",
                      "unique_rows", *_TAIL],
    "memcpy": ["gpu", "kind", "host_memory", "bytes", *_TAIL],
    "concat": ["gpu", "dtype", "dim", "num_inputs", "input_dims",
               "out_elements", *_TAIL],
    "aten": ["gpu", "op", "dtype", "input_dims", "input_strides",
             "concrete_inputs", *_TAIL],
    "launch": ["gpu", "launch", *_TAIL],
}
