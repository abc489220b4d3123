#include "collect/cuda/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace stepcast::collect {
namespace {

using Words = std::vector<std::string>;

bool ParsePositive(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value) && value > 0;
}

template <typename T>
bool ParseWhole(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && value + 1 > 0;
}

std::string Join(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : ", ") + word;
  }
  return line;
}

std::string Wrong(const std::string& name, const std::string& value,
                  const std::string& expected) {
  return name + " is '" + value + "'; expected " + expected;
}

// "gemm,bmm": adds to `only`, or says what is wrong.
std::string AddGroups(const std::string& list, const Words& groups,
                      Words& only) {
  size_t start = 0;
  while (start <= list.size()) {
    const size_t comma = std::min(list.find(',', start), list.size());
    const std::string word = list.substr(start, comma - start);
    if (std::find(groups.begin(), groups.end(), word) == groups.end()) {
      return Wrong("--only", word, "some of: " + Join(groups));
    }
    only.push_back(word);
    start = comma + 1;
  }
  return "";
}

// Takes one option with its value; says what is wrong, or nothing.
std::string Take(const std::string& name, const std::string& value,
                 const ProgramText& program, Options& options) {
  const std::string above = "a number above 0";
  const std::string whole = "a whole number, 0 or more";
  if (name == "--out") {
    options.out = value;
    return value.empty() ? Wrong(name, value, "a directory") : "";
  }
  if (name == "--minutes") {
    return ParsePositive(value, options.minutes) ? ""
                                                 : Wrong(name, value, above);
  }
  if (name == "--longest-ms") {
    return ParsePositive(value, options.longest_ms) ? ""
                                                    : Wrong(name, value, above);
  }
  if (name == "--only") {
    return AddGroups(value, program.groups, options.only);
  }
  if (name == "--gpu") {
    options.gpu = value;
    // It becomes the name of a file.
    return value.empty() || value.find('/') != std::string::npos
               ? Wrong(name, value, "a name as in 'stepcast list gpus'")
               : "";
  }
  if (name == "--system") {
    options.system = value;
    return "";
  }
  if (name == "--device") {
    return ParseWhole(value, options.device) ? "" : Wrong(name, value, whole);
  }
  if (name == "--seed") {
    return ParseWhole(value, options.seed) ? "" : Wrong(name, value, whole);
  }
  return "unknown option '" + name + "'; expected those of --help";
}

}  // namespace

ParsedOptions ParseOptions(const std::vector<std::string>& words,
                           const ProgramText& program) {
  ParsedOptions parsed;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") {
      parsed.options.help = true;
      return parsed;
    }
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    std::string value;
    if (equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      parsed.wrong = "nothing follows '" + name + "'; expected a value";
      return parsed;
    }
    parsed.wrong = Take(name, value, program, parsed.options);
    if (!parsed.wrong.empty()) {
      return parsed;
    }
  }
  if (parsed.options.out.empty()) {
    parsed.wrong = "no --out; expected a directory for the tables";
  }
  return parsed;
}

std::string HelpText(const ProgramText& program) {
  return program.what + "\nUsage: " + program.name +
         " --out DIR [OPTIONS]\n\n"
         "  --out DIR        tables and journal; started again with the same\n"
         "                   directory, a sweep goes on where it was\n"
         "  --minutes N      of all runs with this --out together; default 10\n"
         "  --only A,B       these alone: " +
         Join(program.groups) +
         "\n"
         "  --gpu NAME       the name in the rows; default: by the device's "
         "own\n"
         "  --system NAME    the server's name in rows of collectives\n"
         "  --device N       which GPU, if one is measured; default 0\n"
         "  --seed N         of shapes and their order; default 1\n"
         "  --longest-ms N   leave out calls that take longer; default 60\n"
         "  -h, --help       show this help\n\n"
         "examples:\n  " +
         program.name + " --out measured --minutes 30\n  " + program.name +
         " --out measured --only " + program.groups.front() +
         " --gpu v100-sxm-16gb\n";
}

}  // namespace stepcast::collect
