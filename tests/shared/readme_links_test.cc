// Recorded traces link as their README says: steps without marks, pairs of
// execution and profiler trace, collectives over ranks.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/shared/shared_traces.h"
#include "trace/read/load.h"
#include "view/reports/doctor.h"

namespace stepcast::view {
namespace {

namespace fs = std::filesystem;

class ReadmeLinksTest : public ::testing::Test {
 protected:
  void SetUp() override { SkipWithoutTraces(); }
};

// Milliseconds between the starts of consecutive step markers, sorted.
std::vector<double> MarkerDistances(const trace::LinkedTrace& linked) {
  std::vector<double> distances;
  for (size_t i = 1; i < linked.steps.size(); ++i) {
    const auto start = [&](size_t step) {
      return linked.trace.host_events[linked.steps[step].marker].start;
    };
    distances.push_back(ToMilliseconds(start(i) - start(i - 1)));
  }
  std::ranges::sort(distances);
  return distances;
}

TEST_F(ReadmeLinksTest, LinearIterationsEndWithTheOptimizer) {
  const auto loaded = LoadTraces({"linear_param_2080Ti/kineto.json.gz"});
  const auto& linked = *loaded.ranks.at(0).profiler;
  ASSERT_EQ(linked.steps.size(), 40U);
  const auto distances = MarkerDistances(linked);
  EXPECT_NEAR(distances[distances.size() / 2], 24.5, 0.05);
  EXPECT_NEAR(distances.front(), 16.5, 0.05);
  EXPECT_NEAR(distances[distances.size() * 9 / 10], 26.9, 0.05);
  EXPECT_NEAR(distances.back(), 57.2, 0.05);
}

TEST_F(ReadmeLinksTest, Resnet18IterationsEndWithTheOptimizer) {
  const auto loaded = LoadTraces({"resnet18_param_2080Ti/kineto.json.gz"});
  const auto& linked = *loaded.ranks.at(0).profiler;
  ASSERT_EQ(linked.steps.size(), 30U);
  const auto distances = MarkerDistances(linked);
  EXPECT_NEAR(distances[distances.size() / 2], 177, 0.5);
  EXPECT_NEAR(distances.front(), 128, 0.5);
  EXPECT_NEAR(distances[distances.size() * 9 / 10], 753, 0.5);
}

// One row of "ET / Kineto linking": nodes and exact matches a thread.
struct PairFact {
  std::string name{};
  std::string kineto{};
  std::string et{};
  std::vector<std::pair<int64_t, int64_t>> threads{};
};

std::vector<PairFact> PairFacts() {
  std::vector<PairFact> facts = {
      {.name = "linear",
       .kineto = "linear_param_2080Ti/kineto.json.gz",
       .et = "linear_param_2080Ti/et.json.gz",
       .threads = {{311, 39}, {617, 39}}},
      {.name = "resnet18",
       .kineto = "resnet18_param_2080Ti/kineto.json.gz",
       .et = "resnet18_param_2080Ti/et.json.gz",
       .threads = {{704, 19}, {606, 30}}},
      {.name = "simple_add",
       .kineto = "small/hta_simple_add_kineto.json.gz",
       .et = "small/hta_simple_add_et.json.gz",
       .threads = {{36, 1}}}};
  for (int rank = 0; rank < 8; ++rank) {
    const std::string file = "rank" + std::to_string(rank) + ".json.gz";
    facts.push_back({.name = "dlrm_rank" + std::to_string(rank),
                     .kineto = "dlrm_param_8xV100/kineto/" + file,
                     .et = "dlrm_param_8xV100/et/" + file,
                     .threads = {{988, 1}, {684, 1}}});
  }
  return facts;
}

void PrintTo(const PairFact& fact, std::ostream* out) {
  *out << fact.name;
}

class ReadmePairsTest : public ::testing::TestWithParam<PairFact> {
 protected:
  void SetUp() override {
    SkipWithoutTraces();
    if (IsSkipped()) {
      return;
    }
    report_ = Examine({GetParam().kineto, GetParam().et});
    ASSERT_EQ(report_.ranks.size(), 1U);
    ASSERT_TRUE(report_.ranks[0].pairing);
  }

