#include "ir/names.h"

#include <gtest/gtest.h>

namespace stepcast::ir {
namespace {

// The last enumerator and the length of the list pin every table.
template <typename E>
void ExpectLast(E last, std::string_view name) {
  EXPECT_EQ(Names<E>::kList.size(), static_cast<size_t>(last) + 1) << name;
  EXPECT_EQ(Name(last), name);
  EXPECT_EQ(FromName<E>(name), last);
}

TEST(NamesTest, EveryTableIsAsLongAsItsEnum) {
  ExpectLast(Pass::kBackwardWeight, "backward_weight");
  ExpectLast(Update::kOther, "other");
  ExpectLast(NormKind::kGroup, "group");
  ExpectLast(SortKind::kSearch, "search");
  ExpectLast(CopyKind::kHostToHost, "host_to_host");
  ExpectLast(CollectiveKind::kBarrier, "barrier");
  ExpectLast(ThreadRole::kOther, "other");
  ExpectLast(Phase::kOptimizer, "optimizer");
  ExpectLast(OpKind::kAnnotation, "annotation");
  ExpectLast(Device::kGpu, "gpu");
  ExpectLast(CallKind::kOther, "other");
  ExpectLast(ActivityKind::kCollective, "collective");
}

TEST(NamesTest, UnknownNamesAreNothing) {
  EXPECT_EQ(FromName<Phase>("foreward"), std::nullopt);
  EXPECT_EQ(FromName<Phase>(""), std::nullopt);
}

}  // namespace
}  // namespace stepcast::ir
