#include "cli/interrupt.h"

#include <csignal>

#include <gtest/gtest.h>

namespace stepcast::cli {
namespace {

TEST(InterruptGuard, NotesTheFirstInterrupt) {
  const InterruptGuard guard;
  EXPECT_FALSE(InterruptGuard::Noted());
  EXPECT_EQ(std::raise(SIGINT), 0);
  EXPECT_TRUE(InterruptGuard::Noted());
}

TEST(InterruptGuard, StartsAnew) {
  {
    const InterruptGuard guard;
    EXPECT_EQ(std::raise(SIGINT), 0);
  }
  const InterruptGuard guard;
  EXPECT_FALSE(InterruptGuard::Noted());
}

}  // namespace
}  // namespace stepcast::cli
