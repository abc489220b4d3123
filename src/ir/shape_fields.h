// The families of shapes with their fields, each listed once: for the text
// form, for hashing, and for telling what must be known.
#ifndef STEPCAST_IR_SHAPE_FIELDS_H_
#define STEPCAST_IR_SHAPE_FIELDS_H_

#include <string_view>
#include <tuple>

#include "ir/shape.h"

namespace stepcast::ir {

/// Whether a shape is sized without this field: a kNeeded one must be above 0
/// or, for enums, not kUnknown.
enum class Need { kOptional, kNeeded };

/// One field of a family: its key in the text form and where it is stored.
template <typename S, typename T>
struct Field {
  std::string_view key;
  T S::*member = nullptr;
  Need need = Need::kOptional;
};
template <typename S, typename T>
Field(std::string_view, T S::*) -> Field<S, T>;
template <typename S, typename T>
Field(std::string_view, T S::*, Need) -> Field<S, T>;

/// Family<S>::kName is the first word of the text, kFields a tuple of Field.
template <typename S>
struct Family;

template <>
struct Family<Opaque> {
  static constexpr std::string_view kName = "opaque";
  static constexpr std::tuple<> kFields{};
};

template <>
struct Family<Gemm> {
  static constexpr std::string_view kName = "gemm";
  static constexpr std::tuple kFields{
      Field{"batch", &Gemm::batch, Need::kNeeded},
      Field{"m", &Gemm::m, Need::kNeeded},
      Field{"n", &Gemm::n, Need::kNeeded},
      Field{"k", &Gemm::k, Need::kNeeded},
      Field{"transpose_a", &Gemm::transpose_a},
      Field{"transpose_b", &Gemm::transpose_b},
      Field{"dtype", &Gemm::dtype, Need::kNeeded}};
};

template <>
struct Family<EmbeddingBag> {
  static constexpr std::string_view kName = "embedding_bag";
  static constexpr std::tuple kFields{
      Field{"tables", &EmbeddingBag::tables, Need::kNeeded},
      Field{"rows", &EmbeddingBag::rows, Need::kNeeded},
      Field{"dim", &EmbeddingBag::dim, Need::kNeeded},
      Field{"batch", &EmbeddingBag::batch, Need::kNeeded},
      Field{"lookups", &EmbeddingBag::lookups, Need::kNeeded},
      Field{"dtype", &EmbeddingBag::dtype, Need::kNeeded},
      Field{"pass", &EmbeddingBag::pass},
      Field{"update", &EmbeddingBag::update},
      Field{"pooled", &EmbeddingBag::pooled},
      Field{"index_dtype", &EmbeddingBag::index_dtype},
      Field{"index_alpha", &EmbeddingBag::index_alpha},
      Field{"warm", &EmbeddingBag::warm},
      Field{"unique_rows", &EmbeddingBag::unique_rows},
      Field{"kernel", &EmbeddingBag::kernel},
      Field{"part", &EmbeddingBag::part},
      Field{"place", &EmbeddingBag::place},
      Field{"cache_rows", &EmbeddingBag::cache_rows},
      Field{"longest_bag", &EmbeddingBag::longest_bag},
      Field{"max_dim", &EmbeddingBag::max_dim},
      Field{"table_rows", &EmbeddingBag::table_rows},
      Field{"table_dims", &EmbeddingBag::table_dims},
      Field{"table_lookups", &EmbeddingBag::table_lookups}};
};

template <>
struct Family<Interaction> {
  static constexpr std::string_view kName = "interaction";
  static constexpr std::tuple kFields{
      Field{"batch", &Interaction::batch, Need::kNeeded},
      Field{"features", &Interaction::features, Need::kNeeded},
      Field{"dim", &Interaction::dim, Need::kNeeded},
      Field{"dtype", &Interaction::dtype, Need::kNeeded},
      Field{"pass", &Interaction::pass}};
};

template <>
struct Family<Elementwise> {
  static constexpr std::string_view kName = "elementwise";
  // Nothing may be read (a range) and the types may be mixed: bytes decide.
  static constexpr std::tuple kFields{
      Field{"elements", &Elementwise::elements, Need::kNeeded},
      Field{"read", &Elementwise::read},
      Field{"written", &Elementwise::written, Need::kNeeded},
      Field{"dtype", &Elementwise::dtype},
      Field{"arithmetic", &Elementwise::arithmetic},
      Field{"scattered", &Elementwise::scattered}};
};

template <>
struct Family<Reduction> {
  static constexpr std::string_view kName = "reduction";
  static constexpr std::tuple kFields{
      Field{"inputs", &Reduction::inputs, Need::kNeeded},
      Field{"outputs", &Reduction::outputs, Need::kNeeded},
      Field{"dtype", &Reduction::dtype, Need::kNeeded},
      Field{"strided", &Reduction::strided}};
};

template <>
struct Family<Softmax> {
  static constexpr std::string_view kName = "softmax";
  static constexpr std::tuple kFields{
      Field{"rows", &Softmax::rows, Need::kNeeded},
      Field{"columns", &Softmax::columns, Need::kNeeded},
      Field{"dtype", &Softmax::dtype, Need::kNeeded},
      Field{"pass", &Softmax::pass}};
};

template <>
struct Family<Normalization> {
  static constexpr std::string_view kName = "normalization";
  static constexpr std::tuple kFields{
      Field{"kind", &Normalization::kind},
      Field{"rows", &Normalization::rows, Need::kNeeded},
      Field{"columns", &Normalization::columns, Need::kNeeded},
      Field{"dtype", &Normalization::dtype, Need::kNeeded},
      Field{"pass", &Normalization::pass}};
};

template <>
struct Family<Convolution> {
  static constexpr std::string_view kName = "convolution";
  static constexpr std::tuple kFields{
      Field{"batch", &Convolution::batch, Need::kNeeded},
      Field{"in_channels", &Convolution::in_channels, Need::kNeeded},
      Field{"height", &Convolution::height, Need::kNeeded},
      Field{"width", &Convolution::width, Need::kNeeded},
      Field{"out_channels", &Convolution::out_channels, Need::kNeeded},
      Field{"kernel_height", &Convolution::kernel_height, Need::kNeeded},
      Field{"kernel_width", &Convolution::kernel_width, Need::kNeeded},
      Field{"stride", &Convolution::stride, Need::kNeeded},
      Field{"padding", &Convolution::padding},
      Field{"groups", &Convolution::groups, Need::kNeeded},
      Field{"dtype", &Convolution::dtype, Need::kNeeded},
      Field{"pass", &Convolution::pass}};
};

template <>
struct Family<Pooling> {
  static constexpr std::string_view kName = "pooling";
  static constexpr std::tuple kFields{
      Field{"inputs", &Pooling::inputs, Need::kNeeded},
      Field{"outputs", &Pooling::outputs, Need::kNeeded},
      Field{"window", &Pooling::window, Need::kNeeded},
      Field{"dtype", &Pooling::dtype, Need::kNeeded},
      Field{"pass", &Pooling::pass},
      Field{"average", &Pooling::average}};
};

template <>
struct Family<Attention> {
  static constexpr std::string_view kName = "attention";
  static constexpr std::tuple kFields{
      Field{"batch", &Attention::batch, Need::kNeeded},
      Field{"heads", &Attention::heads, Need::kNeeded},
      Field{"queries", &Attention::queries, Need::kNeeded},
      Field{"keys", &Attention::keys, Need::kNeeded},
      Field{"dim", &Attention::dim, Need::kNeeded},
      Field{"dtype", &Attention::dtype, Need::kNeeded},
      Field{"pass", &Attention::pass}};
};

template <>
struct Family<Concat> {
  static constexpr std::string_view kName = "concat";
  static constexpr std::tuple kFields{
      Field{"tensors", &Concat::tensors, Need::kNeeded},
      Field{"elements", &Concat::elements, Need::kNeeded},
      Field{"dtype", &Concat::dtype, Need::kNeeded}};
};

template <>
struct Family<Transpose> {
  static constexpr std::string_view kName = "transpose";
  static constexpr std::tuple kFields{
      Field{"elements", &Transpose::elements, Need::kNeeded},
      Field{"run", &Transpose::run},
      Field{"dtype", &Transpose::dtype, Need::kNeeded}};
};

template <>
struct Family<Index> {
  static constexpr std::string_view kName = "index";
  static constexpr std::tuple kFields{
      Field{"elements", &Index::elements, Need::kNeeded},
      Field{"source", &Index::source, Need::kNeeded},
      Field{"scatter", &Index::scatter},
      Field{"accumulate", &Index::accumulate},
      Field{"slice", &Index::slice},
      Field{"dtype", &Index::dtype, Need::kNeeded}};
};

template <>
struct Family<Sort> {
  static constexpr std::string_view kName = "sort";
  static constexpr std::tuple kFields{
      Field{"kind", &Sort::kind},
      Field{"elements", &Sort::elements, Need::kNeeded},
      Field{"dtype", &Sort::dtype, Need::kNeeded}};
};

template <>
struct Family<Copy> {
  static constexpr std::string_view kName = "copy";
  static constexpr std::tuple kFields{
      Field{"kind", &Copy::kind, Need::kNeeded},
      Field{"bytes", &Copy::bytes, Need::kNeeded},
      Field{"pinned", &Copy::pinned}};
};

template <>
struct Family<Fill> {
  static constexpr std::string_view kName = "fill";
  static constexpr std::tuple kFields{
      Field{"bytes", &Fill::bytes, Need::kNeeded}};
};

template <>
struct Family<OptimizerStep> {
  static constexpr std::string_view kName = "optimizer_step";
  static constexpr std::tuple kFields{
      Field{"update", &OptimizerStep::update},
      Field{"tensors", &OptimizerStep::tensors, Need::kNeeded},
      Field{"elements", &OptimizerStep::elements, Need::kNeeded},
      Field{"dtype", &OptimizerStep::dtype, Need::kNeeded}};
};

template <>
struct Family<Random> {
  static constexpr std::string_view kName = "random";
  static constexpr std::tuple kFields{
      Field{"elements", &Random::elements, Need::kNeeded},
      Field{"dtype", &Random::dtype, Need::kNeeded}};
};

template <>
struct Family<Collective> {
  static constexpr std::string_view kName = "collective";
  // IsSized looks at the bytes itself: a barrier has none.
  static constexpr std::tuple kFields{
      Field{"kind", &Collective::kind, Need::kNeeded},
      Field{"bytes", &Collective::bytes},
      Field{"group", &Collective::group_size, Need::kNeeded},
      Field{"dtype", &Collective::dtype},
      Field{"send", &Collective::send_splits},
      Field{"receive", &Collective::receive_splits}};
};

/// Calls visit(field) for every field of the family S, in order.
template <typename S, typename Visit>
constexpr void ForEachField(Visit&& visit) {
  std::apply([&](const auto&... fields) { (visit(fields), ...); },
             Family<S>::kFields);
}

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_SHAPE_FIELDS_H_
