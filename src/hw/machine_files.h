// Machines from built-in files, each called as its machine, and from files of
// the user.
#ifndef STEPCAST_HW_MACHINE_FILES_H_
#define STEPCAST_HW_MACHINE_FILES_H_

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/result.h"

namespace stepcast::hw {

/// What makes a machine of the text of a file; `source` is for messages.
template <typename Machine>
using MachineParser = Result<Machine> (*)(std::string_view text,
                                          std::string_view source);

template <typename Machine>
Result<Machine> ParseMachineFile(const EmbeddedFile& file,
                                 MachineParser<Machine> parse) {
  ASSIGN_OR_RETURN(Machine machine, parse(file.text, file.name));
  CHECK(machine.name == StemOf(file)) << file.name;
  return machine;
}

/// Those of all files, by name.
template <typename Machine>
Result<std::vector<Machine>> LoadMachines(std::span<const EmbeddedFile> files,
                                          MachineParser<Machine> parse) {
  std::vector<Machine> machines;
  for (const EmbeddedFile& file : files) {
    ASSIGN_OR_RETURN(Machine machine, ParseMachineFile(file, parse));
    machines.push_back(std::move(machine));
  }
  std::ranges::sort(machines, {}, &Machine::name);
  return machines;
}

/// The one that `text` names: a path ending in .toml or one of `files`. `what`
/// is the machine in messages.
template <typename Machine>
Result<Machine> FindMachine(std::string_view text, std::string_view what,
                            std::span<const EmbeddedFile> files,
                            MachineParser<Machine> parse) {
  if (text.ends_with(".toml")) {
    const std::filesystem::path path(text);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    return parse(content, path.string());
  }
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : files) {
    if (StemOf(file) == text) {
      return ParseMachineFile(file, parse);
    }
    names.push_back(StemOf(file));
  }
  std::ranges::sort(names);
  const auto nearest = Nearest(text, names);
  return Fail(ErrorCode::kNotFound,
              nearest ? fmt::format("unknown {} '{}'; did you mean {}?", what,
                                    text, *nearest)
                      : fmt::format("unknown {} '{}'; expected a .toml file or "
                                    "one of: {}",
                                    what, text, fmt::join(names, ", ")));
}

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_MACHINE_FILES_H_
