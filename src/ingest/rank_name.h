// The rank that a file's name tells.
#ifndef STEPCAST_INGEST_RANK_NAME_H_
#define STEPCAST_INGEST_RANK_NAME_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepcast::ingest {

/// From the ways people name traces: rank3.json, rank-3.json.gz, rank_3,
/// worker3_step_12.pt.trace.json, dlrm.3.et, dlrm_eg_3_plus.json, run/3.json.
/// Nothing if the name tells none.
std::optional<int64_t> RankFromName(std::string_view path);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_RANK_NAME_H_
