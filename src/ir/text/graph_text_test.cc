#include "ir/text/graph_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/tries_testing.h"
#include "ir/graph_builder.h"

namespace stepcast::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOfGraph(std::string_view text) {
  const auto graph = ParseGraph(text);
  return graph ? "no error" : graph.error().message;
}

// What the parser says to one line below the header.
std::string ErrorOfLine(std::string_view line) {
  return ErrorOfGraph("stepcast-graph 1\n" + std::string(line) + "\n");
}

// What it says to one line at the right depth in a rank, a thread, a call.
std::string ErrorInRank(std::string_view line) {
  return ErrorOfLine("rank 0\n  " + std::string(line));
}
std::string ErrorInThread(std::string_view line) {
  return ErrorInRank("thread main\n    " + std::string(line));
}
std::string ErrorInCall(std::string_view line) {
  return ErrorInThread("call launch \"\"\n      " + std::string(line));
}

std::string Rewritten(std::string_view text) {
  const auto graph = ParseGraph(text);
  return graph ? GraphText(*graph) : graph.error().message;
}

TEST(GraphTextTest, EveryPartHasItsPlace) {
  constexpr std::string_view kText = R"(stepcast-graph 1
source "kineto"
rank 0 "Tesla V100-SXM2-32GB" @0+14455
  streams 7 20 22
  thread main "python"
    op "aten::addmm" phase=forward seq=12 @10.5+25
      in fp32[16,13]@gpu#5 int64[]
      out fp32[16,256]@gpu
      call launch "cudaLaunchKernel" @15+5
        s7: gemm batch=1 m=16 n=256 k=13 dtype=fp32 "volta_sgemm" @24+3.125 #w0
    call event_record "cudaEventRecord" stream=7 @50+1 #c1
    call stream_wait "cudaStreamWaitEvent" stream=20 event=#c1 @52+1
    annotation "nccl:all_to_all" @53+10
      call launch "cudaLaunchKernelExC" @54+1
        s20: collective kind=all_to_all bytes=24576 group=2 send=96,224 @60+20 #w1
    call device_sync "cudaDeviceSynchronize" @100+3 #c4
  thread autograd
  s22: fill bytes=64 memset "Memset" @-5+1
  wait #w0 -> #w1 inferred
  wait #w1 -> #c4
rank 1
  streams 20
  s20: collective kind=all_to_all bytes=24576 group=2 #w3
collective all_to_all #w1 #w3
)";
  EXPECT_EQ(Rewritten(kText), kText);
}

TEST(GraphTextTest, TheGraphHasWhatTheTextSays) {
  const auto graph = ParseGraph(R"(stepcast-graph 1
rank 3 "V100"
  thread autograd "pt_autograd_0"
    op "mul" phase=backward seq=7 @1.5+2
      in fp32[2,3]@gpu#9
      call launch "launch" @2+1
        s7: fill bytes=8 @5+1
)");
  ASSERT_TRUE(graph) << graph.error().message;
  const GraphData& data = graph->data();
  EXPECT_EQ(data.ranks[RankId{0}].number, 3);
  EXPECT_EQ(graph->text(data.ranks[RankId{0}].gpu), "V100");
  EXPECT_EQ(data.threads[ThreadId{0}].role, ThreadRole::kAutograd);
  const Op& op = data.ops[OpId{0}];
  EXPECT_EQ(graph->text(op.name), "mul");
  EXPECT_EQ(op.phase, Phase::kBackward);
  EXPECT_EQ(op.sequence, 7);
  EXPECT_EQ(op.measured,
            (Measured{.start = Duration{1'500}, .duration = Duration{2'000}}));
  EXPECT_EQ(data.tensors[TensorId{0}], (Tensor{.dims = {2, 3},
                                               .dtype = DType::kFp32,
                                               .device = Device::kGpu,
                                               .storage = 9}));
  EXPECT_EQ(data.calls[CallId{0}].op, OpId{0});
  const Activity& activity = data.activities[ActivityId{0}];
  EXPECT_EQ(activity.call, CallId{0});
  EXPECT_EQ(activity.kind, ActivityKind::kKernel);
  EXPECT_EQ(data.streams[activity.stream].number, 7);
  EXPECT_EQ(graph->shape(ActivityId{0}), KernelShape(Fill{.bytes = Bytes{8}}));
}

