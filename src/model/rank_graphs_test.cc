// Graphs of several ranks: all ranks run the same collectives, and what they
// send is what they receive.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "model/tables/sharding.h"

namespace stepcast::model {
namespace {

struct RankGraph {
  RankPlan plan{};
  int64_t count = 1;
  std::vector<ir::Collective> collectives{};
  std::vector<int64_t> streams{};  // Of each, by number.
  bool sized = true;               // All of the graph's shapes.
};

struct Case {
  const char* impl = "";
  const char* model = "";
  Mode mode = Mode::kTrain;
  Precision precision = Precision::kFp32;
};

std::vector<RankGraph> Graphs(const Case& one, int64_t world,
                              CudaGraphs graphs = CudaGraphs::kOff) {
  const auto model = FindModel(one.model);
  EXPECT_TRUE(model) << model.error().message;
  Settings settings;
  settings.impl = *FindImplementation(one.impl);
  settings.mode = one.mode;
  settings.precision = one.precision;
  settings.batch = 512;
  settings.cuda_graphs = graphs;
  const auto shares = ShareTables(*model, settings, world);
  EXPECT_TRUE(shares) << shares.error().message;
  std::vector<RankGraph> all;
  for (const RankShare& share : *shares) {
    const auto graph = BuildRankGraph(*model, settings, share.plan);
    EXPECT_TRUE(graph) << graph.error().message;
    if (!graph) {
      return {};
    }
    RankGraph rank{.plan = share.plan, .count = share.count};
    const ir::GraphData& data = graph->data();
    for (const ir::ActivityId id : data.activities.ids()) {
      rank.sized = rank.sized && ir::IsSized(graph->shape(id));
      if (const auto* const collective =
              std::get_if<ir::Collective>(&graph->shape(id))) {
        EXPECT_EQ(data.activities[id].kind, ir::ActivityKind::kCollective);
        rank.collectives.push_back(*collective);
        rank.streams.push_back(data.streams[data.activities[id].stream].number);
      }
    }
    all.push_back(std::move(rank));
  }
  return all;
}

int64_t Sum(const std::vector<int64_t>& splits) {
  int64_t sum = 0;
  for (const int64_t split : splits) {
    sum += split;
  }
  return sum;
}

// Every rank's n-th collective is of one kind and type and on one stream;
// all-reduces are of one size.
void ExpectRendezvous(const std::vector<RankGraph>& ranks) {
  for (const RankGraph& rank : ranks) {
    EXPECT_TRUE(rank.sized);
    const RankGraph& first = ranks.front();
    ASSERT_EQ(rank.collectives.size(), first.collectives.size());
    EXPECT_EQ(rank.streams, first.streams);
    for (size_t i = 0; i < first.collectives.size(); ++i) {
      const ir::Collective& a = first.collectives[i];
      const ir::Collective& b = rank.collectives[i];
      EXPECT_EQ(a.kind, b.kind) << i;
      EXPECT_EQ(a.dtype, b.dtype) << i;
      EXPECT_EQ(b.group_size, rank.plan.world) << i;
      if (a.kind != ir::CollectiveKind::kAllToAll) {
        EXPECT_EQ(a.bytes, b.bytes) << i;
      }
    }
  }
}

// What all send in the i-th collective, all receive.
void ExpectBalanced(const std::vector<RankGraph>& ranks, size_t i) {
  int64_t sent = 0;
  int64_t received = 0;
  for (const RankGraph& rank : ranks) {
    const ir::Collective& part = rank.collectives[i];
    ASSERT_EQ(std::ssize(part.send_splits), rank.plan.world) << i;
    ASSERT_EQ(std::ssize(part.receive_splits), rank.plan.world) << i;
    EXPECT_EQ(Sum(part.send_splits) * ir::SizeOf(part.dtype), part.bytes.count)
        << i;
    sent += rank.count * Sum(part.send_splits);
    received += rank.count * Sum(part.receive_splits);
  }
  EXPECT_EQ(sent, received) << i;
  EXPECT_GT(sent, 0) << i;
}

class EveryCase : public ::testing::TestWithParam<Case> {};

TEST_P(EveryCase, CollectivesAreInTheSameOrderAndSendWhatIsReceived) {
  const Case& one = GetParam();
  for (const int64_t world : {2, 4, 8, 16}) {
    const std::string what = std::string(one.impl) + " " + one.model + " on " +
                             std::to_string(world);
    SCOPED_TRACE(what);
    const std::vector<RankGraph> ranks = Graphs(one, world);
    ASSERT_FALSE(ranks.empty());
    ExpectRendezvous(ranks);
    const std::vector<ir::Collective>& first = ranks.front().collectives;
    const RankPlan& plan = ranks.front().plan;
    const bool shared =
        !plan.split.empty() ||
        std::ranges::any_of(
            plan.loads, [](const RankLoad& load) { return load.columns > 0; });
    EXPECT_EQ(first.empty(), one.mode == Mode::kInfer && !shared);
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i].kind == ir::CollectiveKind::kAllToAll) {
        ExpectBalanced(ranks, i);
      }
    }
  }
}

