// Laws of the graph's text form and of its builder, over random graphs.
#include <gtest/gtest.h>

#include "ir/graph_builder.h"
#include "ir/graph_text.h"
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
        " #w", "\n  s"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(GraphBuilderPropertyTest, TheOrderOfAddingDoesNotMatterWhereTimesTell) {
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

// Where this stops compiling, a field is new: give it a place in the text form,
// let the random graphs use it, and then add it here.
TEST(GraphTextPropertyTest, NoFieldIsForgotten) {
  [[maybe_unused]] const auto& [number, gpu, step] = ir::Rank{};
  [[maybe_unused]] const auto& [rank, role, thread_name] = ir::Thread{};
  [[maybe_unused]] const auto& [stream_rank, device, stream_number] =
      ir::Stream{};
  [[maybe_unused]] const auto& [op_name, op_kind, op_thread, parent, phase,
                                sequence, inputs, outputs, op_measured] =
      ir::Op{};
  [[maybe_unused]] const auto& [dims, dtype, tensor_device, storage] =
      ir::Tensor{};
  [[maybe_unused]] const auto& [call_name, call_kind, call_thread, op, stream,
                                event, call_measured] = ir::Call{};
  [[maybe_unused]] const auto& [work_name, work_kind, shape, work_stream, call,
                                collective, work_measured] = ir::Work{};
  [[maybe_unused]] const auto& [stream_before, after, stream_inferred] =
      ir::StreamWait{};
  [[maybe_unused]] const auto& [host_before, waiting, host_inferred] =
      ir::HostWait{};
  [[maybe_unused]] const auto& [collective_kind, works] =
      ir::MatchedCollective{};
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