TEST(GraphTextTest, CommentsBlankLinesAndWindowsLineEndsAreFine) {
  EXPECT_EQ(Rewritten("stepcast-graph 1\r\n"
                      "\r\n"
                      "# The only rank.\r\n"
                      "rank 0\r\n"
                      "      # Its streams:\r\n"
                      "  streams 8 7 8\r\n"
                      "\n"),
            "stepcast-graph 1\n"
            "rank 0\n"
            "  streams 7 8\n");
}

// Rank 3 drives device 3, and also uses device 4.
TEST(GraphTextTest, OnlyStreamsOfAnotherDeviceThanTheRanksNameIt) {
  constexpr std::string_view kText = R"(stepcast-graph 1
rank 3 device=3
  streams 7 20 4/7
  thread main
    call stream_sync "cudaStreamSynchronize" stream=4/7
  s7: opaque
  s4/7[1]: opaque
  s4/7[0]: opaque
)";
  EXPECT_EQ(Rewritten(kText),
            "stepcast-graph 1\n"
            "rank 3 device=3\n"
            "  streams 7 20 4/7\n"
            "  thread main\n"
            "    call stream_sync \"cudaStreamSynchronize\" stream=4/7\n"
            "  s7: opaque\n"
            "  s4/7: opaque\n"
            "  s4/7: opaque\n");
  const auto graph = ParseGraph(kText);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->data().streams[StreamId{0}].device, 3);
  EXPECT_EQ(graph->data().streams[StreamId{2}].device, 4);
  EXPECT_THAT(ErrorInRank("streams x/7"), HasSubstr("number of a stream"));
  EXPECT_THAT(ErrorInRank("streams 1/"), HasSubstr("number of a stream"));
}

// Forward, backward and optimizer on one stream, without times: the order of
// the lines is not that of the stream.
TEST(GraphTextTest, PlacesShowTheOrderOfAStreamWhereLinesDoNot) {
  constexpr std::string_view kText = R"(stepcast-graph 1
rank 0
  streams 7
  thread main
    op "forward"
      call launch "launch"
        s7: gemm m=1
        s7: gemm m=2
    op "optimizer"
      call launch "launch"
        s7[4]: gemm m=5
  thread autograd
    op "backward"
      call launch "launch"
        s7[2]: gemm m=3
        s7: gemm m=4
)";
  EXPECT_EQ(Rewritten(kText), kText);
  const auto graph = ParseGraph(kText);
  ASSERT_TRUE(graph);
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(std::get<Gemm>(graph->shape(ActivityId{i})).m, i + 1);
  }
}

TEST(GraphTextTest, PlacesMustFillTheStream) {
  EXPECT_THAT(ErrorInRank("s7[1]: opaque"),
              HasSubstr("line 3: place 1 on a stream of 1 activities"));
  EXPECT_THAT(ErrorInRank("s7: opaque\n  s7[0]: opaque"),
              HasSubstr("line 4: place 0 on its stream is taken since line 3"));
  EXPECT_THAT(ErrorInRank("s7[4294967295]: opaque"), HasSubstr("s7[3]"));
  EXPECT_THAT(ErrorInRank("s7[-1]: opaque"), HasSubstr("s7[3]"));
  EXPECT_THAT(ErrorInRank("s7[1: opaque"), HasSubstr("s7[3]"));
}

TEST(GraphTextTest, TheFirstLineIsTheHeader) {
  EXPECT_EQ(ErrorOfGraph(""),
            "line 1: nothing here; expected 'stepcast-graph 1'");
  EXPECT_EQ(ErrorOfGraph("stepcast-graph 2\n"),
            "line 1: 'stepcast-graph 2'; expected 'stepcast-graph 1'");
  EXPECT_EQ(ErrorOfGraph("\nstepcast-graph 1\n"),
            "line 1: nothing here; expected 'stepcast-graph 1'");
}