// More ranks than tables, and more than know of each other.
TEST_P(EveryCase, ManyRanksRunTheSameCollectivesToo) {
  const std::vector<RankGraph> ranks = Graphs(GetParam(), 1024);
  ASSERT_FALSE(ranks.empty());
  ExpectRendezvous(ranks);
}

INSTANTIATE_TEST_SUITE_P(
    RankGraphs, EveryCase,
    ::testing::Values(
        Case{"nvidia", "nvidia_dlrm_t3"},
        Case{"nvidia", "nvidia_dlrm_t3", Mode::kTrain, Precision::kAmpFp16},
        Case{"nvidia", "nvidia_dlrm_t15", Mode::kInfer},
        Case{"hugectr", "mlperf_dlrm"},
        Case{"hugectr", "mlperf_dlrm_dcnv2", Mode::kTrain, Precision::kAmpFp16},
        Case{"hugectr", "mlperf_dlrm", Mode::kInfer}, Case{"pytorch", "ncf"},
        Case{"pytorch", "wide_deep"}, Case{"pytorch", "resnet50"},
        Case{"pytorch", "ncf", Mode::kInfer}, Case{"pytorch", "dlrm_default"},
        Case{"pytorch-bags", "dlrm_default"}, Case{"torchrec", "torchrec_dlrm"},
        Case{"torchrec", "production_197"}, Case{"torchrec", "nvidia_dlrm_t0"},
        Case{"torchrec", "nvidia_dlrm_t0", Mode::kInfer},
        Case{"tensorflow", "nvidia_dlrm_t3"},
        Case{"tensorflow-xla", "nvidia_dlrm_t0", Mode::kTrain,
             Precision::kAmpFp16},
        Case{"tensorflow", "nvidia_dcnv2_t3"}, Case{"tensorflow", "wide_deep"},
        Case{"tensorflow", "ncf"}, Case{"tensorflow", "ncf", Mode::kInfer},
        Case{"pytorch-bags", "deepfm"}));

std::vector<ir::CollectiveKind> Kinds(const RankGraph& rank) {
  std::vector<ir::CollectiveKind> kinds;
  for (const ir::Collective& collective : rank.collectives) {
    kinds.push_back(collective.kind);
  }
  return kinds;
}

