#include "ir/dtype.h"

#include <gtest/gtest.h>

#include "ir/names.h"

namespace stepcast::ir {
namespace {

TEST(DTypeTest, EveryTypeHasANameOfItsOwn) {
  for (size_t i = 0; i < Names<DType>::kList.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(Name(dtype)), dtype);
  }
  EXPECT_EQ(Name(DType::kBool), "bool");  // The last one.
  EXPECT_EQ(DTypeFromName("float"), std::nullopt);
}

TEST(DTypeTest, SizesAreThoseOfTheStoredElements) {
  EXPECT_EQ(SizeOf(DType::kFp64), 8);
  EXPECT_EQ(SizeOf(DType::kTf32), 4);  // A way to multiply, stored as fp32.
  EXPECT_EQ(SizeOf(DType::kBf16), 2);
  EXPECT_EQ(SizeOf(DType::kBool), 1);
  EXPECT_EQ(SizeOf(DType::kUnknown), 0);
}

TEST(DTypeTest, TorchNamesAreUnderstoodInAllTheirForms) {
  EXPECT_EQ(DTypeFromTorch("float"), DType::kFp32);
  EXPECT_EQ(DTypeFromTorch("Float"), DType::kFp32);
  EXPECT_EQ(DTypeFromTorch("Tensor(float)"), DType::kFp32);
  EXPECT_EQ(DTypeFromTorch("torch.float32"), DType::kFp32);
  EXPECT_EQ(DTypeFromTorch("long int"), DType::kInt64);
  EXPECT_EQ(DTypeFromTorch("Tensor(long int)"), DType::kInt64);
  EXPECT_EQ(DTypeFromTorch("long"), DType::kInt64);
  EXPECT_EQ(DTypeFromTorch("c10::Half"), DType::kFp16);
  EXPECT_EQ(DTypeFromTorch("at::Half"), DType::kFp16);
  EXPECT_EQ(DTypeFromTorch("Tensor(c10::BFloat16)"), DType::kBf16);
  EXPECT_EQ(DTypeFromTorch("c10::Float8_e4m3fn"), DType::kFp8);
  EXPECT_EQ(DTypeFromTorch("unsigned char"), DType::kUint8);
  EXPECT_EQ(DTypeFromTorch("signed char"), DType::kInt8);
  EXPECT_EQ(DTypeFromTorch("bool"), DType::kBool);
}

TEST(DTypeTest, TextThatIsNotATypeIsUnknown) {
  for (const std::string_view text :
       {"", "Scalar", "TensorList", "Tensor(nullptr (uninitialized))",
        "Tensor(", "float16x", "GenericList[Tensor(float)]", "c10::"}) {
    EXPECT_EQ(DTypeFromTorch(text), DType::kUnknown) << text;
  }
}

}  // namespace
}  // namespace stepcast::ir
