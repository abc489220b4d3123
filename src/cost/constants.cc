#include "cost/constants.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/toml_read.h"

namespace stepcast::cost {
namespace {

constexpr std::array kInfos = {
    ConstantInfo{Constant::kLatencyUs, "kernel.latency_us", 2.0, 1.0, 5.0,
                 "what the shortest kernel takes from its start to its end"},
};
static_assert(kInfos.size() == kConstantCount);

constexpr bool InOrder() {
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (static_cast<size_t>(kInfos[i].id) != i) {
      return false;
    }
  }
  return true;
}
static_assert(InOrder(), "the rows are in the order of the enum");

}  // namespace

std::span<const ConstantInfo> ConstantInfos() {
  return kInfos;
}

Constants::Constants() {
  for (const ConstantInfo& info : kInfos) {
    Set(info.id, info.value);
  }
}

Status Constants::Read(std::string_view toml, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(toml, source));
  for (const auto& [key, node] : table) {
    const auto info = std::ranges::find(kInfos, key.str(), &ConstantInfo::name);
    if (info == kInfos.end()) {
      return FailAt(node, fmt::format("unknown constant '{}'", key.str()));
    }
    const auto value = node.value<double>();
    if (!value || !(*value >= info->low && *value <= info->high)) {
      return FailAt(node, fmt::format("'{}' must be a number from {} to {}",
                                      key.str(), info->low, info->high));
    }
    Set(info->id, *value);
  }
  return {};
}

}  // namespace stepcast::cost
