// Prints the papers' steps, or the ops of their traces, next to ours, for
// docs/accuracy.md: steps_report DATA [ops], where DATA has the folder authors.
#include <cstdio>
#include <string>
#include <string_view>

#include "tests/accuracy/op_times.h"
#include "tests/accuracy/paper_steps.h"

namespace {

constexpr double kLeastShare = 0.01;

int PrintOps(const char* data) {
  const auto ops = stepcast::accuracy::CompareOps(data, kLeastShare);
  if (!ops) {
    std::fprintf(stderr, "steps_report: %s\n", ops.error().message.c_str());
    return 2;
  }
  std::fputs(stepcast::accuracy::OpTable(*ops).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool ops = argc == 3 && std::string_view(argv[2]) == "ops";
  if (argc != 2 && !ops) {
    std::fputs("usage: steps_report DATA [ops]\n", stderr);
    return 2;
  }
  if (ops) {
    return PrintOps(argv[1]);
  }
  const auto steps = stepcast::accuracy::PredictPaperSteps(argv[1]);
  if (!steps) {
    std::fprintf(stderr, "steps_report: %s\n", steps.error().message.c_str());
    return 2;
  }
  std::fputs(stepcast::accuracy::PaperTable(*steps).c_str(), stdout);
  return 0;
}
