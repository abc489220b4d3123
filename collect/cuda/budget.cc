#include "collect/cuda/budget.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <utility>

namespace stepcast::collect {
namespace {

// Seconds between two lines: what an eye follows, and what a log bears.
constexpr double kTerminalPause = 0.5;
constexpr double kFilePause = 15;

}  // namespace

Clock SteadyClock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

Budget::Budget(double seconds, double spent_before, Clock clock)
    : seconds_(seconds),
      spent_before_(spent_before),
      clock_(std::move(clock)),
      start_(clock_()) {}

double Budget::Left() const {
  return std::max(0.0, seconds_ - Spent());
}

double EtaSeconds(int64_t done, int64_t total, double spent, double left) {
  if (done <= 0) {
    return left;
  }
  const double each = spent / static_cast<double>(done);
  return std::min(
      left, each * static_cast<double>(std::max<int64_t>(0, total - done)));
}

std::string ClockText(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  char rest[8] = "";
  std::snprintf(rest, sizeof(rest), ":%02d", static_cast<int>(whole % 60));
  return std::to_string(whole / 60) + rest;
}

Progress::Progress(int64_t total, std::ostream& stream, bool is_terminal)
    : total_(total), stream_(stream), is_terminal_(is_terminal) {}

void Progress::Show(int64_t done, const Budget& budget,
                    const std::string& note) {
  const double now = budget.ThisRun();
  if (now < next_) {
    return;
  }
  next_ = now + (is_terminal_ ? kTerminalPause : kFilePause);
  const double eta = EtaSeconds(done, total_, budget.Spent(), budget.Left());
  stream_ << (is_terminal_ ? "\r\x1b[K" : "") << "bench: " << done << " of "
          << total_ << " points, " << ClockText(budget.Spent()) << " spent, "
          << ClockText(eta) << " to go, " << note << (is_terminal_ ? "" : "\n")
          << std::flush;
}

void Progress::End() {
  if (is_terminal_) {
    stream_ << "\n" << std::flush;
  }
}

}  // namespace stepcast::collect
