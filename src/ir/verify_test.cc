#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"
#include "ir/text/graph_text.h"

namespace stepcast::ir {
namespace {

using ::testing::HasSubstr;

// Activities are a0, a1 and a2:
//
// rank 0  thread 0 main      op 0 forward > op 1 addmm > call 0 > a0 on s7
//                            call 1 record, call 2 wait
//         thread 1 autograd  op 2 backward > call 3 > a1 on s20
// rank 1  thread 2 main      op 3 forward > call 4 > a2 on s20
GraphData TwoRanks() {
  constexpr std::string_view kText = R"(stepcast-graph 1
rank 0
  thread main
    op "forward" @0+100
      op "addmm" @10+20
        in fp32[1]
        call launch "launch" @11+1
          s7: gemm @20+5 #w0
    call event_record "record" stream=7 @150+1 #c1
    call stream_wait "wait" stream=20 event=#c1 @152+1
  thread autograd
    op "backward" @100+50
      call launch "launch" @110+1 #c3
        s20: collective kind=all_reduce @120+5 #w1
  wait #w0 -> #w1
  wait #w0 -> #c3
rank 1
  thread main
    op "forward" @0+100
      call launch "launch" @11+1
        s20: collective kind=all_reduce @30+5 #w2
collective all_reduce #w1 #w2
)";
  return GraphOf(kText).data();
}

// What the verifier says after `damage` was done to TwoRanks.
template <typename Damage>
std::string Complaint(Damage damage) {
  GraphData data = TwoRanks();
  damage(data);
  const Status status = Verify(data);
  return status ? "none" : status.error().message;
}

TEST(VerifyTest, AGoodGraphIsAccepted) {
  EXPECT_EQ(Complaint([](GraphData&) {}), "none");
}

TEST(VerifyTest, IdsMustBeInRange) {
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.ops[OpId{1}].parent = OpId{44}; }),
      "op 1 'addmm': its parent is number 44 of 4");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.activities[ActivityId{0}].stream = StreamId{};
            }),
            "activity 0 '': it has no stream");
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.host_waits[0].call = CallId{99}; }),
      "a host wait: its call is number 99 of 5");
}

TEST(VerifyTest, RanksAndStreamsComeOnceAndInOrder) {
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.ranks[RankId{1}].number = 0; }),
      "rank 0: it follows rank 0; expected each once, in order");
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.streams[StreamId{1}].number = 7; }),
      "stream 7 on device 0 of rank 0: it follows stream 7 on device 0 "
      "of rank 0; expected each once, in order");
}

TEST(VerifyTest, OpsNestOnOneThread) {
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.ops[OpId{0}].parent = OpId{1}; }),
      "op 0 'forward': its parent is op 1 'addmm', which does not come "
      "before it");
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.ops[OpId{2}].parent = OpId{0}; }),
      "op 2 'backward': its parent, op 0 'forward', is on another "
      "thread");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.ops[OpId{3}].thread = ThreadId{0};
            }),
            "op 3 'forward': not in the order of threads");
}

TEST(VerifyTest, TensorsFollowEachOther) {
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.ops[OpId{1}].inputs.count = 0; }),
      "op 1 'addmm': its tensors start at 1; expected 0");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.ops[OpId{1}].inputs.count = 0xFFFFFFFF;
            }),
            "op 1 'addmm': its tensors lie beyond the 1 there are");
  EXPECT_EQ(Complaint([](GraphData& data) { data.tensors.push_back({}); }),
            "tensor 1 belongs to no op");
}

TEST(VerifyTest, TimesArePossible) {
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.activities[ActivityId{0}].measured->duration = Duration{-5};
            }),
            "activity 0 '': its duration is -5 ns; expected 0 or more");
  EXPECT_THAT(Complaint([](GraphData& data) {
                data.calls[CallId{0}].measured->start = Duration::min();
              }),
              HasSubstr("call 0 'launch': its start -9223372036854775808 ns"));
}

TEST(VerifyTest, TimesAreInOrder) {
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.calls[CallId{2}].measured->start = Duration{149'000};
            }),
            "call 2 'wait': it starts before a call in front of it");
}

TEST(VerifyTest, CallsStayOnTheirThreadAndRank) {
  EXPECT_EQ(
      Complaint([](GraphData& data) { data.calls[CallId{0}].op = OpId{2}; }),
      "call 0 'launch': its op, op 2 'backward', is on another thread");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.calls[CallId{1}].stream = StreamId{2};
            }),
            "call 1 'record': its stream is stream 20 on device 0 of rank 1, "
            "on another rank");
}

TEST(VerifyTest, OnlyWaitsHaveAnEventAndItIsARecord) {
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.calls[CallId{2}].event = CallId{0};
            }),
            "call 2 'wait': its event, call 0 'launch', records none");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.calls[CallId{0}].event = CallId{1};
            }),
            "call 0 'launch': a call of kind launch waits for no event");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.calls[CallId{4}].kind = CallKind::kEventSync;
              data.calls[CallId{4}].event = CallId{1};
            }),
            "call 4 'launch': its event, call 1 'record', is on another rank");
}

TEST(VerifyTest, ActivitiesAreLaunchedByTheirOwnRank) {
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.activities[ActivityId{0}].call = CallId{4};
            }),
            "activity 0 '': it is on stream 7 on device 0 of rank 0, but was "
            "launched on rank 1");
}

TEST(VerifyTest, ShapesAreDistinct) {
  EXPECT_EQ(Complaint([](GraphData& data) { data.shapes.push_back(Gemm{}); }),
            "shape 2: it equals shape 0");
}

TEST(VerifyTest, CollectivesHaveOneActivityPerRankOfTheirKind) {
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.collectives[CollectiveId{0}].activities[0] = ActivityId{0};
            }),
            "collective 0 (all_reduce): its activity 0 '' is not a collective "
            "of this kind");
  EXPECT_THAT(Complaint([](GraphData& data) {
                data.collectives[CollectiveId{0}].activities[1] = ActivityId{1};
              }),
              HasSubstr("expected one per rank, in order"));
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.collectives[CollectiveId{0}].activities.pop_back();
            }),
            "2 activities say they are part of a collective, but the "
            "collectives have 1");
}

TEST(VerifyTest, WaitsStayOnTheirRank) {
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.stream_waits[0].after = ActivityId{2};
            }),
            "activity 2 '': it waits for activity 0 '', which is on another "
            "rank");
  EXPECT_EQ(Complaint([](GraphData& data) {
              data.host_waits[0].before = ActivityId{2};
            }),
            "call 3 'launch': it waits for activity 2 '', which is on another "
            "rank");
}

TEST(VerifyTest, WaitsJoinDifferentStreams) {
  EXPECT_THAT(Complaint([](GraphData& data) {
                data.stream_waits[0].after = ActivityId{0};
              }),
              HasSubstr("which is on the same stream"));
}

// s1: a  b      b waits for d, which stands after c on its stream; c waits
// s2: c  d      for b.
TEST(VerifyTest, ActivitiesMustNotWaitInACycleAlongTheirStreams) {
  const auto graph = ParseGraph(R"(stepcast-graph 1
rank 0
  s1: opaque "a"
  s1: opaque "b" #b
  s2: opaque "c" #c
  s2: opaque "d" #d
  s3: opaque "after" #e
  wait #d -> #b
  wait #b -> #c
  wait #b -> #e
)");
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message,
              ::testing::MatchesRegex("activity [123] '[bcd]': it waits for "
                                      "itself, along streams and stream "
                                      "waits"));
}

}  // namespace
}  // namespace stepcast::ir
