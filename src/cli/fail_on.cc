#include "cli/fail_on.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "cli/output.h"

namespace stepcast::cli {
namespace {

using Compare = Check::Compare;

struct Operator {
  std::string_view text;
  Compare compare = Compare::kAbove;
};
// Longer ones first.
constexpr std::array kOperators = {
    Operator{.text = ">=", .compare = Compare::kAtLeast},
    Operator{.text = "<=", .compare = Compare::kAtMost},
    Operator{.text = ">", .compare = Compare::kAbove},
    Operator{.text = "<", .compare = Compare::kBelow},
};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> NamesOf(
    std::span<const api::Quantity> quantities) {
  std::vector<std::string_view> names;
  for (const api::Quantity& quantity : quantities) {
    names.push_back(quantity.name);
  }
  return names;
}

Result<Check> ParseCheck(const std::string& text,
                         std::span<const api::Quantity> quantities) {
  const size_t at = text.find_first_of("<>");
  if (at == std::string::npos) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("--fail-on is '{}'; expected a quantity, <, <=, > "
                            "or >=, and a number, as in '{}>1'",
                            text, quantities.front().name));
  }
  Check check{.text = text};
  const std::string_view name = Trimmed(std::string_view(text).substr(0, at));
  while (check.quantity < quantities.size() &&
         quantities[check.quantity].name != name) {
    ++check.quantity;
  }
  if (check.quantity == quantities.size()) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("quantity of --fail-on", name, NamesOf(quantities)));
  }
  std::string_view rest = std::string_view(text).substr(at);
  for (const Operator& known : kOperators) {
    if (rest.starts_with(known.text)) {
      check.compare = known.compare;
      rest = Trimmed(rest.substr(known.text.size()));
      break;
    }
  }
  const auto limit = ParseQuantity(rest, quantities[check.quantity].unit);
  if (!limit) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("--fail-on is '{}': {}", text, limit.error().message));
  }
  check.limit = *limit;
  return check;
}

bool Triggers(const Check& check, double value) {
  switch (check.compare) {
    case Compare::kAbove:
      return value > check.limit;
    case Compare::kAtLeast:
      return value >= check.limit;
    case Compare::kBelow:
      return value < check.limit;
    case Compare::kAtMost:
      break;
  }
  return value <= check.limit;
}

}  // namespace

void AddFailOn(OptionParser& parser, std::span<const api::Quantity> quantities,
               std::vector<std::string>& texts) {
  std::string help =
      "end with status 1 if this holds, as in 'error>1%'; may be\nrepeated:";
  for (const api::Quantity& quantity : quantities) {
    help += fmt::format("\n{}: {}", quantity.name, quantity.help);
  }
  parser.AddRepeated("--fail-on", texts, help, "EXPR");
}

Result<std::vector<Check>> ParseChecks(
    const std::vector<std::string>& texts,
    std::span<const api::Quantity> quantities) {
  std::vector<Check> checks;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Check check, ParseCheck(text, quantities));
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<view::CheckedCase> CasesOf(
    std::span<const Check> checks, std::span<const api::Quantity> quantities,
    std::span<const double> values) {
  CHECK(checks.empty() || values.size() == quantities.size())
      << values.size() << " of " << quantities.size();
  std::vector<view::CheckedCase> cases;
  for (const Check& check : checks) {
    const api::Quantity& quantity = quantities[check.quantity];
    const double value = values[check.quantity];
    cases.push_back({.name = check.text});
    if (Triggers(check, value)) {
      cases.back().failure = fmt::format(
          "--fail-on '{}': {} is {:.4g}{}{}", check.text, quantity.name, value,
          quantity.unit.empty() ? "" : " ", quantity.unit);
    }
  }
  return cases;
}

Outcome Complain(std::span<const view::CheckedCase> cases) {
  Outcome outcome = Outcome::kDone;
  for (const view::CheckedCase& one : cases) {
    if (!one.failure.empty()) {
      Complain(one.failure);
      outcome = Outcome::kCheckFailed;
    }
  }
  return outcome;
}

}  // namespace stepcast::cli