TEST(GraphTextTest, UnknownWordsAreNamedWithTheirLine) {
  EXPECT_EQ(ErrorOfLine("ranks 0"),
            "line 2: unknown word 'ranks'; expected source, rank or "
            "collective");
  EXPECT_EQ(ErrorInRank("tread main"),
            "line 3: unknown word 'tread'; expected streams, thread, wait or "
            "an activity such as 's7: ...'");
  EXPECT_EQ(ErrorInThread("opp \"x\""),
            "line 4: unknown word 'opp'; expected op, annotation, call, in or "
            "out");
  EXPECT_EQ(ErrorInThread("op \"x\" fase=forward"),
            "line 4: unknown word 'fase=forward'; expected a name in quotes, "
            "phase=, seq=, modules, site, a time or a label");
  EXPECT_EQ(ErrorInThread("op \"x\" site train.py"),
            "line 4: 'train.py'; expected text in quotes");
  EXPECT_EQ(ErrorInThread("op \"x\" modules \"A\" modules \"B\""),
            "line 4: \"B\": the line has one already");
  EXPECT_THAT(ErrorInThread("op \"x\" phase=foreward"),
              HasSubstr("unknown word 'foreward'; expected unknown, "));
  EXPECT_THAT(ErrorInThread("call lunch \"x\""),
              HasSubstr("unknown word 'lunch'; expected launch, "));
  EXPECT_THAT(ErrorInCall("op \"x\""),
              HasSubstr("line 5: unknown word 'op'; expected an activity"));
  EXPECT_THAT(ErrorInCall("s7: gem"), HasSubstr("unknown kind of shape"));
}

TEST(GraphTextTest, WhatAWordHoldsIsChecked) {
  EXPECT_EQ(ErrorOfLine("rank x"), "line 2: 'x': expected a whole number");
  EXPECT_THAT(ErrorOfLine("rank"), HasSubstr("the line ends; expected"));
  EXPECT_THAT(ErrorOfLine("rank 0 #r"), HasSubstr("cannot have a label"));
  EXPECT_THAT(ErrorInRank("thread main @1+2"), HasSubstr("cannot have a time"));
  EXPECT_THAT(ErrorInThread("op \"x\" @1"), HasSubstr("'@start+duration'"));
  EXPECT_THAT(ErrorInThread("op \"x\" @1+1 @1+1"), HasSubstr("one already"));
  EXPECT_THAT(ErrorInThread("op \"x\" \"y\""), HasSubstr("one already"));
  EXPECT_THAT(ErrorInThread("op \"x"), HasSubstr("no closing quote"));
  EXPECT_THAT(ErrorInThread("op \"x\"y"), HasSubstr("no blank after"));
  EXPECT_THAT(ErrorInThread("op \"\\q\""), HasSubstr("an escape in it"));
  EXPECT_THAT(ErrorInThread("op \"x\"\n      in fp32"),
              HasSubstr("line 5: 'fp32': expected a tensor"));
  EXPECT_THAT(ErrorInCall("7: gemm"), HasSubstr("expected a stream"));
  EXPECT_THAT(ErrorInCall("s7: fill memset kernel"), HasSubstr("already"));
  EXPECT_THAT(ErrorInRank("wait #a #b"), HasSubstr("'#before -> #after'"));
  EXPECT_THAT(ErrorInRank("wait #a -> #b soon"), HasSubstr("'inferred'"));
}

TEST(GraphTextTest, TensorsStandRightBelowTheirOp) {
  EXPECT_THAT(ErrorInThread("in fp32[1]"), HasSubstr("right below its op"));
  EXPECT_THAT(ErrorInThread("op \"a\"\n      op \"b\"\n      in fp32[1]"),
              HasSubstr("line 6: 'in' must stand right below its op"));
}

