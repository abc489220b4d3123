#include "ir/describe.h"

#include <fmt/format.h>

#include "base/text_table.h"
#include "ir/names.h"

namespace stepcast::ir {
namespace {

template <typename IdType, typename T>
std::string Named(const GraphData& data, std::string_view kind, IdType id,
                  const IdVector<IdType, T>& items) {
  if (id.value >= items.size() || items[id].name.value >= data.strings.size()) {
    return fmt::format("{} {}", kind, id.value);
  }
  const std::string_view name = data.strings.view(items[id].name);
  return fmt::format("{} {} '{}'", kind, id.value, ShownText(name));
}

}  // namespace

// A damaged file may have a word of megabytes.
std::string ShownText(std::string_view text) {
  // Long enough for most kernel names to be told apart.
  constexpr size_t kShownWidth = 60;
  return Printable(ElideMiddle(text, kShownWidth));
}

std::string Describe(const GraphData& data, RankId id) {
  return id.value < data.ranks.size()
             ? fmt::format("rank {}", data.ranks[id].number)
             : fmt::format("rank id {}", id.value);
}

std::string Describe(const GraphData& data, ThreadId id) {
  return Named(data, "thread", id, data.threads);
}

std::string Describe(const GraphData& data, StreamId id) {
  if (id.value >= data.streams.size()) {
    return fmt::format("stream id {}", id.value);
  }
  const Stream& stream = data.streams[id];
  return fmt::format("stream {} on device {} of {}", stream.number,
                     stream.device, Describe(data, stream.rank));
}

std::string Describe(const GraphData& data, OpId id) {
  return Named(data, "op", id, data.ops);
}

std::string Describe(const GraphData& data, CallId id) {
  return Named(data, "call", id, data.calls);
}

std::string Describe(const GraphData& data, WorkId id) {
  return Named(data, "work", id, data.works);
}

std::string Describe(const GraphData& data, CollectiveId id) {
  return id.value < data.collectives.size()
             ? fmt::format("collective {} ({})", id.value,
                           Name(data.collectives[id].kind))
             : fmt::format("collective {}", id.value);
}

}  // namespace stepcast::ir
