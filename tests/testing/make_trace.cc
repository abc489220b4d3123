// make_trace: writes a generated Kineto trace to a file.
//
//   make_trace out.json.gz dialect=2024 mb=100 tables=26 python
#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/testing/kineto_generator.h"

namespace {

using stepcast::testing::KinetoDialect;
using stepcast::testing::KinetoOptions;

constexpr std::string_view kUsage =
    "usage: make_trace <file, gzip if it ends in .gz> [option ...]\n"
    "  dialect=2021|2022|2024  steps=N  mb=N (instead of steps)  seed=N\n"
    "  layers=N  tables=N  orphans=N\n"
    "  noshapes  python  graphs  hip\n";

bool SetNumber(std::string_view name, int64_t value, KinetoOptions& options) {
  // Beyond this a step has a million events, which helps nobody.
  constexpr int64_t kMostPerStep = 10'000;
  if (value < 0) {
    return false;
  }
  if (name == "steps") {
    options.steps = value;
  } else if (name == "mb") {
    options.target_bytes = value * 1'000'000;
  } else if (name == "seed") {
    options.job.seed = static_cast<uint64_t>(value);
  } else if (name == "dialect" && value >= 2021) {
    options.dialect = value == 2021   ? KinetoDialect::k2021
                      : value >= 2024 ? KinetoDialect::k2024
                                      : KinetoDialect::k2022;
  } else if (name == "layers" && value <= kMostPerStep) {
    options.job.layers = static_cast<int>(value);
  } else if (name == "tables" && value <= kMostPerStep) {
    options.job.tables = static_cast<int>(value);
  } else if (name == "orphans" && value <= kMostPerStep) {
    options.job.orphans = static_cast<int>(value);
  } else {
    return false;
  }
  return true;
}

bool SetOption(std::string_view text, KinetoOptions& options) {
  if (text == "noshapes") {
    options.shapes = false;
  } else if (text == "python") {
    options.job.python = true;
  } else if (text == "graphs") {
    options.job.graphs = true;
  } else if (text == "hip") {
    options.job.hip = true;
  } else if (const size_t equals = text.find('=');
             equals != std::string_view::npos) {
    const std::string_view digits = text.substr(equals + 1);
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() &&
           SetNumber(text.substr(0, equals), value, options);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.front().starts_with('-')) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  KinetoOptions options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (!SetOption(arguments[i], options)) {
      fmt::print(stderr, "make_trace: cannot use '{}'\n{}", arguments[i],
                 kUsage);
      return 2;
    }
  }
  const std::string_view path = arguments.front();
  const auto facts =
      stepcast::testing::WriteKinetoFile(path, options, path.ends_with(".gz"));
  if (!facts) {
    fmt::print(stderr, "make_trace: {}\n", facts.error().message);
    return 1;
  }
  fmt::print(
      "{}: {} bytes of text, {} steps, {} ops, {} annotations, {} python, "
      "{} calls, {} kernels, {} copies, {} orphans\n",
      path, facts->bytes, facts->steps, facts->ops, facts->annotations,
      facts->python, facts->calls, facts->kernels, facts->copies,
      facts->orphans);
  return 0;
}
