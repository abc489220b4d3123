#include "fleet/closed_network.h"

#include <gtest/gtest.h>

namespace stepcast::fleet {
namespace {

TEST(ClosedNetworkTest, ACustomerAloneNeverQueues) {
  const NetworkUse use = SolveNetwork(
      {{.demand_us = 30, .customers = 1}, {.demand_us = 20, .customers = 1}},
      50);
  EXPECT_NEAR(use.round_us, 100, 1e-6);
  EXPECT_NEAR(use.stations[0].utilisation, 0.3, 1e-9);
}

TEST(ClosedNetworkTest, ManyCustomersKeepTheSlowestStationBusy) {
  const NetworkUse use = SolveNetwork({{.demand_us = 30, .customers = 1000},
                                       {.demand_us = 20, .customers = 1000}},
                                      50);
  // 1000 customers at 30 us each, one after the other.
  EXPECT_NEAR(use.round_us, 30000, 300);
  EXPECT_GT(use.stations[0].utilisation, 0.99);
  EXPECT_LE(use.stations[0].utilisation, 1);
  EXPECT_NEAR(use.stations[1].utilisation, 2.0 / 3, 0.01);
}

TEST(ClosedNetworkTest, TwoCustomersMeetHalfTheTime) {
  // Mean value analysis with two customers and one station: the second finds
  // the first there all the time, so a round is two services.
  const NetworkUse use = SolveNetwork({{.demand_us = 10, .customers = 2}}, 0);
  EXPECT_NEAR(use.round_us, 20, 1e-6);
  EXPECT_NEAR(use.stations[0].utilisation, 1, 1e-6);
}

TEST(ClosedNetworkTest, ServersEnoughForAllMakeNoQueue) {
  const NetworkUse use =
      SolveNetwork({{.demand_us = 10, .servers = 8, .customers = 8}}, 90);
  EXPECT_NEAR(use.round_us, 100, 1e-6);
  EXPECT_NEAR(use.stations[0].utilisation, 0.1, 1e-9);
}

}  // namespace
}  // namespace stepcast::fleet
