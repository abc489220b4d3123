#include "cli/compare_side.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"

namespace stepcast::cli {
namespace {

constexpr std::string_view kPageable = "pageable";
constexpr std::string_view kProfile = "profile";

// The words that may stand behind '@' with a value.
std::map<std::string_view, std::string*> SettingsOf(PredictCommand& command) {
  return {{"gpu", &command.gpu},
          {"gpus", &command.gpus},
          {"nodes", &command.nodes},
          {"platform", &command.platform},
          {"server", &command.server},
          {"runtime", &command.runtime},
          {"batch", &command.batch},
          {"mode", &command.mode},
          {"precision", &command.precision},
          {"impl", &command.impl},
          {"cuda-graphs", &command.cuda_graphs},
          {"placement", &command.placement},
          {"plan", &command.plan},
          {"overheads", &command.overheads},
          {"step", &command.step}};
}

std::string UnknownSetting(std::string_view name, PredictCommand& command) {
  std::vector<std::string_view> names = {kPageable, kProfile};
  for (const auto& [known, value] : SettingsOf(command)) {
    names.push_back(known);
  }
  std::ranges::sort(names);
  return Unknown("setting", name, names);
}

// A side on servers leaves the GPUs of the options to the other one, and the
// other way round.
void LeaveToOther(std::string_view name, PredictCommand& command) {
  if (name == "server") {
    command.gpu.clear();
    command.gpus.clear();
    command.platform.clear();
  } else if (name == "gpu" || name == "platform") {
    command.server.clear();
    command.runtime.clear();
  }
}

Status ReadSetting(std::string_view pair, const std::string& text,
                   PredictCommand& command) {
  const size_t equals = std::min(pair.find('='), pair.size());
  const std::string_view name = pair.substr(0, equals);
  if (name == kPageable && equals == pair.size()) {
    command.pageable = true;
    return {};
  }
  const auto settings = SettingsOf(command);
  const auto found = settings.find(name);
  if (found == settings.end() && name != kPageable && name != kProfile) {
    return Fail(ErrorCode::kInvalidInput, UnknownSetting(name, command));
  }
  if (name == kPageable) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("pageable has a value in '{}'; expected the word "
                            "alone",
                            text));
  }
  if (equals == pair.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no value in '{}'; expected NAME=VALUE",
                            pair, text));
  }
  std::string value(pair.substr(equals + 1));
  if (name == kProfile) {
    // Asked before those of the options.
    command.profiles.insert(command.profiles.begin(), std::move(value));
    return {};
  }
  *found->second = std::move(value);
  return {};
}

}  // namespace

Status ReadSide(const std::string& text, PredictCommand& command) {
  const size_t at =
      std::filesystem::exists(text) ? std::string::npos : text.find('@');
  command.input.files = {text.substr(0, at)};
  std::string_view rest = at == std::string::npos
                              ? std::string_view()
                              : std::string_view(text).substr(at + 1);
  std::vector<std::string_view> pairs;
  while (!rest.empty()) {
    pairs.push_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(pairs.back().size() + 1, rest.size()));
    LeaveToOther(pairs.back().substr(0, pairs.back().find('=')), command);
  }
  for (const std::string_view pair : pairs) {
    RETURN_IF_ERROR(ReadSetting(pair, text, command));
  }
  return {};
}

}  // namespace stepcast::cli
