// The command line of both programs.
#ifndef STEPCAST_COLLECT_CUDA_OPTIONS_H_
#define STEPCAST_COLLECT_CUDA_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::collect {

/// What is different between the programs.
struct ProgramText {
  std::string name{};
  std::string what{};                 // One sentence.
  std::vector<std::string> groups{};  // What --only takes.
};

struct Options {
  bool help = false;
  std::string out{};
  double minutes = 10;
  std::vector<std::string> only{};  // All if empty.
  std::string gpu{};                // The name in the rows.
  std::string system{};             // Of collectives.
  int device = 0;
  uint64_t seed = 1;
  double longest_ms = 60;
};

/// `wrong` is empty, or one line "what; expected".
struct ParsedOptions {
  Options options{};
  std::string wrong{};
};
ParsedOptions ParseOptions(const std::vector<std::string>& words,
                           const ProgramText& program);

std::string HelpText(const ProgramText& program);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_OPTIONS_H_
