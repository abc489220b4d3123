#include "tests/workload/listing.h"

#include <gtest/gtest.h>

#include "model/build_graph.h"
#include "model/read_model.h"

namespace stepcast::model {
namespace {

TEST(ListingTest, DifferenceNamesWhatOnlyOneListHas) {
  const std::vector<std::string> a = {"x", "y", "z"};
  const std::vector<std::string> b = {"x", "z", "w"};
  EXPECT_EQ(Difference(a, a), "");
  EXPECT_EQ(Difference(a, b), "-2 y\n+3 w\n");
}

TEST(ListingTest, OpsComeInTheOrderTheyRun) {
  const auto graph = BuildGraph(*FindModel("dlrm_ddp"), {});
  ASSERT_TRUE(graph);
  const std::vector<ListedOp> ops = InOrder(ListOps(*graph));
  EXPECT_EQ(ops.front().name, "aten::to");
  EXPECT_EQ(ops.back().name, "aten::add_");
}

}  // namespace
}  // namespace stepcast::model
