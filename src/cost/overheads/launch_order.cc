#include "cost/overheads/launch_order.h"

#include <algorithm>

namespace stepcast::cost {
namespace {

// Of one item of autograd's thread; as in Burst.
struct Place {
  size_t main_before = 0;
  size_t main_until = 0;
  size_t next_main = std::numeric_limits<size_t>::max();
};

class PlaceFinder {
 public:
  PlaceFinder(const ir::GraphData& data,
              const IdVector<ir::CallId, LaunchedBy>& calls, ir::ThreadId main,
              ir::ThreadId autograd, size_t items)
      : data_(data),
        calls_(calls),
        main_(main),
        autograd_(autograd),
        places_(items) {}

  std::vector<Place> Run() {
    for (const ir::WorkId id : data_.works.ids()) {
      Visit(id, [this](Place& place) {
        place.main_before = std::max(place.main_before, seen_.main_before);
        place.main_until = std::max(place.main_until, seen_.main_until);
      });
    }
    stream_ = {};
    for (uint32_t i = data_.works.size(); i-- > 0;) {
      Visit(ir::WorkId{i}, [this](Place& place) {
        place.next_main = std::min(place.next_main, seen_.next_main);
      });
    }
    return std::move(places_);
  }

 private:
  template <typename Take>
  void Visit(ir::WorkId id, Take take) {
    const ir::Work& work = data_.works[id];
    if (work.stream != stream_) {
      stream_ = work.stream;
      seen_ = {};
    }
    if (!work.call.valid() || calls_[work.call].item == LaunchedBy::kNone) {
      return;
    }
    const LaunchedBy& by = calls_[work.call];
    const ir::ThreadId thread = data_.calls[work.call].thread;
    if (thread == autograd_) {
      take(places_[by.item]);
    } else if (thread == main_) {
      const size_t item = by.item;
      seen_.main_until = std::max(seen_.main_until, item + 1);
      if (!by.meanwhile) {
        seen_.main_before = std::max(seen_.main_before, item + 1);
        seen_.next_main = std::min(seen_.next_main, item);
      }
    }
  }

  const ir::GraphData& data_;
  const IdVector<ir::CallId, LaunchedBy>& calls_;
  const ir::ThreadId main_;
  const ir::ThreadId autograd_;
  std::vector<Place> places_;
  ir::StreamId stream_{};
  Place seen_{};  // Of the main thread, so far on the stream.
};

}  // namespace

std::vector<Burst> FindBursts(const ir::GraphData& data,
                              const IdVector<ir::CallId, LaunchedBy>& calls,
                              ir::ThreadId main, ir::ThreadId autograd,
                              size_t items) {
  const std::vector<Place> places =
      PlaceFinder(data, calls, main, autograd, items).Run();
  std::vector<Burst> bursts;
  for (size_t i = 0; i < items; ++i) {
    const Place& place = places[i];
    if (bursts.empty() || place.main_before > bursts.back().next_main) {
      bursts.push_back({.first = i});
    }
    Burst& burst = bursts.back();
    burst.last = i;
    burst.main_before = std::max(burst.main_before, place.main_before);
    burst.main_until_end = std::max(burst.main_until_end, place.main_until);
    burst.next_main = std::min(burst.next_main, place.next_main);
  }
  return bursts;
}

}  // namespace stepcast::cost
