// How far formulas are off on GPUs without fits, from GPUs that were left out.
#ifndef STEPCAST_FIT_SPREADS_H_
#define STEPCAST_FIT_SPREADS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/profile.h"

namespace stepcast::fit {

/// log2 of measured over estimated for the rows of one case on one GPU.
struct Misses {
  std::string family;
  std::string type;
  std::string chip;
  std::vector<double> nothing;   // Nothing measured.
  std::vector<double> ceilings;  // With the GPU's ceilings.
};

/// Where 80 % of a new chip's rows are expected, from how chips differ and how
/// the rows of a chip do, each chip counting alike. By "family-type", by
/// "family" and, for what fewer than two chips tell, by "other".
cost::FormulaSpreads SpreadsOf(std::span<const Misses> misses);

/// The text of spreads.toml.
std::string SpreadsText(const cost::FormulaSpreads& spreads,
                        std::string_view provenance);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_SPREADS_H_
