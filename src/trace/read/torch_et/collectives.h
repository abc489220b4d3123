// Gathers the collectives of an execution trace, and learns from them and from
// the recorded process groups which rank this is, of how many.
#ifndef STEPCAST_TRACE_READ_TORCH_ET_COLLECTIVES_H_
#define STEPCAST_TRACE_READ_TORCH_ET_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/string_pool.h"
#include "trace/read/execution_trace.h"
#include "trace/read/torch_et/parsed_node.h"

namespace stepcast::trace {

// What an execution trace says about one collective, in one form for all the
// ways schemas write it.

/// Absent texts are empty.
struct CollectiveFields {
  std::string name;   // "all_to_allv"; "wait" for the wait of one.
  std::string dtype;  // "Float", "float", "Long", ...
  std::optional<int64_t> in_elements;
  std::optional<int64_t> out_elements;
  std::string in_splits;   // "[768, 768]": elements to each peer.
  std::string out_splits;  // Elements from each peer.
  std::string group_name;  // "0"
  std::string group_description;
  std::optional<int64_t> group_size;
  std::optional<int64_t> rank_start;   // Of the group, in the whole job.
  std::optional<int64_t> rank_stride;  // ...

  bool empty() const { return name.empty(); }
};

/// The fields as a JSON object with the keys of profiler traces ("Collective
/// name", "In msg nelems", "Group size", ...); absent ones are left out.
std::string CollectiveText(const CollectiveFields& fields);

/// Where the integer or text attribute `name` ("pg_size", "in_split_size") of
/// schema 1.0.3 and later belongs; null if it says nothing about collectives.
std::optional<int64_t>* FindCollectiveInteger(std::string_view name,
                                              CollectiveFields& fields);
std::string* FindCollectiveText(std::string_view name,
                                CollectiveFields& fields);

/// A collective as schemas before 1.0.3 write it: by position in the inputs of
/// record_param_comms.
struct PositionalCollective {
  CollectiveFields fields;
  /// Of this process in the group, or the root's for rooted collectives.
  std::optional<int64_t> rank;
  /// In schema 1.0.1 a group's name is an address in this process.
  std::optional<int64_t> group_address;
  int64_t split_count = 0;  // Peers, where splits are recorded.
};

/// The recorded arguments of record_param_comms, as JSON or Python text:
///
///   [tensors,] sequence, group, rank, name, in splits, out splits
///   [, rank start, rank stride, group size]
///
/// Nothing if they are not of this form.
std::optional<PositionalCollective> ParsePositional(
    std::string_view values, std::string_view types,
    std::string_view out_values);

/// Elements and bytes of one element of the first tensor or list of tensors in
/// `values`, as execution traces write them:
///
///   [[id, storage, offset, elements, bytes per element, "cuda:0"], ...]
struct TensorExtent {
  int64_t elements = 0;  // Over the list.
  int64_t element_bytes = 0;
  std::string dtype{};  // "float", from the types.
};
std::optional<TensorExtent> FirstTensor(std::string_view values,
                                        std::string_view types);

class Collectives {
 public:
  /// Looks at the node at `index` in the order of reading. `fields` is what its
  /// attributes say, if anything.
  void Add(const ParsedNode& parsed, size_t index, const StringPool& strings,
           const CollectiveFields& fields);

  /// Writes the text of every collective into its node, and rank, world size
  /// and backend into `info` where they are known.
  void Finish(std::vector<ParsedNode>& nodes, StringPool& strings,
              TraceInfo& info) const;

 private:
  struct Seen {
    size_t node = 0;
    PositionalCollective collective{};
  };

  void FindSelf(TraceInfo& info) const;

  std::vector<Seen> seen_;
  std::string process_groups_;  // The text of the first list of groups.
};

/// Reads what the recorder says about the process groups:
///   [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl",
///     "group_size": 8, ...}, ...]
/// World size and backend are those of the default group.
void ReadProcessGroups(std::string_view json, TraceInfo& info);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_TORCH_ET_COLLECTIVES_H_