// Vectors of 27 features there and gradients back, in FP16 under AMP; the top
// MLP's 2.2 million gradients in two buckets meanwhile.
TEST(RankGraphsTest, NvidiaExchangesVectorsAndReducesTheTop) {
  const std::vector<RankGraph> ranks =
      Graphs({"nvidia", "nvidia_dlrm_t3", Mode::kTrain, Precision::kAmpFp16}, 8,
             CudaGraphs::kForwardBackward);
  using enum ir::CollectiveKind;
  ASSERT_EQ(ranks.size(), 8u);
  EXPECT_THAT(
      Kinds(ranks.front()),
      ::testing::ElementsAre(kAllToAll, kAllReduce, kAllReduce, kAllToAll));
  int64_t elements = 0;
  int64_t received = 0;
  for (const RankGraph& rank : ranks) {
    EXPECT_EQ(rank.collectives[0].dtype, ir::DType::kFp16);
    elements += rank.collectives[0].bytes.count / 2;
    received = Sum(rank.collectives[0].receive_splits);
    EXPECT_EQ(received, 512 * 27 * 128);
    EXPECT_EQ(rank.collectives[3].bytes.count, 512 * 27 * 128 * 2);
  }
  EXPECT_EQ(elements, 8 * 512 * 27 * 128);
  constexpr int64_t kTop = 480 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 +
                           512 + 512 * 256 + 256 + 256 + 1;
  EXPECT_EQ(
      ranks[0].collectives[1].bytes.count + ranks[0].collectives[2].bytes.count,
      kTop * 4);
}

// Vectors and gradients in FP16; gradients of replicated tables and of the MLPs
// in one sum, while rows are updated.
TEST(RankGraphsTest, HugectrReducesAfterTheExchange) {
  using enum ir::CollectiveKind;
  const std::vector<RankGraph> ranks = Graphs(
      {"hugectr", "mlperf_dlrm_dcnv2", Mode::kTrain, Precision::kAmpFp16}, 8,
      CudaGraphs::kAll);
  for (const RankGraph& rank : ranks) {
    ASSERT_THAT(Kinds(rank),
                ::testing::ElementsAre(kAllToAll, kAllToAll, kAllReduce));
    EXPECT_EQ(rank.collectives[0].dtype, ir::DType::kFp16);
    int64_t rows = 0;
    for (const TableGroup& table : rank.plan.replicated) {
      rows += table.rows;
    }
    EXPECT_GT(rank.collectives[2].bytes.count, rows * 128 * 2);
    EXPECT_EQ(rank.collectives[2].dtype, ir::DType::kFp16);
  }
}

// Four tables of Criteo without a threshold are above 32 GiB each: partial
// vectors are summed by a reduce-scatter, gradients gathered again.
TEST(RankGraphsTest, TorchrecSumsVectorsOfTablesThatAreSplitByRows) {
  using enum ir::CollectiveKind;
  for (const RankGraph& rank : Graphs({"torchrec", "nvidia_dlrm_t0"}, 8)) {
    ASSERT_EQ(rank.plan.split.size(), 4u);
    ASSERT_THAT(
        Kinds(rank),
        ::testing::ElementsAre(kAllToAll, kReduceScatter, kAllToAll, kAllToAll,
                               kAllToAll, kAllToAll, kAllToAll, kAllReduce,
                               kAllGather, kAllToAll, kAllReduce, kAllReduce));
    EXPECT_EQ(rank.collectives[1].bytes.count, 8 * 512 * 4 * 128 * 4);
    EXPECT_EQ(rank.collectives[8].bytes.count, 512 * 4 * 128 * 4);
  }
}

constexpr int64_t kNcfParameters = (138'493 + 26'744) * (64 + 128) + 256 * 256 +
                                   256 + 256 * 128 + 128 + 128 * 64 + 64 +
                                   128 * 1 + 1;

// 31.7 million numbers of tables and 0.1 million of layers, summed in buckets
// of 25 MiB but for the first.
TEST(RankGraphsTest, PytorchReducesWholeModelsInBuckets) {
  for (const RankGraph& rank : Graphs({"pytorch", "ncf"}, 8)) {
    int64_t bytes = 0;
    for (const ir::Collective& bucket : rank.collectives) {
      EXPECT_EQ(bucket.kind, ir::CollectiveKind::kAllReduce);
      bytes += bucket.bytes.count;
    }
    EXPECT_EQ(bytes, kNcfParameters * 4);
    // A table's gradient is never cut: four tables, the layers before them.
    EXPECT_GE(rank.collectives.size(), 3u);
    EXPECT_LE(rank.collectives.size(), 5u);
  }
}

