#include "whatif/change.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/nearest.h"
#include "scenario/resolve.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

constexpr std::string_view kSeparators = "= \t";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSeparators);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Result<Change> ParseChange(std::string_view text) {
  const std::string_view whole = Trimmed(text);
  const size_t at = std::min(whole.find_first_of(kSeparators), whole.size());
  const std::string_view name = whole.substr(0, at);
  std::vector<std::string_view> names;
  for (const ChangeKind& kind : Changes()) {
    if (kind.name == name ||
        (kind.setting != nullptr && !kind.setting->alias.empty() &&
         kind.setting->alias == name)) {
      return Change{.kind = &kind,
                    .text = std::string(whole),
                    .value = std::string(Trimmed(whole.substr(at)))};
    }
    names.push_back(kind.name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("change", name, names));
}

Result<double> ParseFactor(const Change& change, std::string_view text) {
  double factor = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, factor);
  // Far beyond any question, and far below where times would overflow.
  constexpr double kMost = 1e6;
  if (error != std::errc() || stop != end || !(factor >= 0) || factor > kMost) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} has the factor '{}'; expected {}={}, "
                            "with a factor from 0 to 1e6",
                            change.kind->name, text, change.kind->name,
                            change.kind->arguments));
  }
  return factor;
}

Result<NamedFactor> ParseNamedFactor(const Change& change) {
  const size_t at = change.value.find_last_of(kSeparators);
  NamedFactor named;
  const bool has_name = at != std::string::npos;
  if (has_name) {
    named.name = std::string(change.value.substr(
        0, change.value.find_last_not_of(kSeparators, at) + 1));
  }
  ASSIGN_OR_RETURN(named.factor,
                   ParseFactor(change, has_name ? change.value.substr(at + 1)
                                                : change.value));
  return named;
}

Status SetNamed(const Change& change, std::string_view setting,
                std::string_view value, scenario::Job& job) {
  const scenario::Setting* const found = scenario::FindSetting(setting);
  CHECK(found != nullptr) << setting;
  RETURN_IF_ERROR(Named(change, scenario::Change(*found, value, job)));
  return Named(change, scenario::CheckEffect(*found, job));
}

Status Named(const Change& change, const Status& status) {
  return status ? Status()
                : Fail(status.error().code,
                       fmt::format("change {}: {}", change.text,
                                   status.error().message));
}

Status NoValue(const Change& change) {
  if (!change.value.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} has the value '{}'; expected none",
                            change.kind->name, change.value));
  }
  return {};
}

}  // namespace stepcast::whatif
