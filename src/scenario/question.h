// A question: what is to be done with a scenario.
#ifndef STEPCAST_SCENARIO_QUESTION_H_
#define STEPCAST_SCENARIO_QUESTION_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::scenario {

/// All that an answer depends on, as plain text.
struct Question {
  std::string verb{};  // "predict", "eval steps", ...
  Scenario scenario{};
  /// What the verb alone takes, by name: {"change", {"precision=bf16"}}. A flag
  /// that is set is "true".
  std::map<std::string, std::vector<std::string>, std::less<>> arguments{};

  /// The values of an argument; none if it was not given.
  const std::vector<std::string>& All(std::string_view name) const {
    static const std::vector<std::string> kNone;
    const auto found = arguments.find(name);
    return found == arguments.end() ? kNone : found->second;
  }
  /// The last one; empty if it was not given.
  std::string One(std::string_view name) const {
    return All(name).empty() ? "" : All(name).back();
  }
  bool Has(std::string_view name) const { return !All(name).empty(); }

  friend bool operator==(const Question&, const Question&) = default;
};

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_QUESTION_H_
