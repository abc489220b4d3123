// The parts of study files that are settings: single ones, lists and ranges.
#ifndef STEPCAST_EXPLORE_READ_SETTINGS_H_
#define STEPCAST_EXPLORE_READ_SETTINGS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/files/toml_read.h"
#include "base/result.h"
#include "explore/study.h"

namespace stepcast::explore {

/// Fails at the first key that is not one of `known`, with the nearest.
Status CheckKnown(const toml::table& table, std::string_view what,
                  std::span<const std::string_view> known);

/// The value of a setting; fails where it can have none such.
Result<Setting> ReadSetting(const toml::key& key, const toml::node& node);

/// Every member of the table but those in `except`.
Result<std::vector<Setting>> ReadSettings(
    const toml::table& table, std::span<const std::string_view> except = {});

/// What varies: `key = [values]`, or `key = { from = 1, to = 64, steps = 7,
/// scale = "log" }`. Without `steps` a range has `usual_steps` values, each at
/// a random place of its stretch; 0: `steps` must be given.
Result<Axis> ReadAxis(const toml::key& key, const toml::node& node,
                      int64_t usual_steps, uint64_t seed);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_READ_SETTINGS_H_
