#include "timeline/handoff.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ir::ThreadId kMain{0};
constexpr ir::ThreadId kAutograd{1};

// A step of 100 us with these lines on both threads, and what came of it.
class Split {
 public:
  Split(std::string_view main_lines, std::string_view autograd_lines) {
    const ir::Graph graph = ir::GraphOf(
        fmt::format("stepcast-graph 1\nrank 0 @0+100\n  thread main\n{}"
                    "  thread autograd\n{}",
                    main_lines, autograd_lines));
    const ir::GraphData& data = graph.data();
    const auto tops = TopLevelOps(data);
    main_ = CutThread(data, tops, kMain, std::chrono::microseconds(100));
    autograd_ = CutThread(data, tops, kAutograd, std::nullopt);
    handoffs_ = SplitWaits(data, kMain, main_, kAutograd, autograd_);
  }

  static std::vector<std::string> Lines(const TimedThread& thread) {
    std::vector<std::string> lines;
    for (const TimedSegment& timed : thread.segments) {
      lines.push_back(fmt::format("{} {}-{}", Name(timed.segment.kind),
                                  ToMicroseconds(timed.begin),
                                  ToMicroseconds(timed.end)));
    }
    return lines;
  }
  std::vector<std::string> main() const { return Lines(main_); }
  std::vector<std::string> autograd() const { return Lines(autograd_); }

  // "main 2 -> autograd 0": segments by their place.
  std::vector<std::string> handoffs() const {
    std::vector<std::string> lines;
    for (const Handoff& item : handoffs_) {
      lines.push_back(fmt::format(
          "{} {} -> {} {}", item.from == kMain ? "main" : "autograd",
          item.from_segment, item.to == kMain ? "main" : "autograd",
          item.to_segment));
    }
    return lines;
  }

 private:
  TimedThread main_;
  TimedThread autograd_;
  std::vector<Handoff> handoffs_;
};

constexpr std::string_view kBackward =
    "    op \"bwd1\" @20+20\n"
    "    op \"bwd2\" @45+25\n";

//            0     10    20         40 45        70    80    90    100
//   main     |fwd--|over>|                       |>over|opt--|--t1--|
//   autograd             |bwd1------|t1|bwd2-----|
TEST(HandoffTest, TheMainThreadStartsABurstAndContinuesAfterIt) {
  const Split split("    op \"fwd\" @0+10\n    op \"opt\" @80+10\n", kBackward);
  EXPECT_THAT(split.main(),
              ElementsAre("t1 0-0", "no_launch 0-10", "hand_over 10-20",
                          "hand_over 70-80", "no_launch 80-90", "t1 90-100"));
  EXPECT_THAT(split.autograd(), ElementsAre("t1 20-20", "no_launch 20-40",
                                            "t1 40-45", "no_launch 45-70"));
  EXPECT_THAT(split.handoffs(),
              ElementsAre("main 2 -> autograd 0", "autograd 3 -> main 3"));
}

//            0     10    20         40 42 44 45     70    80    90
//   main     |fwd--|over>|          |>|acc|         |>over|opt--|
//   autograd             |bwd1------|t1---|bwd2-----|
TEST(HandoffTest, ATaskOfTheEngineOnTheMainThreadDoesNotEndABurst) {
  const Split split(
      "    op \"fwd\" @0+10\n"
      "    op \"torch::autograd::AccumulateGrad\" @42+2\n"
      "    op \"opt\" @80+10\n",
      kBackward);
  EXPECT_THAT(split.main(),
              ElementsAre("t1 0-0", "no_launch 0-10", "hand_over 10-20",
                          "hand_over 40-42", "no_launch 42-44",
                          "hand_over 70-80", "no_launch 80-90", "t1 90-100"));
  // One burst: the second op waits for nobody but its thread.
  EXPECT_THAT(split.handoffs(),
              ElementsAre("main 2 -> autograd 0", "autograd 1 -> main 3",
                          "autograd 3 -> main 5"));
}

TEST(HandoffTest, AnOpOfItsOwnOnTheMainThreadEndsABurst) {
  const Split split(
      "    op \"fwd\" @0+10\n    op \"loss\" @42+2\n    op \"opt\" @80+10\n",
      kBackward);
  EXPECT_THAT(
      split.main(),
      ElementsAre("t1 0-0", "no_launch 0-10", "hand_over 10-20",
                  "hand_over 40-42", "no_launch 42-44", "hand_over 44-45",
                  "hand_over 70-80", "no_launch 80-90", "t1 90-100"));
  // What autograd waited before its second burst is gone.
  EXPECT_THAT(split.autograd(), ElementsAre("t1 20-20", "no_launch 20-40",
                                            "t1 45-45", "no_launch 45-70"));
  EXPECT_THAT(split.handoffs(),
              ElementsAre("main 2 -> autograd 0", "autograd 1 -> main 3",
                          "main 5 -> autograd 2", "autograd 3 -> main 6"));
}

TEST(HandoffTest, ABurstThatBeginsInsideACallHasNoHandoff) {
  const Split split(
      "    call launch \"cudaLaunchKernel\" @15+10\n    op \"opt\" @80+10\n",
      kBackward);
  EXPECT_THAT(split.main(),
              ElementsAre("t1 0-15", "t4 15-25", "hand_over 70-80",
                          "no_launch 80-90", "t1 90-100"));
  EXPECT_THAT(split.handoffs(), ElementsAre("autograd 3 -> main 2"));
}

TEST(HandoffTest, ThreadsThatDoNotWaitKeepTheirSegments) {
  const Split split("    op \"all\" @0+100\n", "    op \"bwd\" @-5+3\n");
  EXPECT_THAT(split.main(),
              ElementsAre("t1 0-0", "no_launch 0-100", "t1 100-100"));
  EXPECT_THAT(split.handoffs(), IsEmpty());
}

}  // namespace
}  // namespace stepcast::timeline