TEST(GraphTextTest, LinesCannotBeDeeperThanWhatIsAroundThem) {
  EXPECT_EQ(ErrorOfLine("  thread main"),
            "line 2: at depth 1; expected at most 0 here");
  EXPECT_EQ(ErrorOfLine(" rank 0"),
            "line 2: 1 blanks in front; expected two a level");
  EXPECT_THAT(ErrorOfLine("^99999999999999 rank 0"), HasSubstr("at depth 9"));
  EXPECT_THAT(ErrorOfLine("^x rank 0"), HasSubstr("expected a depth"));
  EXPECT_THAT(ErrorInRank("streams 7\n    op \"below a stream\""),
              HasSubstr("at depth 2; expected at most 1"));
}

TEST(GraphTextTest, LabelsMustBeDefinedOnceAndFit) {
  EXPECT_THAT(ErrorInRank("wait #a -> #b"),
              HasSubstr("line 3: nothing has the label 'a'"));
  EXPECT_THAT(ErrorInRank("s7: opaque #a\n  s7: opaque #a"),
              HasSubstr("line 4: label 'a' stands for something else since "
                        "line 3"));
  EXPECT_THAT(ErrorInThread("op \"x\" #x\n    call event_sync \"\" event=#x"),
              HasSubstr("line 5: label 'x' is an op; expected a call"));
  EXPECT_THAT(ErrorInRank("s7: opaque #a\n  thread main\n    op \"x\" #x\n"
                          "  wait #a -> #x"),
              HasSubstr("label 'x' is an op; expected a call"));
}

TEST(GraphTextTest, BrokenRulesAreReported) {
  EXPECT_EQ(ErrorOfLine("rank 0\nrank 0"),
            "rank 0: it follows rank 0; expected each once, in order");
}

// Indentation alone would need 2 TB for this.
TEST(GraphTextTest, HandlesAMillionNestedOps) {
  constexpr uint32_t kDepth = Tries(1'000'000u);
  GraphBuilder builder;
  const ThreadId thread =
      builder.AddThread({.rank = builder.AddRank({.number = 0})});
  OpId parent{};
  for (uint32_t i = 0; i < kDepth; ++i) {
    parent = builder.AddOp({.thread = thread, .parent = parent});
  }
  // One call per op, innermost last, and then outwards again.
  for (uint32_t i = 0; i < kDepth; ++i) {
    builder.AddCall({.thread = thread, .op = OpId{kDepth - 1 - i}});
  }
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;
  const std::string text = GraphText(*graph);
  EXPECT_LT(text.size(), 200'000'000u);
  const auto again = ParseGraph(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(SameContent(*graph, *again));
}

// Calls that all belong to an op closed long ago, below a deep nest.
TEST(GraphTextTest, MisplacedCallsInADeepNestTakeLinearTime) {
  constexpr uint32_t kCount = 100'000;
  GraphBuilder builder;
  const ThreadId thread =
      builder.AddThread({.rank = builder.AddRank({.number = 0})});
  const OpId closed = builder.AddOp({.thread = thread});
  OpId parent{};
  for (uint32_t i = 0; i < kCount; ++i) {
    parent = builder.AddOp({.thread = thread, .parent = parent});
  }
  builder.AddCall({.thread = thread, .op = parent});
  for (uint32_t i = 0; i < kCount; ++i) {
    builder.AddCall({.thread = thread, .op = closed});
  }
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;
  const auto again = ParseGraph(GraphText(*graph));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(SameContent(*graph, *again));
}

TEST(GraphTextTest, ErrorsOfHostileTextStayOnOneShortLine) {
  const std::string error = ErrorOfLine(std::string(100'000, '\x02'));
  EXPECT_LT(error.size(), 300u);
  EXPECT_THAT(error, StartsWith("line 2: "));
  EXPECT_EQ(error.find('\x02'), std::string::npos);
}

}  // namespace
}  // namespace stepcast::ir
