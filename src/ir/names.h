// The names of enumerators in text and JSON: one table per enum.
#ifndef STEPCAST_IR_NAMES_H_
#define STEPCAST_IR_NAMES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "ir/graph.h"
#include "ir/shape.h"

namespace stepcast::ir {

/// Names<E>::kList[i] is the name of the enumerator with value i.
template <typename E>
struct Names;

template <>
struct Names<DType> {
  static constexpr std::array<std::string_view, 13> kList = {
      "unknown", "fp64",  "fp32",  "tf32", "fp16",  "bf16", "fp8",
      "int64",   "int32", "int16", "int8", "uint8", "bool"};
};

template <>
struct Names<Pass> {
  static constexpr std::array<std::string_view, 4> kList = {
      "forward", "backward", "backward_data", "backward_weight"};
};

template <>
struct Names<Update> {
  static constexpr std::array<std::string_view, 7> kList = {
      "none", "sgd", "adagrad", "rowwise_adagrad", "adam", "lamb", "other"};
};

template <>
struct Names<BagKernel> {
  static constexpr std::array<std::string_view, 3> kList = {
      "table_batched", "atomic", "per_table"};
};

template <>
struct Names<BagPart> {
  static constexpr std::array<std::string_view, 4> kList = {
      "whole", "long_runs", "short_runs", "id_weights"};
};

template <>
struct Names<BagPlace> {
  static constexpr std::array<std::string_view, 3> kList = {"device", "managed",
                                                            "managed_cache"};
};

template <>
struct Names<Arithmetic> {
  static constexpr std::array<std::string_view, 4> kList = {
      "plain", "division", "transcendental", "power"};
};

template <>
struct Names<NormKind> {
  static constexpr std::array<std::string_view, 3> kList = {"layer", "batch",
                                                            "group"};
};

template <>
struct Names<SortKind> {
  static constexpr std::array<std::string_view, 4> kList = {"sort", "unique",
                                                            "scan", "search"};
};

template <>
struct Names<CopyKind> {
  static constexpr std::array<std::string_view, 6> kList = {
      "unknown",          "host_to_device", "device_to_host",
      "device_to_device", "peer_to_peer",   "host_to_host"};
};

template <>
struct Names<CollectiveKind> {
  static constexpr std::array<std::string_view, 9> kList = {
      "unknown",   "all_reduce", "all_to_all", "all_gather", "reduce_scatter",
      "broadcast", "reduce",     "send_recv",  "barrier"};
};

template <>
struct Names<ThreadRole> {
  static constexpr std::array<std::string_view, 3> kList = {"main", "autograd",
                                                            "other"};
};

template <>
struct Names<Phase> {
  static constexpr std::array<std::string_view, 6> kList = {
      "unknown", "data_loading", "sparse_data_dist",
      "forward", "backward",     "optimizer"};
};

template <>
struct Names<OpKind> {
  static constexpr std::array<std::string_view, 2> kList = {"op", "annotation"};
};

template <>
struct Names<Device> {
  static constexpr std::array<std::string_view, 3> kList = {"unknown", "cpu",
                                                            "gpu"};
};

template <>
struct Names<CallKind> {
  static constexpr std::array<std::string_view, 8> kList = {
      "launch",     "graph_launch", "device_sync", "stream_sync",
      "event_sync", "event_record", "stream_wait", "other"};
};

template <>
struct Names<ActivityKind> {
  static constexpr std::array<std::string_view, 4> kList = {
      "kernel", "memcpy", "memset", "collective"};
};

/// "forward", "all_to_all", ...
template <typename E>
requires requires {
  Names<E>::kList;
}
constexpr std::string_view Name(E value) {
  return Names<E>::kList.at(static_cast<size_t>(value));
}

/// The enumerator called `name`, if there is one.
template <typename E>
constexpr std::optional<E> FromName(std::string_view name) {
  constexpr auto kList = Names<E>::kList;
  for (size_t i = 0; i < kList.size(); ++i) {
    if (kList[i] == name) {
      return static_cast<E>(i);
    }
  }
  return std::nullopt;
}

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_NAMES_H_
