// The rules for collectives and waits.
#include <tuple>
#include <vector>

#include "ir/names.h"
#include "ir/verify_parts.h"

namespace stepcast::ir {
namespace {

RankId RankOf(const GraphData& data, ActivityId id) {
  return data.streams[data.activities[id].stream].rank;
}

Status VerifyMember(const GraphData& data, CollectiveId id, ActivityId member) {
  const CollectiveKind kind = data.collectives[id].kind;
  const Activity& activity = data.activities[member];
  const auto* shape = std::get_if<Collective>(&data.shapes[activity.shape]);
  if (activity.kind != ActivityKind::kCollective || shape == nullptr ||
      shape->kind != kind) {
    return Broken(data, id,
                  fmt::format("its {} is not a collective of this kind",
                              Describe(data, member)));
  }
  if (activity.collective != id) {
    return Broken(data, id,
                  fmt::format("its {} belongs to another or to none",
                              Describe(data, member)));
  }
  return {};
}

Status VerifyCollectives(const GraphData& data) {
  size_t members = 0;
  ActivityId last_first{};
  for (const CollectiveId id : data.collectives.ids()) {
    const std::vector<ActivityId>& activities = data.collectives[id].activities;
    if (activities.empty()) {
      return Broken(data, id, "it has no activity");
    }
    if (last_first.valid() && activities.front() <= last_first) {
      return Broken(data, id, "not in the order of their first activities");
    }
    last_first = activities.front();
    for (size_t i = 0; i < activities.size(); ++i) {
      RETURN_IF_ERROR(VerifyMember(data, id, activities[i]));
      if (i > 0 &&
          RankOf(data, activities[i]) <= RankOf(data, activities[i - 1])) {
        return Broken(data, id,
                      fmt::format("its {} is not on a later rank than the "
                                  "one before; expected one per rank, in order",
                                  Describe(data, activities[i])));
      }
    }
    members += activities.size();
  }
  size_t claims = 0;
  for (const Activity& activity : data.activities) {
    claims += activity.collective.valid() ? 1 : 0;
  }
  if (claims != members) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} activities say they are part of a collective, "
                            "but the collectives have {}",
                            claims, members));
  }
  return {};
}

Status VerifyStreamWait(const GraphData& data, const StreamWait& wait) {
  if (RankOf(data, wait.before) != RankOf(data, wait.after)) {
    return Broken(data, wait.after,
                  fmt::format("it waits for {}, which is on another rank",
                              Describe(data, wait.before)));
  }
  if (data.activities[wait.before].stream ==
      data.activities[wait.after].stream) {
    return Broken(data, wait.after,
                  fmt::format("it waits for {}, which is on the same stream; "
                              "streams keep their order without waits",
                              Describe(data, wait.before)));
  }
  return {};
}

// Runs the activities as soon as those before them on the stream and those they
// wait for have run; what never runs is part of a cycle or after one.
class Dryrun {
 public:
  explicit Dryrun(const GraphData& data)
      : data_(data),
        waiting_for_(data.activities.size(), 0),
        first_wait_(size_t{data.activities.size()} + 1, 0) {
    for (const StreamWait& wait : data.stream_waits) {
      ++waiting_for_[wait.after];
      ++first_wait_[wait.before.value + 1];
    }
    for (size_t i = 1; i < first_wait_.size(); ++i) {
      first_wait_[i] += first_wait_[i - 1];
    }
    released_.resize(data.stream_waits.size());
    std::vector<uint32_t> next = first_wait_;
    for (const StreamWait& wait : data.stream_waits) {
      released_[next[wait.before.value]++] = wait.after;
    }
    for (const ActivityId id : data.activities.ids()) {
      waiting_for_[id] += FollowsOnStream(id) ? 1 : 0;
    }
  }

  Status Run() {
    std::vector<ActivityId> ready;
    for (const ActivityId id : data_.activities.ids()) {
      if (waiting_for_[id] == 0) {
        ready.push_back(id);
      }
    }
    uint32_t done = 0;
    const auto release = [&](ActivityId id) {
      if (--waiting_for_[id] == 0) {
        ready.push_back(id);
      }
    };
    while (!ready.empty()) {
      const ActivityId id = ready.back();
      ready.pop_back();
      ++done;
      const ActivityId next{id.value + 1};
      if (next.value < data_.activities.size() && FollowsOnStream(next)) {
        release(next);
      }
      for (uint32_t i = first_wait_[id.value]; i < first_wait_[id.value + 1];
           ++i) {
        release(released_[i]);
      }
    }
    if (done == data_.activities.size()) {
      return {};
    }
    return Broken(data_, OneInTheCycle(),
                  "it waits for itself, along streams and stream waits");
  }

 private:
  bool FollowsOnStream(ActivityId id) const {
    return id.value > 0 && data_.activities[ActivityId{id.value - 1}].stream ==
                               data_.activities[id].stream;
  }

  // Every activity that never ran waits for another such one: going back often
  // enough ends in the cycle.
  ActivityId OneInTheCycle() const {
    IdVector<ActivityId, ActivityId> blocker(data_.activities.size());
    ActivityId at{};
    for (const ActivityId id : data_.activities.ids()) {
      if (waiting_for_[id] == 0) {
        continue;
      }
      at = at.valid() ? at : id;
      if (FollowsOnStream(id) && waiting_for_[ActivityId{id.value - 1}] > 0) {
        blocker[id] = ActivityId{id.value - 1};
      }
    }
    for (const StreamWait& wait : data_.stream_waits) {
      if (waiting_for_[wait.before] > 0) {
        blocker[wait.after] = wait.before;
      }
    }
    for (uint32_t i = 0; i < data_.activities.size(); ++i) {
      at = blocker[at];
    }
    return at;
  }

  const GraphData& data_;
  IdVector<ActivityId, uint32_t> waiting_for_;
  std::vector<uint32_t> first_wait_;  // Of each activity, in released_.
  std::vector<ActivityId> released_;
};

Status VerifyStreamWaits(const GraphData& data) {
  const auto key = [](const StreamWait& wait) {
    return std::tuple(wait.after, wait.before);
  };
  for (size_t i = 0; i < data.stream_waits.size(); ++i) {
    const StreamWait& wait = data.stream_waits[i];
    RETURN_IF_ERROR(VerifyStreamWait(data, wait));
    if (i > 0 && key(wait) <= key(data.stream_waits[i - 1])) {
      return Broken(data, wait.after, "its waits are not in order, each once");
    }
  }
  return data.stream_waits.empty() ? Status() : Dryrun(data).Run();
}

Status VerifyHostWaits(const GraphData& data) {
  const auto key = [](const HostWait& wait) {
    return std::tuple(wait.call, wait.before);
  };
  for (size_t i = 0; i < data.host_waits.size(); ++i) {
    const HostWait& wait = data.host_waits[i];
    if (data.threads[data.calls[wait.call].thread].rank !=
        RankOf(data, wait.before)) {
      return Broken(data, wait.call,
                    fmt::format("it waits for {}, which is on another rank",
                                Describe(data, wait.before)));
    }
    if (i > 0 && key(wait) <= key(data.host_waits[i - 1])) {
      return Broken(data, wait.call, "its waits are not in order, each once");
    }
  }
  return {};
}

}  // namespace

Status VerifyWaits(const GraphData& data) {
  RETURN_IF_ERROR(VerifyCollectives(data));
  RETURN_IF_ERROR(VerifyStreamWaits(data));
  return VerifyHostWaits(data);
}

}  // namespace stepcast::ir
