#include "collect/cuda/device_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/cuda/fake_device.h"

namespace stepcast::collect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NameOfTest, IsFitForFiles) {
  EXPECT_EQ(NameOf("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(NameOf("Tesla V100-SXM2-16GB"), "tesla-v100-sxm2-16gb");
  EXPECT_EQ(NameOf("../(a)/"), "a");
  EXPECT_EQ(NameOf(""), "device");
}

TEST(MeasurePeaksTest, AreTheBestRatesWithHeadroom) {
  FakeDevice device;
  const Peaks peaks = MeasurePeaks(device, device.clock());
  // 8 and 60 TFLOP/s and 750 GB/s of the fake, a quarter on top; noise 1 %.
  EXPECT_NEAR(peaks.fp32_tflops, 10, 0.3);
  EXPECT_NEAR(peaks.fp16_tflops, 75, 2);
  EXPECT_NEAR(peaks.dram_gbs, 937, 20);
  EXPECT_EQ(peaks.bf16_tflops, 0);
}

TEST(DeviceFileTest, HasWhatIsKnownAndNothingElse) {
  FakeDevice device;
  Peaks peaks;
  peaks.fp32_tflops = 10;
  const std::string text = DeviceFile("v100", device.facts(), peaks);
  EXPECT_THAT(text, HasSubstr("name = \"v100\""));
  EXPECT_THAT(text, HasSubstr("generation = \"volta\""));
  EXPECT_THAT(text, HasSubstr("sm_count = { value = 80, source = "
                              "\"the driver\" }"));
  EXPECT_THAT(text, HasSubstr("l2_mb = { value = 6,"));
  EXPECT_THAT(text, HasSubstr("fp32_tflops = { value = 10, source = "
                              "\"measured\" }"));
  EXPECT_THAT(text, Not(HasSubstr("bf16_tflops")));
}

}  // namespace
}  // namespace stepcast::collect
