#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

// Three ranks do the same; the last sleeps 5 ms before its collective and
// starts 200 us late. Without that all take what the first takes alone:
//
//   rank 0  |100 a 110|--- waits --------|own 90|
//   rank 2  200 + |100 a 110| 5000 |own 90|
TEST(RemoveStragglerTest, WhatOneRankTakesLongerForIsCutToTheMiddle) {
  const Case before = TraceOf(R"(stepcast-graph 1
rank 0 @0+5400
  thread main
    op "a" @100+20
      call launch "launch" @110+5
        s7: collective kind=all_reduce bytes=4096 group=3 dtype=fp32 "ar" @120+5280 #a0
    call stream_sync "sync" @130+5270 #c0
  wait #a0 -> #c0
rank 1 @0+5400
  thread main
    op "a" @100+20
      call launch "launch" @110+5
        s7: collective kind=all_reduce bytes=4096 group=3 dtype=fp32 "ar" @120+5280 #a1
    call stream_sync "sync" @130+5270 #c1
  wait #a1 -> #c1
rank 2 @200+5200
  thread main
    op "a" @5100+20
      call launch "launch" @5110+5
        s7: collective kind=all_reduce bytes=4096 group=3 dtype=fp32 "ar" @5120+80 #a2
    call stream_sync "sync" @5130+70 #c2
  wait #a2 -> #c2
collective all_reduce #a0 #a1 #a2
)");
  const Changed changed = After(before, {"remove-straggler"});
  // 100 + 20 us to the collective, its own 80 us.
  EXPECT_NEAR(ToMicroseconds(changed.after.prediction.step), 200, 10);
  ASSERT_EQ(changed.notes.size(), 1u);
  EXPECT_THAT(changed.notes[0],
              ::testing::HasSubstr("5.000 ms in 1 place beyond what the middle "
                                   "rank takes, and up to 0.200 ms"));
}

}  // namespace
}  // namespace stepcast::whatif
