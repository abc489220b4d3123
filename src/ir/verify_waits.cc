// The rules for collectives and waits.
#include <tuple>
#include <vector>

#include "ir/names.h"
#include "ir/verify_parts.h"

namespace stepcast::ir {
namespace {

RankId RankOf(const GraphData& data, WorkId id) {
  return data.streams[data.works[id].stream].rank;
}

Status VerifyMember(const GraphData& data, CollectiveId id, WorkId member) {
  const CollectiveKind kind = data.collectives[id].kind;
  const Work& work = data.works[member];
  const auto* shape = std::get_if<Collective>(&data.shapes[work.shape]);
  if (work.kind != WorkKind::kCollective || shape == nullptr ||
      shape->kind != kind) {
    return Broken(data, id,
                  fmt::format("its {} is no collective of this kind",
                              Describe(data, member)));
  }
  if (work.collective != id) {
    return Broken(data, id,
                  fmt::format("its {} belongs to another or to none",
                              Describe(data, member)));
  }
  return {};
}

Status VerifyCollectives(const GraphData& data) {
  size_t members = 0;
  WorkId last_first{};
  for (const CollectiveId id : data.collectives.ids()) {
    const std::vector<WorkId>& works = data.collectives[id].works;
    if (works.empty()) {
      return Broken(data, id, "it has no work");
    }
    if (last_first.valid() && works.front() <= last_first) {
      return Broken(data, id, "not in the order of the first works");
    }
    last_first = works.front();
    for (size_t i = 0; i < works.size(); ++i) {
      RETURN_IF_ERROR(VerifyMember(data, id, works[i]));
      if (i > 0 && RankOf(data, works[i]) <= RankOf(data, works[i - 1])) {
        return Broken(data, id,
                      fmt::format("its {} is not on a later rank than the "
                                  "work before; expected one a rank, in order",
                                  Describe(data, works[i])));
      }
    }
    members += works.size();
  }
  size_t claims = 0;
  for (const Work& work : data.works) {
    claims += work.collective.valid() ? 1 : 0;
  }
  if (claims != members) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} works say they are part of a collective, but "
                            "the collectives have {}",
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
  if (data.works[wait.before].stream == data.works[wait.after].stream) {
    return Broken(data, wait.after,
                  fmt::format("it waits for {}, which is on the same stream; "
                              "streams keep their order without waits",
                              Describe(data, wait.before)));
  }
  return {};
}

// Runs the works as soon as those before them on the stream and those they wait
// for have run; what never runs is part of a circle or behind one.
class Dryrun {
 public:
  explicit Dryrun(const GraphData& data)
      : data_(data),
        waiting_for_(data.works.size(), 0),
        first_wait_(size_t{data.works.size()} + 1, 0) {
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
    for (const WorkId id : data.works.ids()) {
      waiting_for_[id] += FollowsOnStream(id) ? 1 : 0;
    }
  }

  Status Run() {
    std::vector<WorkId> ready;
    for (const WorkId id : data_.works.ids()) {
      if (waiting_for_[id] == 0) {
        ready.push_back(id);
      }
    }
    uint32_t done = 0;
    const auto release = [&](WorkId id) {
      if (--waiting_for_[id] == 0) {
        ready.push_back(id);
      }
    };
    while (!ready.empty()) {
      const WorkId id = ready.back();
      ready.pop_back();
      ++done;
      const WorkId next{id.value + 1};
      if (next.value < data_.works.size() && FollowsOnStream(next)) {
        release(next);
      }
      for (uint32_t i = first_wait_[id.value]; i < first_wait_[id.value + 1];
           ++i) {
        release(released_[i]);
      }
    }
    if (done == data_.works.size()) {
      return {};
    }
    return Broken(data_, OneInTheCircle(),
                  "it waits for itself, along streams and stream waits");
  }

 private:
  bool FollowsOnStream(WorkId id) const {
    return id.value > 0 &&
           data_.works[WorkId{id.value - 1}].stream == data_.works[id].stream;
  }

  // Every work that never ran waits for another such one: going back often
  // enough ends in the circle.
  WorkId OneInTheCircle() const {
    IdVector<WorkId, WorkId> blocker(data_.works.size());
    WorkId at{};
    for (const WorkId id : data_.works.ids()) {
      if (waiting_for_[id] == 0) {
        continue;
      }
      at = at.valid() ? at : id;
      if (FollowsOnStream(id) && waiting_for_[WorkId{id.value - 1}] > 0) {
        blocker[id] = WorkId{id.value - 1};
      }
    }
    for (const StreamWait& wait : data_.stream_waits) {
      if (waiting_for_[wait.before] > 0) {
        blocker[wait.after] = wait.before;
      }
    }
    for (uint32_t i = 0; i < data_.works.size(); ++i) {
      at = blocker[at];
    }
    return at;
  }

  const GraphData& data_;
  IdVector<WorkId, uint32_t> waiting_for_;
  std::vector<uint32_t> first_wait_;  // Of each work, in released_.
  std::vector<WorkId> released_;
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
