// Reads one node of a PyTorch execution trace, whatever the schema.
#ifndef STEPCAST_INGEST_TORCH_ET_NODE_READER_H_
#define STEPCAST_INGEST_TORCH_ET_NODE_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/json_read.h"
#include "base/string_pool.h"
#include "ingest/torch_et/collective_fields.h"
#include "ingest/torch_et/parsed_node.h"

namespace stepcast::ingest {

/// Goes by the members that are there, not by the version of the schema:
///
///   1.0.1  parent, rf_id, tid, ...; inputs[], input_shapes[], input_types[]
///   1.0.2  ctrl_deps; inputs{values, shapes, types}; attrs[{name, value}]
///   1.1.1  the same with strides
///
/// and what linkers add: ts and dur; device events with ph, cat and args.
class NodeReader {
 public:
  NodeReader(StringPool& strings, Diagnostics& diagnostics)
      : strings_(strings), diagnostics_(diagnostics) {}

  /// Nothing if the node cannot be used; then it has been counted.
  std::optional<ParsedNode> Read(JsonValue record);

  /// What the attributes of the last node said about a collective.
  const CollectiveFields& collective() const { return collective_; }

 private:
  void ReadMember(std::string_view key, JsonValue value, ParsedNode& parsed);
  bool ReadFlatArguments(std::string_view key, JsonValue value,
                         RawArguments& arguments);
  void ReadInputs(JsonValue value, RawArguments& arguments);
  void ReadOutputs(JsonValue value, RawArguments& arguments);
  void ReadAttributes(JsonValue list, ParsedNode& parsed);
  void ReadAttribute(std::string_view name, JsonValue value,
                     ParsedNode& parsed);
  void ReadEventArgs(JsonValue args, ParsedNode& parsed);
  void ReadParent(JsonValue value, ParsedNode& parsed);
  bool Finish(ParsedNode& parsed);

  std::optional<int64_t> IntegerOf(JsonValue value);
  std::optional<Duration> TimeOf(JsonValue value, bool may_be_negative);
  std::string_view TextOf(JsonValue value);
  StringId InternList(JsonValue value);

  StringPool& strings_;
  Diagnostics& diagnostics_;
  CollectiveFields collective_;
  bool has_collective_ = false;
  std::string buffer_;
  // Of the current node.
  bool has_name_ = false;
  std::optional<int64_t> id_;
  std::string_view category_;  // A view into the record.
  std::optional<int64_t> event_stream_;
};

/// The same list without line breaks and indentation, so that equal lists have
/// equal text: "[16, 13]". `buffer` holds it if it had to change.
std::string_view WithoutLayout(std::string_view json, std::string& buffer);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_TORCH_ET_NODE_READER_H_
