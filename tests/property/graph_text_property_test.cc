// Laws of the graph's text form and of its builder, over random graphs.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_builder.h"
#include "ir/text/graph_text.h"
#include "ir/verify.h"
#include "tests/testing/random_graph.h"

namespace stepcast::testing {
namespace {

constexpr uint64_t kSeeds = 300;

class RandomGraphTest : public ::testing::TestWithParam<Times> {
 protected:
  template <typename Law>
  void ForEachSeed(Law law) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      law(seed, RandomGraphOptions{.times = GetParam()});
      if (HasFatalFailure()) {
        return;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Times, RandomGraphTest,
                         ::testing::Values(Times::kNone, Times::kSome,
                                           Times::kAll));

TEST_P(RandomGraphTest, TheVerifierAcceptsWhatTheBuilderMakes) {
  ForEachSeed([](uint64_t seed, const RandomGraphOptions& options) {
    const ir::Graph graph = RandomGraph(seed, options);
    const Status status = ir::Verify(graph.data());
    ASSERT_TRUE(status) << status.error().message;
  });
}

TEST_P(RandomGraphTest, TextGivesBackTheSameGraph) {
  ForEachSeed([](uint64_t seed, const RandomGraphOptions& options) {
    const ir::Graph graph = RandomGraph(seed, options);
    const std::string text = GraphText(graph);
    const auto again = ir::ParseGraph(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    ASSERT_TRUE(SameContent(graph, *again)) << text;
    ASSERT_EQ(GraphText(*again), text);
  });
}

TEST_P(RandomGraphTest, SortingAGraphAgainChangesNothing) {
  ForEachSeed([](uint64_t seed, const RandomGraphOptions& options) {
    const ir::Graph graph = RandomGraph(seed, options);
    ir::GraphData data = graph.data();
    ASSERT_TRUE(ir::Canonicalize(data));
    const auto again = ir::Graph::Make(std::move(data));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(SameContent(graph, *again));
  });
}

// What is rare in traces must not be rare in these tests.
TEST(GraphTextPropertyTest, RandomGraphsUseEveryPartOfTheForm) {
  std::string text;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    text += GraphText(RandomGraph(seed, {}));
  }
  for (const std::string_view part :
       {"op=#o", "op=none", "]: ", "\\x", " device=", "/", "event=#c",
        "stream=", "inferred", "\ncollective ", "phase=", "seq=", "@-", "@+",
        " #w", "\n  s", " modules \"", " site \""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(GraphBuilderPropertyTest, TheOrderOfAddingDoesNotMatterWhereTimesShow) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const GraphParts parts = RandomParts(rng, {.times = Times::kAll});
    const auto plain = BuildGraph(parts);
    const auto shuffled = BuildGraph(parts, &rng);
    ASSERT_TRUE(plain) << plain.error().message;
    ASSERT_TRUE(shuffled) << shuffled.error().message;
    ASSERT_TRUE(SameContent(*plain, *shuffled));
    ASSERT_EQ(GraphText(*plain), GraphText(*shuffled));
  }
}

// The fields of a record. Where one of these stops compiling, a field is new:
// give it a place in the text form, let the random graphs use it, and then add
// it here.
auto Fields(const ir::Rank& rank) {
  const auto& [number, gpu, step] = rank;
  return std::tie(number, gpu, step);
}
auto Fields(const ir::Thread& thread) {
  const auto& [rank, role, name] = thread;
  return std::tie(rank, role, name);
}
auto Fields(const ir::Stream& stream) {
  const auto& [rank, device, number] = stream;
  return std::tie(rank, device, number);
}
auto Fields(const ir::Op& op) {
  const auto& [name, kind, thread, parent, phase, sequence, inputs, outputs,
               measured, modules, site] = op;
  return std::tie(name, kind, thread, parent, phase, sequence, inputs, outputs,
                  measured, modules, site);
}
auto Fields(const ir::Tensor& tensor) {
  const auto& [dims, dtype, device, storage] = tensor;
  return std::tie(dims, dtype, device, storage);
}
auto Fields(const ir::Call& call) {
  const auto& [name, kind, thread, op, stream, event, measured] = call;
  return std::tie(name, kind, thread, op, stream, event, measured);
}
auto Fields(const ir::Activity& activity) {
  const auto& [name, kind, shape, stream, call, collective, measured] =
      activity;
  return std::tie(name, kind, shape, stream, call, collective, measured);
}
auto Fields(const ir::StreamWait& wait) {
  const auto& [before, after, inferred] = wait;
  return std::tie(before, after, inferred);
}
auto Fields(const ir::HostWait& wait) {
  const auto& [before, call, inferred] = wait;
  return std::tie(before, call, inferred);
}
auto Fields(const ir::MatchedCollective& collective) {
  const auto& [kind, activities] = collective;
  return std::tie(kind, activities);
}

template <size_t kField, typename Record>
bool Varies(const std::vector<Record>& records) {
  return std::ranges::any_of(records, [&](const Record& record) {
    return std::get<kField>(Fields(record)) !=
           std::get<kField>(Fields(records.front()));
  });
}

template <typename Record, size_t... kFields>
void ExpectFieldsVary(const std::vector<Record>& records,
                      std::index_sequence<kFields...> /*fields*/) {
  ASSERT_FALSE(records.empty());
  const std::vector<bool> varies = {Varies<kFields>(records)...};
  EXPECT_THAT(varies, ::testing::Each(true));
}

// Fails for a field that is the same in every such record of all graphs.
template <typename Records>
void ExpectFieldsVary(const std::vector<ir::Graph>& graphs,
                      Records ir::GraphData::*place, std::string_view name) {
  SCOPED_TRACE(name);
  using Record = std::decay_t<decltype(*std::declval<Records>().begin())>;
  std::vector<Record> records;
  for (const ir::Graph& graph : graphs) {
    const Records& some = graph.data().*place;
    records.insert(records.end(), some.begin(), some.end());
  }
  using AllFields = decltype(Fields(std::declval<const Record&>()));
  ExpectFieldsVary(records,
                   std::make_index_sequence<std::tuple_size_v<AllFields>>());
}

TEST(GraphTextPropertyTest, RandomGraphsLeaveNoFieldAlone) {
  std::vector<ir::Graph> graphs;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    graphs.push_back(RandomGraph(seed, {}));
  }
  ExpectFieldsVary(graphs, &ir::GraphData::ranks, "ranks");
  ExpectFieldsVary(graphs, &ir::GraphData::threads, "threads");
  ExpectFieldsVary(graphs, &ir::GraphData::streams, "streams");
  ExpectFieldsVary(graphs, &ir::GraphData::ops, "ops");
  ExpectFieldsVary(graphs, &ir::GraphData::tensors, "tensors");
  ExpectFieldsVary(graphs, &ir::GraphData::calls, "calls");
  ExpectFieldsVary(graphs, &ir::GraphData::activities, "works");
  ExpectFieldsVary(graphs, &ir::GraphData::stream_waits, "stream waits");
  ExpectFieldsVary(graphs, &ir::GraphData::host_waits, "host waits");
  ExpectFieldsVary(graphs, &ir::GraphData::collectives, "collectives");
}

// Every text with one byte changed is parsed or refused, and what is parsed
// round-trips.
TEST(GraphTextPropertyTest, AChangedByteNeverBreaksTheParser) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::string text = GraphText(RandomGraph(seed, {.max_ops = 4}));
    for (int i = 0; i < 20; ++i) {
      std::string changed = text;
      changed[static_cast<size_t>(rng.Below(text.size()))] =
          static_cast<char>(rng.Below(256));
      const auto graph = ir::ParseGraph(changed);
      if (graph) {
        const auto again = ir::ParseGraph(GraphText(*graph));
        ASSERT_TRUE(again) << again.error().message << "\n" << changed;
        ASSERT_TRUE(SameContent(*graph, *again)) << changed;
      }
    }
  }
}

TEST(ShapePropertyTest, ShapesRoundTripThroughText) {
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const ir::KernelShape shape = RandomShape(rng);
    const std::string text = ir::ShapeText(shape);
    const auto again = ir::ParseShape(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    ASSERT_EQ(*again, shape) << text;
  }
}

}  // namespace
}  // namespace stepcast::testing
