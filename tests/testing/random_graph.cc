#include "tests/testing/random_graph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "ir/names.h"
#include "ir/shape_fields.h"

namespace stepcast::testing {
namespace {

using ir::ActivityId;
using ir::CallId;
using ir::Measured;
using ir::OpId;
using ir::RankId;
using ir::StreamId;
using ir::ThreadId;

const std::string& RandomName(Rng& rng) {
  static const std::vector<std::string> kNames = {
      "",
      "aten::addmm",
      "aten::mul",
      "cudaLaunchKernel",
      "void at::native::(anonymous namespace)::vectorized_elementwise_kernel"
      "<4, std::array<char*, 3ul> >",
      "name with \"quotes\" and \\ backslash",
      "tab\tnewline\nreturn\rbell\a",
      std::string("nul \0 inside", 12),
      "grün 图 😀",
      "broken \xff\xc3\x28 utf-8 \xed\xa0\x80",
      "# @1+2 -> s7:",
      "\\u0041\\x41",
  };
  return rng.Pick(kNames);
}

template <typename E>
E RandomEnum(Rng& rng) {
  return static_cast<E>(rng.Below(ir::Names<E>::kList.size()));
}

int64_t RandomNumber(Rng& rng) {
  switch (rng.Below(5)) {
    case 0:
      return 0;
    case 1:
      return rng.Between(std::numeric_limits<int64_t>::min(),
                         std::numeric_limits<int64_t>::max());
    default:
      return rng.Between(-2, 4096);
  }
}

void Randomize(Rng& rng, int64_t& value) {
  value = RandomNumber(rng);
}
void Randomize(Rng& rng, Bytes& value) {
  value.count = RandomNumber(rng);
}
void Randomize(Rng& rng, double& value) {
  value = static_cast<double>(rng.Below(1'000'000)) / 997;
}
void Randomize(Rng& rng, bool& value) {
  value = rng.OneIn(2);
}
void Randomize(Rng& rng, std::vector<int64_t>& value) {
  value.resize(static_cast<size_t>(rng.Below(5)));
  for (int64_t& number : value) {
    number = RandomNumber(rng);
  }
}
template <typename E>
requires std::is_enum_v<E>
void Randomize(Rng& rng, E& value) {
  value = RandomEnum<E>(rng);
}

template <size_t... I>
ir::KernelShape ShapeOfFamily(size_t family, std::index_sequence<I...> /*i*/) {
  ir::KernelShape shape;
  ((I == family ? static_cast<void>(shape.emplace<I>()) : void()), ...);
  return shape;
}

ir::Tensor RandomTensor(Rng& rng) {
  ir::Tensor tensor;
  Randomize(rng, tensor.dims);
  Randomize(rng, tensor.dtype);
  Randomize(rng, tensor.device);
  Randomize(rng, tensor.storage);
  return tensor;
}

class Generator {
 public:
  Generator(Rng& rng, const RandomGraphOptions& options)
      : rng_(rng), options_(options) {}

  GraphParts Make() {
    parts_.source = RandomName(rng_);
    const int64_t ranks = rng_.Between(1, options_.max_ranks);
    std::set<int64_t> numbers;
    while (numbers.size() < static_cast<size_t>(ranks)) {
      const int64_t number = rng_.Between(-1, 100);
      if (numbers.insert(number).second) {
        AddRank(number);
      }
    }
    for (uint64_t left = rng_.Below(4); left > 0; --left) {
      AddCollective();
    }
    for (uint32_t rank = 0; rank < parts_.ranks.size(); ++rank) {
      AddWaits(RankId{rank});
    }
    return std::move(parts_);
  }

