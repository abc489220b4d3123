// Checks that a user asks for: --fail-on 'error>1%'.
#ifndef STEPCAST_CLI_FAIL_ON_H_
#define STEPCAST_CLI_FAIL_ON_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/option_parser.h"
#include "view/doc.h"

namespace stepcast::cli {

/// Something a check can be about.
struct Quantity {
  std::string_view name;  // "error"
  std::string_view unit;  // "%", "us" or "": of a limit without one.
  std::string_view help;  // One line.
};

/// Fails the run if the quantity compares so with the limit.
struct Check {
  enum class Compare : uint8_t { kAbove, kAtLeast, kBelow, kAtMost };
  std::string text{};   // As given.
  size_t quantity = 0;  // Into the command's list.
  Compare compare = Compare::kAbove;
  double limit = 0;
};

/// Declares --fail-on, which may be repeated, with the quantities in its help.
void AddFailOn(OptionParser& parser, std::span<const Quantity> quantities,
               std::vector<std::string>& texts);

/// "error>1%", "max_abs_pct >= 0.5", ...
Result<std::vector<Check>> ParseChecks(const std::vector<std::string>& texts,
                                       std::span<const Quantity> quantities);

/// What became of each check; `values` are those of the quantities, in their
/// order.
std::vector<view::CheckedCase> CasesOf(std::span<const Check> checks,
                                       std::span<const Quantity> quantities,
                                       std::span<const double> values);

/// Complains of every check that fails.
Outcome RunChecks(std::span<const Check> checks,
                  std::span<const Quantity> quantities,
                  std::span<const double> values);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_FAIL_ON_H_
