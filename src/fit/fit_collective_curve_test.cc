#include "fit/fit_collective_curve.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stepcast::fit {
namespace {

constexpr cost::Ramp kTrue{.latency_us = 12, .bus_gbs = 200, .blend = 0.6};
constexpr cost::Ramp kFormula{.latency_us = 9, .bus_gbs = 300, .blend = 0.8};

// Every octave from 512 B to 256 MB, as a ramp says, with a step from
// `step_log2` on.
MeasuredCurve Curve(double step_log2, double factor) {
  MeasuredCurve curve{.kind = ir::CollectiveKind::kAllGather,
                      .group = {.ranks = 4}};
  for (int octave = 9; octave <= 28; ++octave) {
    const double bytes = std::exp2(octave);
    const double us = kTrue.Us(bytes) * (octave >= step_log2 ? factor : 1);
    curve.points.push_back({.wire_bytes = bytes, .log_us = std::log(us)});
    curve.row_bytes.push_back(bytes);
    curve.row_us.push_back(us);
  }
  curve.rows = curve.row_us.size();
  return curve;
}

TEST(FitRamp, FindsTheRampBehindTheTimes) {
  const cost::Ramp ramp = FitRamp(Curve(99, 1), kFormula);
  EXPECT_NEAR(ramp.latency_us, 12, 0.2);
  EXPECT_NEAR(ramp.bus_gbs, 200, 6);
  EXPECT_NEAR(ramp.blend, 0.6, 0.02);
}

TEST(FitRamp, StaysWithTheFormulaWhereThereAreFewSizes) {
  MeasuredCurve curve = Curve(99, 1);
  curve.points.erase(curve.points.begin(), curve.points.end() - 3);
  const cost::Ramp ramp = FitRamp(curve, kFormula);
  // Large messages tell the rate, and nothing of the latency.
  EXPECT_NEAR(ramp.Us(std::exp2(28)), kTrue.Us(std::exp2(28)),
              0.02 * kTrue.Us(std::exp2(28)));
  EXPECT_NEAR(ramp.latency_us, 9, 5);
}

TEST(FitCurve, BendsWhereAProtocolChanges) {
  const MeasuredCurve measured = Curve(20, 1.5);
  const cost::CollectiveCurve curve = FitCurve(measured, kFormula);
  for (const SizePoint& point : measured.points) {
    const double us = std::exp(point.log_us);
    EXPECT_NEAR(curve.Us(point.wire_bytes, kFormula), us, 0.12 * us);
  }
  // Two octaves away it is as good as without a step.
  EXPECT_NEAR(curve.Us(std::exp2(24), kFormula), 1.5 * kTrue.Us(std::exp2(24)),
              0.04 * 1.5 * kTrue.Us(std::exp2(24)));
}

TEST(FitCurve, NeverFalls) {
  const cost::CollectiveCurve curve = FitCurve(Curve(15, 0.6), kFormula);
  double before = 0;
  for (int tenth = 50; tenth < 320; ++tenth) {
    const double us = curve.Us(std::exp2(tenth / 10.0), kFormula);
    EXPECT_GE(us, before * (1 - 1e-12)) << tenth;
    before = us;
  }
}

}  // namespace
}  // namespace stepcast::fit
