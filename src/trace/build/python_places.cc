// Where in Python's code each host event is from.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trace/build/profiler_graph.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {
namespace {

// Modules in each other; deeper ones count as the last. Real models have about
// ten, and a text must not grow as deep as a recording.
constexpr size_t kMostModules = 32;

class PythonWalk {
 public:
  explicit PythonWalk(const LinkedTrace& linked) : trace_(linked.trace) {
    ids_.emplace("", 0);
  }

  PythonPlaces Run() {
    SortFrames();
    found_.of_events.resize(trace_.host_events.size());
    for (size_t i = 0; i < trace_.host_events.size(); ++i) {
      const HostEvent& event = trace_.host_events[i];
      if (i == 0 || trace_.host_events[i - 1].thread != event.thread) {
        open_.clear();
        next_ =
            std::ranges::lower_bound(frames_, event.thread, {}, &Frame::thread);
      }
      Advance(event.thread, event.start);
      found_.of_events[i] = open_.empty() ? PythonPlace{} : open_.back().place;
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    uint32_t thread = 0;  // Into ProfilerTrace::threads.
    uint32_t index = 0;
  };
  struct Open {
    Duration end{};
    PythonPlace place{};
    size_t modules = 0;
  };

  // Of threads with host events, as these are sorted.
  void SortFrames() {
    std::vector<uint32_t> thread_of;  // By Python's thread.
    for (const HostThread& thread : trace_.python_threads) {
      const auto same =
          std::ranges::find_if(trace_.threads, [&](const HostThread& other) {
            return other.process == thread.process &&
                   other.thread == thread.thread;
          });
      thread_of.push_back(
          same == trace_.threads.end()
              ? kNoEvent
              : static_cast<uint32_t>(same - trace_.threads.begin()));
    }
    for (uint32_t i = 0; i < trace_.python_frames.size(); ++i) {
      const uint32_t thread = thread_of[trace_.python_frames[i].thread];
      if (thread != kNoEvent) {
        frames_.push_back({.thread = thread, .index = i});
      }
    }
    std::ranges::sort(frames_, {}, [&](const Frame& frame) {
      const PythonFrame& item = trace_.python_frames[frame.index];
      return std::tuple(frame.thread, item.start, -item.duration, frame.index);
    });
    next_ = frames_.begin();
  }

  // Opens what has started by `now` and closes what is over.
  void Advance(uint32_t thread, Duration now) {
    const auto close = [&](Duration until) {
      while (!open_.empty() && open_.back().end <= until) {
        open_.pop_back();
      }
    };
    for (; next_ != frames_.end() && next_->thread == thread; ++next_) {
      const PythonFrame& frame = trace_.python_frames[next_->index];
      if (frame.start > now) {
        break;
      }
      close(frame.start);
      Enter(frame);
    }
    close(now);
  }

  void Enter(const PythonFrame& frame) {
    Open entered = open_.empty() ? Open{} : open_.back();
    entered.end = frame.start + frame.duration;
    const std::string_view name = trace_.strings.view(frame.name);
    if (!frame.is_module) {
      entered.place.site = IdOf(std::string(name));
    } else if (entered.modules < kMostModules) {
      const std::string& around = found_.texts[entered.place.modules];
      entered.place.modules =
          IdOf(around.empty() ? std::string(name)
                              : around + "/" + std::string(name));
      ++entered.modules;
    }
    open_.push_back(entered);
  }

  uint32_t IdOf(std::string text) {
    const auto [entry, is_new] =
        ids_.emplace(text, static_cast<uint32_t>(found_.texts.size()));
    if (is_new) {
      found_.texts.push_back(std::move(text));
    }
    return entry->second;
  }

  const ProfilerTrace& trace_;
  PythonPlaces found_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Frame> frames_;
  std::vector<Frame>::const_iterator next_{};
  std::vector<Open> open_;
};

}  // namespace

PythonPlaces FindPythonPlaces(const LinkedTrace& linked) {
  return linked.trace.python_frames.empty() ? PythonPlaces{}
                                            : PythonWalk(linked).Run();
}

}  // namespace stepcast::trace
