// The verifier notices every kind of damage done to a random graph.
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "tests/testing/random_graph.h"

namespace stepcast::testing {
namespace {

using ir::ActivityId;
using ir::CallId;
using ir::CallKind;
using ir::CollectiveId;
using ir::GraphData;
using ir::OpId;
using ir::RankId;
using ir::ShapeId;
using ir::StreamId;
using ir::TensorId;
using ir::ThreadId;

// An id of `items` for which accepts(id) holds, at random; not valid if none.
template <typename IdType, typename T, typename Accepts>
IdType Find(Rng& rng, const IdVector<IdType, T>& items, Accepts accepts) {
  std::vector<IdType> found;
  for (const IdType id : items.ids()) {
    if (accepts(id)) {
      found.push_back(id);
    }
  }
  return found.empty() ? IdType{} : rng.Pick(found);
}

template <typename IdType, typename T>
IdType Any(Rng& rng, const IdVector<IdType, T>& items) {
  return Find(rng, items, [](IdType) { return true; });
}

RankId RankOf(const GraphData& data, ActivityId id) {
  return data.streams[data.activities[id].stream].rank;
}
RankId RankOf(const GraphData& data, CallId id) {
  return data.threads[data.calls[id].thread].rank;
}

template <typename IdType, typename T>
bool SwapFirstTwo(IdVector<IdType, T>& items) {
  if (items.size() < 2) {
    return false;
  }
  std::swap(items[IdType{0}], items[IdType{1}]);
  return true;
}

// An id for which both it and the one before it have a start, and belongs(a, b)
// holds for them; not valid if there is none.
template <typename IdType, typename T, typename Belongs>
IdType FindTimedPair(Rng& rng, const IdVector<IdType, T>& items,
                     Belongs belongs) {
  return Find(rng, items, [&](IdType id) {
    return id.value >= 1 && ir::StartOf(items[id].measured) &&
           ir::StartOf(items[IdType{id.value - 1}].measured) &&
           belongs(items[IdType{id.value - 1}], items[id]);
  });
}

// Lets the item start before the one in front of it.
template <typename IdType, typename T>
bool StartTooEarly(IdVector<IdType, T>& items, IdType id) {
  if (id.valid()) {
    const auto before = items[IdType{id.value - 1}].measured->start;
    items[id].measured->start = *before - Duration{1};
  }
  return id.valid();
}

/// Does its damage and returns true, or returns false if the graph has nothing
/// to damage in this way.
struct Mutation {
  std::string_view name;
  bool (*apply)(GraphData& data, Rng& rng) = nullptr;
};

constexpr std::array kPlaceMutations = {
    Mutation{"source without text",
             [](GraphData& data, Rng&) {
               data.source = StringId{data.strings.size()};
               return true;
             }},
    Mutation{"two ranks of one number",
             [](GraphData& data, Rng&) {
               if (data.ranks.size() < 2) {
                 return false;
               }
               data.ranks[RankId{1}].number = data.ranks[RankId{0}].number;
               return true;
             }},
    Mutation{"ranks out of order",
             [](GraphData& data, Rng&) { return SwapFirstTwo(data.ranks); }},
    Mutation{"negative step",
             [](GraphData& data, Rng&) {
               data.ranks[RankId{0}].step =
                   ir::Measured{.duration = Duration{-1}};
               return true;
             }},
    Mutation{"thread without rank",
             [](GraphData& data, Rng& rng) {
               data.threads[Any(rng, data.threads)].rank =
                   RankId{data.ranks.size()};
               return true;
             }},
    Mutation{"threads out of order",
             [](GraphData& data, Rng&) { return SwapFirstTwo(data.threads); }},
    Mutation{"streams out of order",
             [](GraphData& data, Rng&) { return SwapFirstTwo(data.streams); }},
    Mutation{"stream without rank",
             [](GraphData& data, Rng& rng) {
               data.streams[Any(rng, data.streams)].rank = RankId{};
               return true;
             }},
};

constexpr std::array kOpMutations = {
    Mutation{"op without name",
             [](GraphData& data, Rng& rng) {
               const OpId op = Any(rng, data.ops);
               if (op.valid()) {
                 data.ops[op].name = StringId{};
               }
               return op.valid();
             }},
    Mutation{"op its own parent",
             [](GraphData& data, Rng& rng) {
               const OpId op = Any(rng, data.ops);
               if (op.valid()) {
                 data.ops[op].parent = op;
               }
               return op.valid();
             }},
    Mutation{"parent after its child",
             [](GraphData& data, Rng&) {
               if (data.ops.size() < 2) {
                 return false;
               }
               data.ops[OpId{0}].parent = OpId{1};
               return true;
             }},
    Mutation{"parent on another thread",
             [](GraphData& data, Rng& rng) {
               const OpId op = Find(rng, data.ops, [&](OpId id) {
                 return data.ops[id].thread != data.ops[OpId{0}].thread;
               });
               if (op.valid()) {
                 data.ops[op].parent = OpId{0};
               }
               return op.valid();
             }},
    Mutation{
        "parent that is closed",
        [](GraphData& data, Rng& rng) {
          // Of two siblings, a child of the first moves into the second.
          const OpId op = Find(rng, data.ops, [&](OpId id) {
            return id.value >= 2 && data.ops[id].parent.valid() &&
                   data.ops[OpId{id.value - 1}].parent == data.ops[id].parent &&
                   data.ops[OpId{id.value - 2}].parent == data.ops[id].parent;
          });
          if (op.valid()) {
            data.ops[op].parent = OpId{op.value - 2};
          }
          return op.valid();
        }},
    Mutation{"siblings out of order",
             [](GraphData& data, Rng& rng) {
               const auto belongs = [](const ir::Op& a, const ir::Op& b) {
                 return a.parent == b.parent && a.thread == b.thread;
               };
               return StartTooEarly(data.ops,
                                    FindTimedPair(rng, data.ops, belongs));
             }},
    Mutation{"negative duration",
             [](GraphData& data, Rng& rng) {
               const OpId op = Any(rng, data.ops);
               if (op.valid()) {
                 data.ops[op].measured = ir::Measured{.duration = Duration{-1}};
               }
               return op.valid();
             }},
    Mutation{"time that cannot be",
             [](GraphData& data, Rng& rng) {
               const OpId op = Any(rng, data.ops);
               if (op.valid()) {
                 data.ops[op].measured = ir::Measured{.start = Duration::max()};
               }
               return op.valid();
             }},
    Mutation{"one input too many",
             [](GraphData& data, Rng& rng) {
               const OpId op = Any(rng, data.ops);
               if (op.valid()) {
                 ++data.ops[op].inputs.count;
               }
               return op.valid();
             }},
    Mutation{"tensor of no op",
             [](GraphData& data, Rng&) {
               data.tensors.push_back({});
               return true;
             }},
};

constexpr std::array kCallMutations = {
    Mutation{"call without thread",
             [](GraphData& data, Rng& rng) {
               const CallId call = Any(rng, data.calls);
               if (call.valid()) {
                 data.calls[call].thread = ThreadId{};
               }
               return call.valid();
             }},
    Mutation{"op on another thread",
             [](GraphData& data, Rng& rng) {
               const CallId call = Find(rng, data.calls, [&](CallId id) {
                 return data.calls[id].op.valid() &&
                        data.calls[id].thread.value > 0;
               });
               if (call.valid()) {
                 data.ops[data.calls[call].op].thread = ThreadId{0};
               }
               return call.valid();
             }},
    Mutation{"stream of another rank",
             [](GraphData& data, Rng& rng) {
               const CallId call = Find(rng, data.calls, [&](CallId id) {
                 return RankOf(data, id).value > 0;
               });
               if (call.valid()) {
                 data.calls[call].stream = StreamId{0};
               }
               return call.valid();
             }},
    Mutation{"launch that waits for an event",
             [](GraphData& data, Rng& rng) {
               const CallId call = Find(rng, data.calls, [&](CallId id) {
                 return data.calls[id].event.valid();
               });
               if (call.valid()) {
                 data.calls[call].kind = CallKind::kLaunch;
               }
               return call.valid();
             }},
    Mutation{"event that is not a record",
             [](GraphData& data, Rng& rng) {
               const CallId call = Find(rng, data.calls, [&](CallId id) {
                 return data.calls[id].event.valid();
               });
               if (call.valid()) {
                 data.calls[call].event = call;
               }
               return call.valid();
             }},
    Mutation{"calls out of order",
             [](GraphData& data, Rng& rng) {
               const auto belongs = [](const ir::Call& a, const ir::Call& b) {
                 return a.thread == b.thread;
               };
               return StartTooEarly(data.calls,
                                    FindTimedPair(rng, data.calls, belongs));
             }},
};

constexpr std::array kActivityMutations = {
    Mutation{"work without shape",
             [](GraphData& data, Rng& rng) {
               const ActivityId activity = Any(rng, data.activities);
               if (activity.valid()) {
                 data.activities[activity].shape = ShapeId{data.shapes.size()};
               }
               return activity.valid();
             }},
    Mutation{"work without stream",
             [](GraphData& data, Rng& rng) {
               const ActivityId activity = Any(rng, data.activities);
               if (activity.valid()) {
                 data.activities[activity].stream = StreamId{};
               }
               return activity.valid();
             }},
    Mutation{"work of another rank's call",
             [](GraphData& data, Rng& rng) {
               const ActivityId activity =
                   Find(rng, data.activities, [&](ActivityId id) {
                     return !data.calls.empty() &&
                            RankOf(data, id) != RankOf(data, CallId{0});
                   });
               if (activity.valid()) {
                 data.activities[activity].call = CallId{0};
               }
               return activity.valid();
             }},
    Mutation{"activities of streams out of order",
             [](GraphData& data, Rng& rng) {
               const ActivityId activity =
                   Find(rng, data.activities, [&](ActivityId id) {
                     return id.value >= 1 &&
                            data.activities[ActivityId{id.value - 1}].stream !=
                                data.activities[id].stream;
                   });
               if (activity.valid()) {
                 std::swap(data.activities[activity],
                           data.activities[ActivityId{activity.value - 1}]);
               }
               return activity.valid();
             }},
    Mutation{"activities of a stream out of order",
             [](GraphData& data, Rng& rng) {
               const auto belongs = [](const ir::Activity& a,
                                       const ir::Activity& b) {
                 return a.stream == b.stream;
               };
               return StartTooEarly(
                   data.activities,
                   FindTimedPair(rng, data.activities, belongs));
             }},
    Mutation{"one shape twice",
             [](GraphData& data, Rng& rng) {
               const ShapeId shape = Any(rng, data.shapes);
               if (shape.valid()) {
                 data.shapes.push_back(ir::KernelShape(data.shapes[shape]));
               }
               return shape.valid();
             }},
};

constexpr std::array kWaitMutations = {
    Mutation{"wait for nothing",
             [](GraphData& data, Rng&) {
               data.stream_waits.push_back({});
               return true;
             }},
    Mutation{"wait on the same stream",
             [](GraphData& data, Rng&) {
               for (ir::StreamWait& wait : data.stream_waits) {
                 wait.before = wait.after;
                 return true;
               }
               return false;
             }},
    Mutation{"wait for another rank",
             [](GraphData& data, Rng& rng) {
               if (data.stream_waits.empty()) {
                 return false;
               }
               ir::StreamWait& wait = data.stream_waits.front();
               const ActivityId other =
                   Find(rng, data.activities, [&](ActivityId id) {
                     return RankOf(data, id) != RankOf(data, wait.after);
                   });
               wait.before = other.valid() ? other : wait.before;
               return other.valid();
             }},
    Mutation{"cycle of waits",
             [](GraphData& data, Rng&) {
               if (data.stream_waits.empty()) {
                 return false;
               }
               // Alone, so that it is the cycle that is noticed.
               const ir::StreamWait wait = data.stream_waits.front();
               data.stream_waits = {
                   wait, {.before = wait.after, .after = wait.before}};
               if (wait.before < wait.after) {
                 std::swap(data.stream_waits[0], data.stream_waits[1]);
               }
               return true;
             }},
    Mutation{"one wait twice",
             [](GraphData& data, Rng&) {
               if (data.stream_waits.empty()) {
                 return false;
               }
               data.stream_waits.push_back(data.stream_waits.back());
               return true;
             }},
    Mutation{"one host wait twice",
             [](GraphData& data, Rng&) {
               if (data.host_waits.empty()) {
                 return false;
               }
               data.host_waits.push_back(data.host_waits.back());
               return true;
             }},
    Mutation{"host wait for another rank",
             [](GraphData& data, Rng& rng) {
               if (data.host_waits.empty()) {
                 return false;
               }
               ir::HostWait& wait = data.host_waits.front();
               const ActivityId other =
                   Find(rng, data.activities, [&](ActivityId id) {
                     return RankOf(data, id) != RankOf(data, wait.call);
                   });
               wait.before = other.valid() ? other : wait.before;
               return other.valid();
             }},
};

constexpr std::array kCollectiveMutations = {
    Mutation{"collective of another kind",
             [](GraphData& data, Rng& rng) {
               const CollectiveId id = Any(rng, data.collectives);
               if (id.valid()) {
                 ir::MatchedCollective& collective = data.collectives[id];
                 collective.kind =
                     collective.kind == ir::CollectiveKind::kBarrier
                         ? ir::CollectiveKind::kReduce
                         : ir::CollectiveKind::kBarrier;
               }
               return id.valid();
             }},
    Mutation{"two activities of one rank",
             [](GraphData& data, Rng& rng) {
               const CollectiveId id = Any(rng, data.collectives);
               if (id.valid()) {
                 std::vector<ActivityId>& activities =
                     data.collectives[id].activities;
                 activities.push_back(activities.back());
               }
               return id.valid();
             }},
    Mutation{
        "work that knows of no collective",
        [](GraphData& data, Rng& rng) {
          const CollectiveId id = Any(rng, data.collectives);
          if (id.valid()) {
            data.activities[data.collectives[id].activities[0]].collective = {};
          }
          return id.valid();
        }},
    Mutation{"collective that knows of no work",
             [](GraphData& data, Rng& rng) {
               const CollectiveId id =
                   Find(rng, data.collectives, [&](CollectiveId collective) {
                     return data.collectives[collective].activities.size() > 1;
                   });
               if (id.valid()) {
                 data.collectives[id].activities.pop_back();
               }
               return id.valid();
             }},
    Mutation{"collective without activities",
             [](GraphData& data, Rng&) {
               data.collectives.push_back({});
               return true;
             }},
};

void ExpectRejected(std::span<const Mutation> mutations) {
  constexpr uint64_t kSeedsPerMutation = 60;
  for (const Mutation& mutation : mutations) {
    int applied = 0;
    for (uint64_t seed = 0; seed < kSeedsPerMutation; ++seed) {
      const ir::Graph graph = RandomGraph(seed, {.times = Times::kSome});
      Rng rng(seed);
      GraphData data = graph.data();
      if (!mutation.apply(data, rng)) {
        continue;
      }
      ++applied;
      const Status status = ir::Verify(data);
      ASSERT_FALSE(status) << mutation.name << ", seed " << seed;
      EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
    }
    EXPECT_GT(applied, 5) << mutation.name;
  }
}

TEST(VerifyPropertyTest, DamagedPlacesAreNoticed) {
  ExpectRejected(kPlaceMutations);
}
TEST(VerifyPropertyTest, DamagedOpsAreNoticed) {
  ExpectRejected(kOpMutations);
}
TEST(VerifyPropertyTest, DamagedCallsAreNoticed) {
  ExpectRejected(kCallMutations);
}
TEST(VerifyPropertyTest, DamagedActivitiesAreNoticed) {
  ExpectRejected(kActivityMutations);
}
TEST(VerifyPropertyTest, DamagedWaitsAreNoticed) {
  ExpectRejected(kWaitMutations);
}
TEST(VerifyPropertyTest, DamagedCollectivesAreNoticed) {
  ExpectRejected(kCollectiveMutations);
}

}  // namespace
}  // namespace stepcast::testing
