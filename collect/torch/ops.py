"""Which builder makes which operator of a sweep."""
import ops_copy
import ops_dense
import ops_image
import ops_sparse

_BY_KIND = {
    "gemm": ops_dense.gemm, "elementwise": ops_dense.elementwise,
    "layernorm": ops_dense.rowwise, "softmax": ops_dense.rowwise,
    "conv2d": ops_image.conv, "embedding_bag": ops_sparse.bag,
    "embedding_lookup": ops_sparse.lookup, "concat": ops_copy.concat,
    "memcpy": ops_copy.memcpy, "launch": ops_copy.launch,
}
_ATEN = {"transpose": ops_copy.transpose, "tril_fwd": ops_sparse.tril,
         "tril_bwd": ops_sparse.tril, "batch_norm_fwd": ops_image.image,
         "batch_norm_bwd": ops_image.image, "max_pool": ops_image.image,
         "max_pool_bwd": ops_image.image, "avg_pool": ops_image.image}


def build(env, point):
    """The point as a Case, or None if this PyTorch or device has no such
    operator."""
    if point["kind"] == "aten":
        return _ATEN.get(point["op"], ops_dense.plane)(env, point)
    return _BY_KIND[point["kind"]](env, point)


def kind_of(point, row):
    """The table a row goes into: the SGD step of a table is an aten row."""
    if "input_strides" in row:
        return "aten"
    return point["kind"]