// Everything fits into one buffer of 128 MiB.
// Besides what ranks do together: the same kernels on one as on several.
TEST(RankGraphsTest, NcfHasGradientsOfAllRowsHoweverManyRanksThereAre) {
  const auto model = FindModel("ncf");
  ASSERT_TRUE(model) << model.error().message;
  Settings settings;
  settings.impl = *FindImplementation("pytorch");
  const auto kernels_of = [&](const RankPlan& plan) {
    std::vector<std::string> kernels;
    const auto graph = BuildRankGraph(*model, settings, plan);
    EXPECT_TRUE(graph) << graph.error().message;
    for (const ir::ActivityId id : graph->data().activities.ids()) {
      const ir::KernelShape& shape = graph->shape(id);
      if (std::holds_alternative<ir::Sort>(shape) ||
          std::holds_alternative<ir::EmbeddingBag>(shape) ||
          std::holds_alternative<ir::OptimizerStep>(shape)) {
        kernels.push_back(ir::ShapeText(shape));
      }
    }
    std::ranges::sort(kernels);
    return kernels;
  };
  const auto one = ShareTables(*model, settings, 1);
  const auto eight = ShareTables(*model, settings, 8);
  ASSERT_TRUE(one && eight);
  const std::vector<std::string> kernels = kernels_of(one->front().plan);
  EXPECT_GE(kernels.size(), 13u);  // Four tables, each way; sorts; Adam.
  EXPECT_EQ(kernels, kernels_of(eight->front().plan));
}

TEST(RankGraphsTest, TensorflowFusesGradientsIntoBuffers) {
  for (const RankGraph& rank : Graphs({"tensorflow", "ncf"}, 8)) {
    ASSERT_EQ(rank.collectives.size(), 1u);
    EXPECT_EQ(rank.collectives[0].bytes.count, kNcfParameters * 4);
  }
}

// Vectors of a table on a node's ranks: summed there (samples of 4 ranks x 512
// x 16 columns), then each rank's half to the other node.
TEST(RankGraphs, TorchrecSumsInsideANodeAndSendsOnBetweenNodes) {
  Model model;
  model.name = "two";
  model.batch = 512;
  model.dense_features = 4;
  model.bottom_mlp = {16};
  model.top_mlp = {1};
  model.tables = {{.count = 2, .rows = 1000, .dim = 16, .pooling = 4}};
  TableGroup table = model.tables.front();
  table.count = 1;
  Settings settings;
  settings.impl = *FindImplementation("torchrec");
  settings.batch = 512;
  const auto shares = ShareAssignment(
      model, settings, 4,
      {.local = {{table}}, .node_split = {{}, {table}}, .ranks_per_node = 2});
  ASSERT_TRUE(shares) << shares.error().message;
  std::vector<std::vector<ir::CollectiveKind>> kinds;
  for (const RankShare& share : *shares) {
    const auto graph = BuildRankGraph(model, settings, share.plan);
    ASSERT_TRUE(graph) << graph.error().message;
    kinds.emplace_back();
    for (const ir::ActivityId id : graph->data().activities.ids()) {
      EXPECT_TRUE(ir::IsSized(graph->shape(id)));
      const auto* const part = std::get_if<ir::Collective>(&graph->shape(id));
      if (part == nullptr) {
        continue;
      }
      kinds.back().push_back(part->kind);
      if (part->kind == ir::CollectiveKind::kReduceScatter) {
        EXPECT_EQ(part->group_size, 2);
        EXPECT_EQ(part->bytes.count,
                  share.plan.node_split.empty() ? 4 : 4 * 512 * 16 * 4);
      } else if (part->kind == ir::CollectiveKind::kAllToAll &&
                 part->group_size == 2) {
        // Forward what two nodes get of it, or only receive; backward theirs.
        EXPECT_THAT(part->bytes.count,
                    testing::AnyOf(2 * 512 * 16 * 4, 512 * 16 * 4));
      }
    }
    EXPECT_EQ(kinds.back(), kinds.front());
  }
  EXPECT_EQ(shares->size(), 3u);
}

}  // namespace
}  // namespace stepcast::model
