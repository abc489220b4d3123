#include "cli/progress.h"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace stepcast::cli {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);
// Back to the start of the line, and clear what is there.
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string_view what) : what_(what) {
  if (::isatty(STDERR_FILENO) != 0) {
    thread_ = std::thread([this] { Show(); });
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::Set(std::string_view what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
}

void Progress::Show() {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!changed_.wait_for(lock, kPeriod, [this] { return done_; })) {
    ++seconds;
    fmt::print(stderr, "{}stepcast: {}, {} s", kClearLine, what_, seconds);
    std::fflush(stderr);
  }
  if (seconds > 0) {
    fmt::print(stderr, "{}", kClearLine);
    std::fflush(stderr);
  }
}

}  // namespace stepcast::cli
