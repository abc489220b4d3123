#include "view/html/scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace stepcast::html {
namespace {

constexpr int kWantedTicks = 6;
// Up to this factor, twos and fives are written as well.
constexpr double kFewDecades = 500;

// 1, 2 or 5 times a power of ten, such that about six fit.
double RoundStep(double span) {
  const double rough = span / kWantedTicks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) {
      return factor * power;
    }
  }
  return 10 * power;
}

// Powers of ten, with twos and fives where there are few.
std::vector<double> LogTicks(double least, double most) {
  constexpr double kTiny = 1e-9;  // So that ends are not lost to rounding.
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(least) + kTiny));
  const int last = static_cast<int>(std::ceil(std::log10(most) - kTiny));
  for (int power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, power);
      const bool is_in =
          tick >= least * (1 - kTiny) && tick <= most * (1 + kTiny);
      if (is_in && (factor == 1.0 || most < kFewDecades * least)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

}  // namespace

Scale::Scale(double least, double most, bool is_log, double begin, double end)
    : least_(least), most_(most), is_log_(is_log), begin_(begin), end_(end) {
  if (!(most_ > least_)) {
    const double room = least_ == 0 ? 1 : std::abs(least_) / 2;
    least_ -= is_log_ ? room : (least_ > 0 ? room : 0);
    most_ += room;
  }
  if (is_log_) {
    ticks_ = LogTicks(least_, most_);
    return;
  }
  const double step = RoundStep(most_ - least_);
  least_ = std::floor(least_ / step + 1e-9) * step;
  most_ = std::ceil(most_ / step - 1e-9) * step;
  const auto count = static_cast<int>(std::llround((most_ - least_) / step));
  for (int i = 0; i <= count; ++i) {
    ticks_.push_back(least_ + i * step);
  }
}

double Scale::At(double number) const {
  const double share =
      is_log_ ? std::log(number / least_) / std::log(most_ / least_)
              : (number - least_) / (most_ - least_);
  return begin_ + (end_ - begin_) * share;
}

std::string TickText(double number) {
  struct Unit {
    double size = 1;
    const char* sign = "";
  };
  constexpr Unit kUnits[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const Unit& unit : kUnits) {
    if (std::abs(number) >= unit.size) {
      return fmt::format("{:.4g}{}", number / unit.size, unit.sign);
    }
  }
  return fmt::format("{:.4g}", std::abs(number) < 1e-12 ? 0 : number);
}

}  // namespace stepcast::html
