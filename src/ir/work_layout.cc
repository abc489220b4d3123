#include "ir/work_layout.h"

namespace stepcast::ir {

WorkLayout::WorkLayout(const GraphData& data)
    : first_(size_t{data.calls.size()} + 1),
      orphans_(data.ranks.size()),
      first_on_stream_(data.streams.size()),
      numbered_(data.streams.size(), 0) {
  for (const Work& work : data.works) {
    if (work.call.valid()) {
      ++first_[size_t{work.call.value} + 1];
    }
  }
  for (size_t i = 1; i < first_.size(); ++i) {
    first_[i] += first_[i - 1];
  }
  launched_.resize(first_.back());
  std::vector<uint32_t> next = first_;
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    if (work.call.valid()) {
      launched_[next[work.call.value]++] = id;
    } else {
      orphans_[data.streams[work.stream].rank].push_back(id);
    }
  }
  FindNumbered(data);
}

void WorkLayout::FindNumbered(const GraphData& data) {
  // The place of each work's line. The orphans of a rank stand behind its
  // calls; other ranks do not matter, since a stream belongs to one.
  IdVector<WorkId, uint32_t> line(data.works.size());
  uint32_t next = 0;
  for (const WorkId id : launched_) {
    line[id] = next++;
  }
  IdVector<StreamId, char> all_timed(data.streams.size(), 1);
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    if (!work.call.valid()) {
      line[id] = next++;
    }
    if (!StartOf(work.measured)) {
      all_timed[work.stream] = 0;
    }
  }
  StreamId stream{};
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    if (work.stream != stream) {
      stream = work.stream;
      first_on_stream_[stream] = id.value;
      continue;
    }
    const WorkId before{id.value - 1};
    const bool time_decides =
        all_timed[stream] != 0 &&
        data.works[before].measured->start < work.measured->start;
    if (!time_decides && line[before] > line[id]) {
      numbered_[stream] = 1;
    }
  }
}

}  // namespace stepcast::ir
