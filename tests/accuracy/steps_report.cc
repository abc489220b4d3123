// Prints the papers' steps beside ours, for docs/accuracy.md:
// steps_report DATA, where DATA has the folder authors.
#include <cstdio>
#include <string>

#include "tests/accuracy/paper_steps.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: steps_report DATA\n", stderr);
    return 2;
  }
  const auto steps = stepcast::accuracy::PredictPaperSteps(argv[1]);
  if (!steps) {
    std::fprintf(stderr, "steps_report: %s\n", steps.error().message.c_str());
    return 2;
  }
  std::fputs(stepcast::accuracy::PaperTable(*steps).c_str(), stdout);
  return 0;
}
