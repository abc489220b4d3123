#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/kernels/convolution_size.h"
#include "cost/kernels/families.h"
#include "cost/machine_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::Convolution;
using ir::DType;
using ir::Pass;

// 3x3, stride 1, padding 1 on a square.
Convolution Square(int64_t batch, int64_t in, int64_t size, int64_t out) {
  return {.batch = batch,
          .in_channels = in,
          .height = size,
          .width = size,
          .out_channels = out,
          .kernel_height = 3,
          .kernel_width = 3,
          .padding = 1,
          .dtype = DType::kFp32};
}

double Time(const Convolution& op, const Machine& machine) {
  return ConvolutionBase(op, machine).time_us;
}

TEST(SizeOfConvolution, CountsMultiplicationsAlikeForwardAndBackward) {
  Convolution op = Square(8, 64, 56, 128);
  op.stride = 2;
  // 28 x 28 outputs.
  const double forward = 8.0 * 28 * 28 * 128 * 64 * 9;
  for (const Pass pass :
       {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeight}) {
    EXPECT_NEAR(SizeOfConvolution(op, pass).Direct().multiplications(), forward,
                1e-6 * forward);
  }
}

TEST(SizeOfConvolution, GroupsDivideTheWork) {
  Convolution op = Square(8, 64, 56, 128);
  const double whole =
      SizeOfConvolution(op, Pass::kForward).Direct().multiplications();
  op.groups = 4;
  EXPECT_DOUBLE_EQ(
      SizeOfConvolution(op, Pass::kForward).Direct().multiplications(),
      whole / 4);
}

TEST(SizeOfConvolution, OnlyThreeByThreeFp32HasWinograd) {
  Convolution op = Square(8, 64, 56, 128);
  EXPECT_TRUE(SizeOfConvolution(op, Pass::kForward).winograd);
  op.stride = 2;
  EXPECT_FALSE(SizeOfConvolution(op, Pass::kForward).winograd);
  op.stride = 1;
  op.dtype = DType::kFp16;
  EXPECT_FALSE(SizeOfConvolution(op, Pass::kForward).winograd);
}

TEST(ConvolutionBase, WinogradBeatsTheDirectRate) {
  // 2·32·56²·256²·9 flop / 14 Tflop/s = 8.5 ms at the peak of V100.
  const Machine v100 = On("v100-pcie-32gb");
  const Convolution op = Square(32, 256, 56, 256);
  const double direct_peak = 2.0 * 32 * 56 * 56 * 256 * 256 * 9 / 14e6;
  const Base base = ConvolutionBase(op, v100);
  EXPECT_LT(base.time_us, direct_peak);
  EXPECT_GT(base.time_us, direct_peak / 4);
  EXPECT_NEAR(base.roofline_us, direct_peak / 4, 0.02 * direct_peak);
}

TEST(ConvolutionBase, AMeasuredKernelOfV100) {
  // 47 images of 187 x 8 x 8 to 1622 channels: 776 us measured, about 60 us of
  // them the host's.
  const Machine v100 = On("v100-pcie-32gb");
  EXPECT_NEAR(Time(Square(47, 187, 8, 1622), v100), 716, 0.25 * 716);
}

TEST(ConvolutionBase, BackwardIsBothGradients) {
  const Machine v100 = On("v100-pcie-32gb");
  Convolution op = Square(32, 64, 28, 128);
  double sum = 0;
  for (const Pass pass : {Pass::kBackwardData, Pass::kBackwardWeight}) {
    op.pass = pass;
    sum += Time(op, v100);
  }
  op.pass = Pass::kBackward;
  EXPECT_DOUBLE_EQ(Time(op, v100), sum);
}

TEST(ConvolutionBase, GrowsWithEverySizeAndStaysAboveTheRoofline) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine = On(gpu);
    for (const DType dtype : {DType::kFp32, DType::kFp16}) {
      for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
        Convolution op = Square(8, 64, 16, 64);
        op.dtype = dtype;
        op.pass = pass;
        const double least = Time(op, machine);
        for (int64_t Convolution::*field :
             {&Convolution::batch, &Convolution::in_channels,
              &Convolution::out_channels}) {
          Convolution larger = op;
          double last = least;
          for (int i = 0; i < 5; ++i) {
            larger.*field *= 2;
            const Base base = ConvolutionBase(larger, machine);
            EXPECT_GE(base.time_us, last) << gpu << " " << i;
            EXPECT_GE(base.time_us, base.roofline_us) << gpu << " " << i;
            last = base.time_us;
          }
          EXPECT_GT(last, least) << gpu;
        }
      }
    }
  }
}

TEST(ConvolutionFeatures, FitTheirVectorAndAreAsManyForEveryShape) {
  const Machine machine = On("t4");
  FeatureVector small;
  FeatureVector large;
  Convolution one = Square(1, 1, 1, 1);
  one.dtype = DType::kFp16;
  const Convolution many = Square(64, 512, 14, 512);
  ConvolutionFeatures(one, machine, ConvolutionBase(one, machine), small);
  ConvolutionFeatures(many, machine, ConvolutionBase(many, machine), large);
  EXPECT_EQ(small.values().size(), large.values().size());
}

TEST(ConvolutionBase, TurnsTensorsAroundForTheMatrixUnits) {
  // Measured on H100: 471 us; a 1x1 window is a product as it stands: 8.4 us.
  Convolution op = Square(4, 384, 128, 192);
  op.dtype = DType::kBf16;
  const Machine h100 = On("h100-sxm-80gb");
  EXPECT_NEAR(Time(op, h100) / 471, 1, 0.2);
  const Convolution product{.batch = 1,
                            .in_channels = 384,
                            .height = 32,
                            .width = 32,
                            .out_channels = 1152,
                            .kernel_height = 1,
                            .kernel_width = 1,
                            .dtype = DType::kBf16};
  EXPECT_LT(Time(product, h100), 8.4);
  // MIOpen launches seven kernels for 10 images of 64 x 56 x 56: 38-44 us.
  op = Square(10, 64, 56, 64);
  op.dtype = DType::kBf16;
  EXPECT_NEAR(Time(op, On("mi300x")) / 41, 1, 0.2);
}

TEST(ConvolutionBase, LeavesOddChannelsToTheVectorUnits) {
  Convolution op = Square(128, 8, 224, 64);
  op.dtype = DType::kBf16;
  const Machine h100 = On("h100-sxm-80gb");
  const double by_eight = Time(op, h100);
  op.in_channels = 7;
  EXPECT_GT(Time(op, h100), 1.5 * by_eight);
}

}  // namespace
}  // namespace stepcast::cost
