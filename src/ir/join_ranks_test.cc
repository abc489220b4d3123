#include "ir/join_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::ir {
namespace {

using testing::HasSubstr;

constexpr const char* kRank = R"(stepcast-graph 1
rank 0
  thread main
    op "linear"
      call launch "cudaLaunchKernel"
        s7: gemm m=16 n=256 k=13 dtype=fp32 #g
    op "c10d::allreduce_"
      call launch "cudaLaunchKernel"
        s20: collective kind=all_reduce bytes=1024 group=2 dtype=fp32 #a
    op "c10d::alltoall_"
      call launch "cudaLaunchKernel"
        s20: collective kind=all_to_all bytes=64 group=2 dtype=fp32 #b
  wait #g -> #a
)";

TEST(JoinRanksTest, MatchesTheNthCollectivesOfAllRanks) {
  const Graph one = GraphOf(kRank);
  const std::vector<RankGraph> ranks = {{.graph = &one, .number = 0},
                                        {.graph = &one, .number = 5}};
  const auto joined = JoinRanks(ranks);
  ASSERT_TRUE(joined) << joined.error().message;
  const GraphData& data = joined->data();
  ASSERT_EQ(data.ranks.size(), 2);
  EXPECT_EQ(data.ranks[RankId{1}].number, 5);
  EXPECT_EQ(data.activities.size(), 6);
  EXPECT_EQ(data.stream_waits.size(), 2);
  ASSERT_EQ(data.collectives.size(), 2);
  for (const MatchedCollective& collective : data.collectives) {
    ASSERT_EQ(collective.activities.size(), 2);
    EXPECT_EQ(joined->shape(collective.activities[0]),
              joined->shape(collective.activities[1]));
    EXPECT_NE(data.activities[collective.activities[0]].stream,
              data.activities[collective.activities[1]].stream);
  }
}

// One rank sends requests to a server, the other does not.
TEST(JoinRanksTest, MessagesAreNotMatched) {
  const Graph asks = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "RemoteLookup"
      call launch "parameter server"
        s1000: collective kind=send_recv bytes=1024 group=2 dtype=fp32
)");
  const Graph does_not = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "linear"
)");
  const std::vector<RankGraph> ranks = {{.graph = &asks, .number = 0},
                                        {.graph = &does_not, .number = 1}};
  const auto joined = JoinRanks(ranks);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->data().activities.size(), 1);
  EXPECT_EQ(joined->data().collectives.size(), 0);
}

TEST(JoinRanksTest, OtherCollectivesAreAnError) {
  const Graph one = GraphOf(kRank);
  const Graph other = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "c10d::allreduce_"
      call launch "cudaLaunchKernel"
        s20: collective kind=all_reduce bytes=1024 group=2 dtype=fp32
)");
  const std::vector<RankGraph> ranks = {{.graph = &one, .number = 0},
                                        {.graph = &other, .number = 1}};
  const auto joined = JoinRanks(ranks);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error().message,
              HasSubstr("ranks have 2 and 1 collectives on stream 20"));
}

}  // namespace
}  // namespace stepcast::ir
