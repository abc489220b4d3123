// What PyTorch records about a collective along with its kernel or op.
#ifndef STEPCAST_TRACE_CLASSIFY_COLLECTIVE_RECORD_H_
#define STEPCAST_TRACE_CLASSIFY_COLLECTIVE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::trace {

struct CollectiveRecord {
  std::string name;                 // "allreduce", "all_to_allv", "wait"
  std::string dtype;                // "Float", "Long"
  int64_t in_elements = 0;          // This rank's input.
  int64_t out_elements = 0;         // ...
  int64_t group_size = 0;           // Ranks taking part; 0 if unknown.
  std::vector<int64_t> in_splits;   // Elements to each peer, if uneven.
  std::vector<int64_t> out_splits;  // Elements from each peer.
};

/// Reads the args object of an event:
///
///   {"Collective name": "allreduce", "In msg nelems": 6637568,
///    "Group size": 2, "dtype": "Float", "In split size": "[]", ...}
///
/// Members it does not know are skipped. Nothing if the text is not an object
/// or names no collective.
std::optional<CollectiveRecord> ParseCollectiveRecord(std::string_view text);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_COLLECTIVE_RECORD_H_
