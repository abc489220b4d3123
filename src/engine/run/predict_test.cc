
#include "engine/run/predict.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cost/model_store.h"
#include "cost/overheads/overhead_table.h"
#include "hw/cluster.h"
#include "ir/graph_testing.h"

namespace stepcast::engine {
namespace {

using Times = std::vector<double>;

TEST(ShareLinks, LeavesWhatIsAloneAsItIs) {
  EXPECT_EQ(ShareLinks({}), Times());
  const std::vector<Transfer> apart = {
      {.start_us = 0, .alone_us = 10, .links = kFabric, .share = 1},
      {.start_us = 10, .alone_us = 5, .links = kFabric, .share = 1}};
  EXPECT_EQ(ShareLinks(apart), Times({10, 5}));
}

TEST(ShareLinks, HalvesARateThatTwoWant) {
  const std::vector<Transfer> both = {
      {.start_us = 0, .alone_us = 10, .links = kFabric, .share = 1},
      {.start_us = 0, .alone_us = 10, .links = kFabric, .share = 1}};
  EXPECT_EQ(ShareLinks(both), Times({20, 20}));
}

// The first runs alone for 6, then both at half speed until it ends at 14; the
// second has 6 of its 10 left and runs alone.
TEST(ShareLinks, SharesOnlyWhileBothRun) {
  const std::vector<Transfer> overlapping = {
      {.start_us = 0, .alone_us = 10, .links = kNetwork, .share = 1},
      {.start_us = 6, .alone_us = 10, .links = kNetwork, .share = 1}};
  EXPECT_EQ(ShareLinks(overlapping), Times({14, 14}));
}

TEST(ShareLinks, KeepsLinksAndDirectionsApart) {
  const std::vector<Transfer> apart = {
      {.start_us = 0, .alone_us = 10, .links = kToDevice, .share = 1},
      {.start_us = 0, .alone_us = 10, .links = kFromDevice, .share = 1},
      {.start_us = 0, .alone_us = 10, .links = kFabric, .share = 1}};
  EXPECT_EQ(ShareLinks(apart), Times({10, 10, 10}));
}

TEST(ShareLinks, SlowsNobodyWhileALinkHasRoom) {
  const std::vector<Transfer> small = {
      {.start_us = 0, .alone_us = 10, .links = kFabric, .share = 0.25},
      {.start_us = 0, .alone_us = 10, .links = kFabric, .share = 0.75}};
  EXPECT_EQ(ShareLinks(small), Times({10, 10}));
}

TEST(ShareLinks, GoesByTheSlowestOfSeveralLinks) {
  const std::vector<Transfer> through_host = {
      {.start_us = 0,
       .alone_us = 10,
       .links = kToDevice | kFromDevice,
       .share = 1},
      {.start_us = 0, .alone_us = 40, .links = kToDevice, .share = 1}};
  // Both at half speed for 20, then the copy has 30 left.
  EXPECT_EQ(ShareLinks(through_host), Times({20, 50}));
}

// Two all-reduces of 64 MB, which a switch moves at its full rate.
double StepOf(std::string_view text) {
  cost::ModelStore store;
  const cost::OverheadTable overheads(*cost::LoadOverheads("shared"));
  const Named<hw::Cluster> servers =
      MakeNamed("dgx", *hw::FindCluster("dgx-a100", 8, 1));
  PredictOptions options{.repeats = 1};
  options.price.collectives.models = *store.Collectives(servers);
  options.price.collectives.ranks = 8;
  const auto prediction =
      Predict({.graph = std::make_shared<const ir::Graph>(ir::GraphOf(text)),
               .models = *store.Kernels(MakeNamed("gpu", servers->device)),
               .overheads = &overheads},
              options);
  EXPECT_TRUE(prediction) << prediction.error().message;
  return ToMicroseconds(prediction->step);
}

TEST(ShareLinks, CollectivesOfTwoStreamsTakeAsLongAsInOne) {
  const double one_stream = StepOf(R"(stepcast-graph 1
rank 0
  thread main
    op "a"
      call launch "launch"
        s7: collective kind=all_reduce bytes=64000000 group=8 dtype=fp32
      call launch "launch"
        s7: collective kind=all_reduce bytes=64000000 group=8 dtype=fp32 #w
    call stream_sync "sync" #c
  wait #w -> #c
)");
  const double two_streams = StepOf(R"(stepcast-graph 1
rank 0
  thread main
    op "a"
      call launch "launch"
        s7: collective kind=all_reduce bytes=64000000 group=8 dtype=fp32
      call launch "launch"
        s8: collective kind=all_reduce bytes=64000000 group=8 dtype=fp32 #w
    call stream_sync "sync" #c
  wait #w -> #c
)");
  // The start of one hides behind the transfer of the other.
  EXPECT_NEAR(two_streams / one_stream, 0.95, 0.05);
}

}  // namespace
}  // namespace stepcast::engine
