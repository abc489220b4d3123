#include "report/verdict.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::report {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

engine::RankAccount AccountOf(Duration step) {
  engine::RankAccount account;
  account.step = step;
  return account;
}

PathSummary WaitOf(PathWaits waits) {
  PathSummary path;
  path.length = microseconds(100);
  path.waits = waits;
  path.kinds[static_cast<size_t>(engine::PathKind::kWait)] =
      waits.step_start + waits.thread_start + waits.step_before;
  path.kinds[static_cast<size_t>(engine::PathKind::kKernel)] = microseconds(30);
  return path;
}

std::string VerdictOf(const PathSummary& path) {
  return Verdict(path, AccountOf(path.length));
}

TEST(VerdictTest, WorkOfTheStepBeforeIsNoLateRank) {
  PathSummary path = WaitOf({.step_before = microseconds(51)});
  path.hops = {{.rank = 2}, {.rank = 0}};
  EXPECT_THAT(VerdictOf(path),
              StartsWith("held up by work of the step before: 51.0 % of"));
}

TEST(VerdictTest, ARankThatOthersWaitForIsNamed) {
  PathSummary path = WaitOf({.step_start = microseconds(60)});
  path.hops = {{.rank = 7}, {.rank = 4}};
  EXPECT_THAT(VerdictOf(path),
              StartsWith("held up by rank 7, which starts late: 60.0 % of"));
}

TEST(VerdictTest, ASingleRankWaitsForNoOther) {
  PathSummary path = WaitOf({.step_start = microseconds(60)});
  path.hops = {{.rank = 1}};
  EXPECT_THAT(VerdictOf(path), StartsWith("held up before its step began"));
}

TEST(VerdictTest, ALateThreadIsNoLateRank) {
  EXPECT_THAT(VerdictOf(WaitOf({.thread_start = microseconds(60)})),
              StartsWith("held up by a thread that starts late"));
}

// 25 + 25 us of waits for two reasons are less than 30 us of kernels.
TEST(VerdictTest, WaitsForSeveralReasonsAreNotOne) {
  const std::string verdict = VerdictOf(WaitOf(
      {.step_start = microseconds(25), .step_before = microseconds(25)}));
  EXPECT_THAT(verdict, StartsWith("bound by kernels: 30.0 %"));
  EXPECT_THAT(verdict, Not(HasSubstr("late")));
}

}  // namespace
}  // namespace stepcast::report