 private:
  std::optional<Measured> RandomTime() {
    if (options_.times == Times::kNone ||
        (options_.times == Times::kSome && rng_.OneIn(2))) {
      return std::nullopt;
    }
    // A multiple of the number of times made so far would not be random; a
    // random one with that number as its last digits is.
    constexpr int64_t kDistinct = 1'000'000;
    int64_t start = rng_.Between(-5, 20) * 1000;
    if (options_.times == Times::kAll) {
      start = rng_.Between(-5, 20) * kDistinct + times_++;
      CHECK(times_ < kDistinct);
    }
    Measured measured{.duration = Duration{rng_.Between(0, 10'000)}};
    if (options_.times == Times::kAll || !rng_.OneIn(4)) {
      measured.start = Duration{start};
    }
    return measured;
  }

  template <typename T>
  static uint32_t SizeOf(const std::vector<T>& items) {
    return static_cast<uint32_t>(items.size());
  }

  void AddRank(int64_t number) {
    const RankId rank{SizeOf(parts_.ranks)};
    parts_.ranks.push_back({.item = {.number = number, .step = RandomTime()},
                            .name = RandomName(rng_)});
    std::set<std::pair<int64_t, int64_t>> taken;
    const int64_t device = rng_.Between(0, 2);
    for (uint64_t left = 1 + rng_.Below(4); left > 0; --left) {
      const ir::Stream stream{
          .rank = rank,
          .device = rng_.OneIn(4) ? rng_.Between(-1, 3) : device,
          .number = rng_.Between(-1, 30)};
      if (taken.emplace(stream.device, stream.number).second) {
        parts_.streams.push_back(stream);
      }
    }
    const uint64_t threads = 1 + rng_.Below(3);
    for (uint64_t i = 0; i < threads; ++i) {
      AddThread(rank, i);
    }
    for (int64_t left = rng_.Between(0, options_.max_activities); left > 0;
         --left) {
      AddActivity(rank, RandomEnum<ir::ActivityKind>(rng_), RandomShape(rng_));
    }
  }

  void AddThread(RankId rank, uint64_t index) {
    const ThreadId thread{SizeOf(parts_.threads)};
    // Distinct names, so that there is only one order.
    parts_.threads.push_back(
        {.item = {.rank = rank, .role = RandomEnum<ir::ThreadRole>(rng_)},
         .name = RandomName(rng_) + std::to_string(index)});
    const uint32_t first_op = SizeOf(parts_.ops);
    for (int64_t left = rng_.Between(0, options_.max_ops); left > 0; --left) {
      AddOp(thread, first_op);
    }
    for (int64_t left = rng_.Between(0, options_.max_calls); left > 0; --left) {
      AddCall(rank, thread, first_op);
    }
  }

  // One of the ops from `first` on, or none.
  OpId RandomOp(uint32_t first) {
    const uint32_t count = SizeOf(parts_.ops) - first;
    return count == 0 || rng_.OneIn(4)
               ? OpId{}
               : OpId{first + static_cast<uint32_t>(rng_.Below(count))};
  }

  void AddOp(ThreadId thread, uint32_t first_op) {
    GraphParts::OpPart op{
        .item = {.kind = RandomEnum<ir::OpKind>(rng_),
                 .thread = thread,
                 .parent = RandomOp(first_op),
                 .phase = RandomEnum<ir::Phase>(rng_),
                 .sequence = rng_.OneIn(2) ? -1 : RandomNumber(rng_),
                 .measured = RandomTime()},
        .name = RandomName(rng_),
        .modules = rng_.OneIn(2) ? "" : RandomName(rng_),
        .site = rng_.OneIn(2) ? "" : RandomName(rng_)};
    for (std::vector<ir::Tensor>* tensors : {&op.inputs, &op.outputs}) {
      for (uint64_t left = rng_.Below(3); left > 0; --left) {
        tensors->push_back(RandomTensor(rng_));
      }
    }
    parts_.ops.push_back(std::move(op));
  }

  StreamId RandomStream(RankId rank) {
    std::vector<StreamId> streams;
    for (uint32_t i = 0; i < parts_.streams.size(); ++i) {
      if (parts_.streams[i].rank == rank) {
        streams.push_back(StreamId{i});
      }
    }
    return rng_.Pick(streams);
  }

  // Calls of a rank that have `kind`, or any kind if there is none given.
  std::vector<CallId> CallsOf(RankId rank,
                              std::optional<ir::CallKind> kind = {}) const {
    std::vector<CallId> calls;
    for (uint32_t i = 0; i < parts_.calls.size(); ++i) {
      const ir::Call& call = parts_.calls[i].item;
      if (parts_.threads[call.thread.value].item.rank == rank &&
          (!kind || call.kind == *kind)) {
        calls.push_back(CallId{i});
      }
    }
    return calls;
  }

  void AddCall(RankId rank, ThreadId thread, uint32_t first_op) {
    ir::Call call{.kind = RandomEnum<ir::CallKind>(rng_),
                  .thread = thread,
                  .op = RandomOp(first_op),
                  .measured = RandomTime()};
    if (rng_.OneIn(3)) {
      call.stream = RandomStream(rank);
    }
    const std::vector<CallId> records =
        CallsOf(rank, ir::CallKind::kEventRecord);
    if (!records.empty() && (call.kind == ir::CallKind::kStreamWait ||
                             call.kind == ir::CallKind::kEventSync)) {
      call.event = rng_.Pick(records);
    }
    parts_.calls.push_back({.item = call, .name = RandomName(rng_)});
  }

  ActivityId AddActivity(RankId rank, ir::ActivityKind kind,
                         ir::KernelShape shape) {
    ir::Activity activity{
        .kind = kind, .stream = RandomStream(rank), .measured = RandomTime()};
    const std::vector<CallId> calls = CallsOf(rank);
    if (!calls.empty() && !rng_.OneIn(4)) {
      activity.call = rng_.Pick(calls);
    }
    parts_.activities.push_back({.item = activity,
                                 .name = RandomName(rng_),
                                 .shape = std::move(shape)});
    return ActivityId{SizeOf(parts_.activities) - 1};
  }

  void AddCollective() {
    const auto kind = RandomEnum<ir::CollectiveKind>(rng_);
    ir::MatchedCollective collective{.kind = kind};
    for (uint32_t rank = 0; rank < parts_.ranks.size(); ++rank) {
      if (rank == 0 || !rng_.OneIn(4)) {
        collective.activities.push_back(
            AddActivity(RankId{rank}, ir::ActivityKind::kCollective,
                        ir::Collective{.kind = kind,
                                       .bytes = Bytes{rng_.Between(0, 100)}}));
      }
    }
    parts_.collectives.push_back(std::move(collective));
  }

  // A number for each activity that grows along every stream of the built
  // graph: waits from lower to higher ones form no cycle.
  std::vector<std::pair<int64_t, uint32_t>> ActivityOrder() const {
    std::vector<int64_t> last(parts_.streams.size(),
                              std::numeric_limits<int64_t>::min());
    std::vector<std::pair<int64_t, uint32_t>> order;
    for (uint32_t i = 0; i < parts_.activities.size(); ++i) {
      const ir::Activity& activity = parts_.activities[i].item;
      int64_t& start = last[activity.stream.value];
      const std::optional<Duration> known = ir::StartOf(activity.measured);
      start = known ? known->count() : start;
      order.emplace_back(start, i);
    }
    return order;
  }

  void AddWaits(RankId rank) {
    std::vector<ActivityId> activities;
    for (uint32_t i = 0; i < parts_.activities.size(); ++i) {
      const StreamId stream = parts_.activities[i].item.stream;
      if (parts_.streams[stream.value].rank == rank) {
        activities.push_back(ActivityId{i});
      }
    }
    if (activities.empty()) {
      return;
    }
    const auto order = ActivityOrder();
    for (uint64_t left = rng_.Below(8); left > 0; --left) {
      ActivityId before = rng_.Pick(activities);
      ActivityId after = rng_.Pick(activities);
      if (order[before.value] > order[after.value]) {
        std::swap(before, after);
      }
      if (parts_.activities[before.value].item.stream !=
          parts_.activities[after.value].item.stream) {
        parts_.stream_waits.push_back(
            {.before = before, .after = after, .inferred = rng_.OneIn(2)});
      }
    }
    const std::vector<CallId> calls = CallsOf(rank);
    for (uint64_t left = rng_.Below(4); left > 0 && !calls.empty(); --left) {
      parts_.host_waits.push_back({.before = rng_.Pick(activities),
                                   .call = rng_.Pick(calls),
                                   .inferred = rng_.OneIn(2)});
    }
  }

  Rng& rng_;
  RandomGraphOptions options_;
  GraphParts parts_;
  int64_t times_ = 0;
};

}  // namespace

ir::KernelShape RandomShape(Rng& rng) {
  constexpr size_t kFamilies = std::variant_size_v<ir::KernelShape>;
  ir::KernelShape shape =
      ShapeOfFamily(static_cast<size_t>(rng.Below(kFamilies)),
                    std::make_index_sequence<kFamilies>());
  std::visit(
      [&]<typename S>(S& typed) {
        ir::ForEachField<S>([&](const auto& field) {
          if (!rng.OneIn(3)) {
            Randomize(rng, typed.*field.member);
          }
        });
      },
      shape);
  return shape;
}

GraphParts RandomParts(Rng& rng, const RandomGraphOptions& options) {
  return Generator(rng, options).Make();
}

ir::Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options) {
  Rng rng(seed);
  auto graph = BuildGraph(RandomParts(rng, options));
  CHECK(graph.has_value()) << "seed " << seed << ": " << graph.error().message;
  return *std::move(graph);
}

}  // namespace stepcast::testing
