// Prints how the kernel models compare with published times and recorded
// traces, as Markdown:
//   anchor_report DATA [--samples] [PROFILE...]
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/accuracy/anchors.h"

namespace {

using stepcast::accuracy::Comparison;
using stepcast::accuracy::Setting;

stepcast::Status Print(const Setting& setting, bool with_samples) {
  namespace accuracy = stepcast::accuracy;
  std::vector<Comparison> all;
  for (const auto compare :
       {accuracy::CompareGemmSamples, accuracy::CompareAuthorsTraces,
        accuracy::CompareEmbeddings, accuracy::CompareTracedLookups,
        accuracy::CompareSmallOps}) {
    ASSIGN_OR_RETURN(std::vector<Comparison> comparisons, compare(setting));
    for (Comparison& comparison : comparisons) {
      all.push_back(std::move(comparison));
    }
  }
  fmt::print("{}", accuracy::ComparisonTable(all));
  for (const Comparison& comparison : all) {
    if (with_samples && !comparison.samples.empty()) {
      fmt::print("\n{}", accuracy::SampleTable(comparison));
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: anchor_report DATA [--samples] [PROFILE...]\n");
    return 2;
  }
  bool with_samples = false;
  std::vector<std::filesystem::path> profiles;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--samples") {
      with_samples = true;
    } else {
      profiles.emplace_back(argument);
    }
  }
  const auto status =
      Print({.data = argv[1],
             .store = stepcast::cost::ProfileStore(std::move(profiles))},
            with_samples);
  if (!status) {
    fmt::print(stderr, "anchor_report: {}\n", status.error().message);
    return 1;
  }
  return 0;
}
