// Gathers the collectives of an execution trace, and learns from them and from
// the recorded process groups which rank this is, of how many.
#ifndef STEPCAST_INGEST_TORCH_ET_COLLECTIVES_H_
#define STEPCAST_INGEST_TORCH_ET_COLLECTIVES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "ingest/execution_trace.h"
#include "ingest/torch_et/collective_fields.h"
#include "ingest/torch_et/parsed_node.h"

namespace stepcast::ingest {

class Collectives {
 public:
  /// Looks at the node at `index` in the order of reading. `fields` is what its
  /// attributes say, if anything.
  void Add(const ParsedNode& parsed, size_t index, const StringPool& strings,
           const CollectiveFields& fields);

  /// Writes the text of every collective into its node, and rank, world size
  /// and backend into `info` where they can be told.
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

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_TORCH_ET_COLLECTIVES_H_
