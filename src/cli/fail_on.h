// Checks that a user asks for: --fail-on 'error>1%'.
#ifndef STEPCAST_CLI_FAIL_ON_H_
#define STEPCAST_CLI_FAIL_ON_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/ask.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/option_parser.h"
#include "view/doc.h"

namespace stepcast::cli {

/// Fails the run if the quantity compares so with the limit.
struct Check {
  enum class Compare : uint8_t { kAbove, kAtLeast, kBelow, kAtMost };
  std::string text{};   // As given.
  size_t quantity = 0;  // Into the command's list.
  Compare compare = Compare::kAbove;
  double limit = 0;
};

/// Declares --fail-on, which may be repeated, with the quantities in its help.
void AddFailOn(OptionParser& parser, std::span<const api::Quantity> quantities,
               std::vector<std::string>& texts);

/// "error>1%", "max_abs_pct >= 0.5", ...
Result<std::vector<Check>> ParseChecks(
    const std::vector<std::string>& texts,
    std::span<const api::Quantity> quantities);

/// What became of each check; `values` are those of the quantities, in their
/// order, or none if there are no checks.
std::vector<view::CheckedCase> CasesOf(
    std::span<const Check> checks, std::span<const api::Quantity> quantities,
    std::span<const double> values);

/// Complains of every check that fails.
Outcome Complain(std::span<const view::CheckedCase> cases);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_FAIL_ON_H_
