#include "model/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/build_graph.h"
#include "model/model_testing.h"

namespace stepcast::model {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

Model TwoTables() {
  return MadeModel(64, {32, 16}, {8, 1},
                   {{.count = 2, .rows = 1000, .dim = 16, .pooling = 1}});
}

double PartOf(const Memory& memory, std::string_view name) {
  for (const MemoryPart& part : memory.parts) {
    if (part.name == name) {
      return part.bytes;
    }
  }
  return 0;
}

Memory MemoryOfSmall(const Model& model, Settings settings) {
  settings.batch = 64;
  const auto graph = BuildGraph(model, settings);
  EXPECT_TRUE(graph) << graph.error().message;
  return MemoryOf(model, settings, *graph);
}

TEST(MemoryTest, ParametersAndTheirOptimizersState) {
  Model model = TwoTables();
  model.table_optimizer = Optimizer::kAdagrad;
  model.dense_optimizer = Optimizer::kAdam;
  const Memory memory = MemoryOfSmall(model, {});
  // 2 tables x 1000 rows x 16 columns x 4 bytes, and as much of state.
  EXPECT_EQ(PartOf(memory, "tables"), 128'000);
  EXPECT_EQ(PartOf(memory, "table optimizer"), 128'000);
  // 14 x 32 + 33 x 16 below; 16 + 3 pairs = 19 columns above: 20 x 8 + 9.
  const double dense = 4 * (14 * 32 + 33 * 16 + 20 * 8 + 9);
  EXPECT_EQ(PartOf(memory, "dense parameters"), dense);
  EXPECT_EQ(PartOf(memory, "dense gradients"), dense);
  EXPECT_EQ(PartOf(memory, "dense optimizer"), 2 * dense);
}

TEST(MemoryTest, RowwiseStateIsOneNumberPerRowAndHalfTablesAreHalf) {
  Model model = TwoTables();
  model.table_optimizer = Optimizer::kRowwiseAdagrad;
  EXPECT_EQ(PartOf(MemoryOfSmall(model, {}), "table optimizer"), 8'000);
  EXPECT_EQ(
      PartOf(MemoryOfSmall(model, {.precision = Precision::kFp16}), "tables"),
      64'000);
}

TEST(MemoryTest, InferenceKeepsNoStateAndFewActivations) {
  const Memory train = MemoryOfSmall(TwoTables(), {});
  const Memory infer = MemoryOfSmall(TwoTables(), {.mode = Mode::kInfer});
  EXPECT_EQ(PartOf(infer, "dense gradients"), 0);
  EXPECT_LT(PartOf(infer, "activations"), PartOf(train, "activations"));
}

TEST(WaysToFitTest, SaysWhatWouldHelp) {
  Memory memory;
  memory.parts = {{"tables", 60}, {"table optimizer", 20}, {"context", 4}};
  EXPECT_THAT(WaysToFit(memory, 100, {}, {.bytes = 80}), IsEmpty());
  // 80 of tables in 64 - 4 that are left: on two GPUs, or 20 of 80 fewer rows.
  EXPECT_THAT(WaysToFit(memory, 64, {}, {.bytes = 80}),
              ElementsAre("tables sharded over 2 GPUs", "75 % of the rows",
                          "a cache of the tables (--placement uvm-cache)",
                          "tables in FP16"));
  // A fifth of them is too much, too.
  memory.parts = {{"tables", 400}, {"context", 4}};
  EXPECT_THAT(WaysToFit(memory, 64, {}, {.bytes = 400}),
              Contains("tables in host memory (--placement uvm)"));
  memory.parts = {{"activations", 100}, {"context", 4}};
  EXPECT_THAT(WaysToFit(memory, 64, {.batch = 1000}, {}),
              Contains("a batch of 619"));
}

// 640 bytes of tables on 8 ranks, 80 of them on the fullest.
TEST(WaysToFitTest, CountsTheTablesOfAllRanks) {
  Memory memory;
  memory.parts = {{"tables", 80}, {"context", 4}};
  EXPECT_THAT(
      WaysToFit(memory, 64, {}, {.bytes = 640, .ranks = 8, .elsewhere = false}),
      ElementsAre("tables sharded over 11 GPUs", "75 % of the rows",
                  "tables in FP16"));
  EXPECT_THAT(WaysToFit(memory, 64, {}, {.bytes = 300, .ranks = 8}),
              Contains("tables sharded evenly over the 8 GPUs, as `stepcast "
                       "plan` does"));
}

TEST(MemoryTest, TablesElsewhereTakeNoDeviceMemory) {
  Model model = TwoTables();
  model.table_optimizer = Optimizer::kAdagrad;
  model.tables = {{.rows = 1000, .dim = 16},
                  {.rows = 1000, .dim = 16, .placement = Placement::kUvm},
                  {.rows = 1000,
                   .dim = 16,
                   .placement = Placement::kUvmCache,
                   .cache = 0.25},
                  {.rows = 1000, .dim = 16, .placement = Placement::kHost},
                  {.rows = 1000, .dim = 16, .placement = Placement::kRemote}};
  const Memory memory = MemoryOfSmall(model, {});
  EXPECT_EQ(PartOf(memory, "tables"), 1.25 * 64'000);
  EXPECT_EQ(PartOf(memory, "table optimizer"), 64'000);
  EXPECT_EQ(memory.host, 3 * 128'000);
}

}  // namespace
}  // namespace stepcast::model
