#include "model/tables/placement.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/frameworks/placed_lookup.h"
#include "model/model_testing.h"
#include "model/read_model.h"

namespace stepcast::model {
namespace {

using ::testing::HasSubstr;

Model FourTables() {
  return MadeModel(64, {32, 16}, {8, 1},
                   {{.count = 4, .rows = 1000, .dim = 16, .pooling = 2}});
}

TEST(PlacementTest, AWordPlacesAllTables) {
  Model model = FourTables();
  ASSERT_TRUE(PlaceTables("host", model));
  EXPECT_EQ(model.tables.front().placement, Placement::kHost);
  ASSERT_TRUE(PlaceTables("uvm-cache", model));
  EXPECT_EQ(model.tables.front().cache, kUsualCache);
  ASSERT_TRUE(PlaceTables("uvm-cache:0.05", model));
  EXPECT_EQ(model.tables.front().cache, 0.05);
  ASSERT_TRUE(PlaceTables("hbm", model));
  EXPECT_EQ(model, FourTables());
}

TEST(PlacementTest, WordsThatMeanNothingAreErrors) {
  Model model = FourTables();
  for (const char* const word : {"uvm-cash", "uvm-cache:", "uvm-cache:0",
                                 "uvm-cache:1.5", "host:0.5", "uvm-cache:x"}) {
    const auto placed = PlaceTables(word, model);
    ASSERT_FALSE(placed) << word;
    EXPECT_THAT(placed.error().message, HasSubstr(word)) << word;
  }
}

TEST(PlacementTest, AFilePlacesTablesByNumber) {
  Model model = FourTables();
  const auto placed = PlaceTablesByText(
      "placement = 'uvm'\n[[tables]]\nnumbers = [1, 2]\nplacement = 'hbm'\n"
      "[[tables]]\nnumbers = [3]\nplacement = 'uvm-cache'\ncache = 0.1\n",
      "p.toml", model);
  ASSERT_TRUE(placed) << placed.error().message;
  ASSERT_EQ(model.tables.size(), 3u);
  EXPECT_EQ(model.tables[0].placement, Placement::kUvm);
  EXPECT_EQ(model.tables[1].placement, Placement::kHbm);
  EXPECT_EQ(model.tables[1].count, 2);
  EXPECT_EQ(model.tables[2].cache, 0.1);
}

TEST(PlacementTest, FilesThatAreWrongSayWhere) {
  const auto error = [](const char* text) {
    Model model = FourTables();
    const auto placed = PlaceTablesByText(text, "p.toml", model);
    EXPECT_FALSE(placed) << text;
    return placed ? std::string() : placed.error().message;
  };
  EXPECT_THAT(error("placement = 'here'\n"), HasSubstr("p.toml:1"));
  EXPECT_THAT(error("[[tables]]\nnumbers = [4]\nplacement = 'uvm'\n"),
              HasSubstr("expected a number from 0 to 3"));
  EXPECT_THAT(error("[[tables]]\nplacement = 'uvm'\n"),
              HasSubstr("expected a list of tables"));
  EXPECT_THAT(error("cache = 2\n"), HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(error("tables = 3\n"), HasSubstr("[[tables]]"));
}

TEST(PlacementTest, ModelFilesSayWhereTablesAre) {
  const auto read = [](std::string_view where) {
    return ParseModel(
        "batch = 8\ntop_mlp = [4, 1]\ninteraction = 'cat'\n[[tables]]\n"
        "rows = 10\ndim = 4\n" +
            std::string(where),
        "m.toml", [](std::string_view) {
          return Result<std::string>(Fail(ErrorCode::kNotFound, "none"));
        });
  };
  const auto model = read("placement = 'uvm-cache'\ncache = 0.5\n");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->tables.front().placement, Placement::kUvmCache);
  EXPECT_EQ(model->tables.front().cache, 0.5);
  const auto wrong = read("placement = 'uvm-cash'\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("did you mean uvm-cache?"));
  const auto bare = read("cache = 0.5\n");
  ASSERT_FALSE(bare);
  EXPECT_THAT(bare.error().message, HasSubstr("cache without a cache"));
}

// Activities of the graph by what they are.
struct Found {
  int managed = 0;
  int host = 0;
  int servers = 0;
};

Found Count(const Model& model, std::string_view impl) {
  Settings settings;
  settings.impl = *FindImplementation(impl);
  const auto graph = BuildGraph(model, settings);
  EXPECT_TRUE(graph) << graph.error().message;
  Found found;
  for (const ir::ActivityId id : graph->data().activities.ids()) {
    const ir::KernelShape& shape = graph->shape(id);
    const auto* bag = std::get_if<ir::EmbeddingBag>(&shape);
    const auto* copy = std::get_if<ir::Copy>(&shape);
    found.managed +=
        bag != nullptr && bag->place != ir::BagPlace::kDevice ? 1 : 0;
    found.host +=
        copy != nullptr && copy->kind == ir::CopyKind::kHostToHost ? 1 : 0;
    found.servers += std::holds_alternative<ir::Collective>(shape) ? 1 : 0;
  }
  return found;
}

TEST(PlacementTest, GraphsLookTablesUpWhereTheyAre) {
  for (const char* const impl : {"pytorch", "torchrec"}) {
    SCOPED_TRACE(impl);
    Model model = FourTables();
    EXPECT_EQ(Count(model, impl).managed, 0);
    ASSERT_TRUE(PlaceTables("uvm", model));
    EXPECT_GE(Count(model, impl).managed, 2);
    ASSERT_TRUE(PlaceTables("host", model));
    EXPECT_EQ(Count(model, impl).host, 2);  // Lookup and update.
    EXPECT_EQ(Count(model, impl).servers, 0);
    ASSERT_TRUE(PlaceTables("remote", model));
    EXPECT_EQ(Count(model, impl).servers, 3);  // Ids, vectors, gradients.
  }
}

TEST(PlacementTest, ImplementationsThatDoNotKnowSaySo) {
  Model model = FourTables();
  ASSERT_TRUE(PlaceTables("host", model));
  Settings settings;
  settings.impl = *FindImplementation("hugectr");
  const auto graph = BuildGraph(model, settings);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("expected hbm, or torchrec"));
}

}  // namespace
}  // namespace stepcast::model
