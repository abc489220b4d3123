#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learn/fit/overheads/fit_overheads.h"

namespace stepcast::learn {
namespace {

using cost::OverheadPart;
using cost::OverheadRow;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

OverheadRow Row(double mean) {
  return {.count = 10,
          .mean_us = mean,
          .p10_us = mean,
          .p50_us = mean,
          .p90_us = mean};
}

// A host on which everything takes `slowness` times as long; `stall` is in the
// mean of one name.
HostRows Host(double slowness, double stall = 0) {
  HostRows host;
  for (cost::OverheadData* data : {&host.all, &host.usual}) {
    (*data)[OverheadPart::kNoLaunch] = {{"a", Row(1 * slowness)},
                                        {"b", Row(5 * slowness)},
                                        {"c", Row(14 * slowness)},
                                        {"*", Row(3 * slowness)}};
    (*data)[OverheadPart::kActivityGap] = {{"kernel", Row(1)}};
  }
  host.all[OverheadPart::kNoLaunch]["a"].mean_us += stall;
  return host;
}

TEST(SlownessTest, DistinguishesFastHostsFromSlowOnes) {
  const std::vector<HostRows> hosts = {Host(0.5), Host(1), Host(4)};
  EXPECT_THAT(Slowness(hosts),
              ElementsAre(DoubleNear(0.5, 1e-9), DoubleNear(1, 1e-9),
                          DoubleNear(4, 1e-9)));
}

TEST(PoolHostsTest, HasTheTimesOfTheMiddleHost) {
  const std::vector<HostRows> hosts = {Host(0.5), Host(1), Host(4)};
  const cost::OverheadData data = PoolHosts(hosts);
  const cost::OverheadRows& rows = data[OverheadPart::kNoLaunch];
  EXPECT_THAT(rows.at("b").mean_us, DoubleNear(5, 1e-9));
  EXPECT_THAT(rows.at("*").mean_us, DoubleNear(3, 1e-9));
  EXPECT_EQ(rows.at("b").count, 30);
  // The device does not care.
  EXPECT_THAT(data[OverheadPart::kActivityGap].at("kernel").mean_us,
              DoubleNear(1, 1e-9));
}

TEST(PoolHostsTest, ANameThatOnlyASlowHostHasIsMadeFaster) {
  std::vector<HostRows> hosts = {Host(1), Host(1), Host(4)};
  hosts[2].all[OverheadPart::kNoLaunch]["only"] = Row(8);
  hosts[2].usual[OverheadPart::kNoLaunch]["only"] = Row(8);
  EXPECT_THAT(PoolHosts(hosts)[OverheadPart::kNoLaunch].at("only").mean_us,
              DoubleNear(2, 1e-9));
}

TEST(PoolHostsTest, StallsComeBackAsOneFactor) {
  // Each host loses 2 of 20 us to stalls of "a"; so does each name then.
  const std::vector<HostRows> hosts = {Host(1, 2), Host(1, 2), Host(1, 2)};
  const cost::OverheadData data = PoolHosts(hosts);
  EXPECT_THAT(data[OverheadPart::kNoLaunch].at("c").mean_us,
              DoubleNear(14 * 1.1, 1e-9));
}

}  // namespace
}  // namespace stepcast::learn