  DoctorReport report_;
};

TEST_P(ReadmePairsTest, ThreadsMatchAsOftenAsTheTableSays) {
  const PairingFacts& pairing = *report_.ranks[0].pairing;
  std::vector<std::pair<int64_t, int64_t>> threads;
  for (const ThreadPairing& thread : pairing.threads) {
    threads.emplace_back(thread.nodes, thread.matches);
  }
  EXPECT_EQ(threads, GetParam().threads);
  EXPECT_EQ(pairing.different_shapes, 0);
}

TEST_P(ReadmePairsTest, ShapesOfTheExecutionTraceClassifyTheRest) {
  EXPECT_GE(report_.ranks[0].coverage.classified_share(), 0.99);
}

INSTANTIATE_TEST_SUITE_P(Traces, ReadmePairsTest,
                         ::testing::ValuesIn(PairFacts()),
                         [](const auto& test) { return test.param.name; });

// The eight collectives of the step, in order, as in the section on
// dlrm_param_8xV100, in integer microseconds.
TEST_F(ReadmeLinksTest, CollectivesOfEightRanksAreMatched) {
  struct Row {
    ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
    int64_t bytes = 0;
    int skew_us = 0;
    int own_us = 0;
    int end_skew_us = 0;
  };
  constexpr auto kToAll = ir::CollectiveKind::kAllToAll;
  constexpr auto kReduce = ir::CollectiveKind::kAllReduce;
  const Row rows[] = {
      {kToAll, 6144 * 4, 7624, 11, 2},   {kToAll, 24 * 8, 1101, 8, 2},
      {kToAll, 384 * 4, 168, 8, 1},      {kToAll, 3392 * 4, 125, 8, 2},
      {kReduce, 394241 * 4, 223, 87, 5}, {kToAll, 6144 * 4, 534, 11, 3},
      {kReduce, 112 * 4, 584, 23, 5},    {kReduce, 226960 * 4, 885, 69, 7}};

  const DoctorReport report = Examine({"dlrm_param_8xV100/kineto"});

  ASSERT_EQ(report.collectives.size(), std::size(rows));
  for (size_t i = 0; i < std::size(rows); ++i) {
    const CollectiveFacts& found = report.collectives[i];
    SCOPED_TRACE(i);
    EXPECT_EQ(found.kind, rows[i].kind);
    EXPECT_EQ(found.ranks, 8);
    EXPECT_EQ(found.bytes.count, rows[i].bytes);
    EXPECT_EQ(found.skew, std::chrono::microseconds(rows[i].skew_us));
    EXPECT_EQ(found.own, std::chrono::microseconds(rows[i].own_us));
    EXPECT_EQ(found.end_skew, std::chrono::microseconds(rows[i].end_skew_us));
  }
}

// Every file loads and makes a graph, also those the tables do not name.
TEST_F(ReadmeLinksTest, EveryFileLoads) {
  int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(TraceFolder())) {
    if (entry.path().extension() != ".gz") {
      continue;
    }
    ++files;
    const std::vector<fs::path> paths = {entry.path()};
    // The archive holds two traces of one rank.
    const auto loaded =
        trace::Load(paths, BuiltInRules(), {.allow_duplicates = true});
    ASSERT_TRUE(loaded) << loaded.error().message;
    const DoctorReport report = Diagnose(*loaded, BuiltInRules());
    EXPECT_EQ(report.graph_error, "") << entry.path();
    EXPECT_GT(report.ranks.at(0).coverage.activities, 0) << entry.path();
  }
  EXPECT_EQ(files, 59);
}

}  // namespace
}  // namespace stepcast::view
