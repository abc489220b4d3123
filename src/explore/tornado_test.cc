#include "explore/tornado.h"

#include <gtest/gtest.h>

#include "explore/read_study.h"

namespace stepcast::explore {
namespace {

TEST(TornadoTest, TheWidestBarComesFirstAndInputsMoveAlone) {
  const auto study = ParseStudy(R"(
model = "dlrm_default"
[base]
gpu = "v100-sxm-32gb"
batch = 4096
[[sensitivity]]
name = "throughput"
of = {}
inputs = [
  { setting = "pooling", low = 90, high = 110 },
  { setting = "mlp_width", low = 256, high = 2048 },
]
[[sensitivity]]
name = "against itself"
of = { pooling = 10 }
against = { pooling = 10 }
inputs = [{ setting = "dim", low = 32, high = 128 }]
)",
                                "s.toml");
  ASSERT_TRUE(study.has_value()) << study.error().message;
  const std::vector<Tornado> tornados = MakeTornados(*study);
  ASSERT_EQ(tornados.size(), 2u);
  const Tornado& first = tornados[0];
  ASSERT_EQ(first.bars.size(), 2u);
  EXPECT_EQ(first.bars[0].setting, "mlp_width");
  // More work, fewer samples; what is usual lies between.
  for (const TornadoBar& bar : first.bars) {
    EXPECT_GT(bar.at_low, first.usual);
    EXPECT_LT(bar.at_high, first.usual);
  }
  EXPECT_EQ(tornados[1].usual, 1);
  EXPECT_EQ(tornados[1].bars[0].at_low, 1);
}

TEST(TornadoTest, WhatDoesNotFitMovesMost) {
  const auto study = ParseStudy(R"(
model = "dlrm_default"
[[sensitivity]]
name = "throughput"
of = {}
inputs = [
  { setting = "mlp_width", low = 64, high = 4096 },
  { setting = "rows", low = 1000, high = 1_000_000_000 },
]
)",
                                "s.toml");
  ASSERT_TRUE(study.has_value()) << study.error().message;
  const std::vector<Tornado> tornados = MakeTornados(*study);
  ASSERT_EQ(tornados.size(), 1u);
  EXPECT_EQ(tornados[0].bars[0].setting, "rows");
  EXPECT_TRUE(std::isnan(tornados[0].bars[0].at_high));
}

}  // namespace
}  // namespace stepcast::explore
