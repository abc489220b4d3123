// What the built-in studies show.
#include <gtest/gtest.h>

#include "explore/study_files.h"

namespace stepcast::explore {
namespace {

TEST(StudiesTest, EveryBuiltInStudyIsSane) {
  const auto names = StudyNames();
  EXPECT_GE(names.size(), 1u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto study = FindStudy(name);
    ASSERT_TRUE(study.has_value()) << study.error().message;
    EXPECT_FALSE(study->title.empty());
    EXPECT_FALSE(study->source.empty());
    const auto rows = CheckRows(*study);
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
  }
}

}  // namespace
}  // namespace stepcast::explore
