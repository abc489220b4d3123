// What was learned about one family of kernels on one GPU: a correction of the
// formula, how far it may be off, and where all of it is from.
#ifndef STEPCAST_COST_FITTED_MODEL_H_
#define STEPCAST_COST_FITTED_MODEL_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/forest.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// Kernels of a family that share a fit: they run on the same units.
enum class Variant { kFull, kHalf, kOther, kFullBatched };
inline constexpr size_t kVariantCount = 4;
std::string_view Name(Variant variant);
std::optional<Variant> VariantFromName(std::string_view name);
/// By the type of the elements: FP32; FP16 and BF16; the rest. Families without
/// a type are kFull. Batches of FP32 products run kernels of their own.
Variant VariantOf(const ir::KernelShape& shape);

/// The range around an estimate that has 80 % of the measurements, by how long
/// the estimate is.
struct Spread {
  /// Edges between bins of estimated time, ascending, one fewer than bins.
  std::vector<double> edges_us;
  std::vector<double> log2_p10;  // Of measured over estimated.
  std::vector<double> log2_p90;

  size_t BinOf(double time_us) const;
};

/// One candidate the fit had to choose from, and its error on rows that it was
/// not fitted to.
struct Candidate {
  std::string name;
  double gmae_pct = 0;
};

struct FittedModel {
  std::string family;
  Variant variant = Variant::kFull;
  std::string gpu;
  /// How it was made: the command, the files and the rows of each part.
  std::vector<std::string> provenance;
  std::string chosen;                 // The candidate that answers.
  std::vector<Candidate> candidates;  // On the validation part.
  double offset = 0;                  // log2, on top of the formula.
  Forest forest;                      // log2, on top of that; may be empty.
  /// Kernels shorter than this were hidden behind their launch or rounded by
  /// the clock: there the correction fades and the formula stands.
  double fade_us = 0;
  /// The correction is at most so many powers of two either way. Four times as
  /// long or as short is chosen, not fitted: leaves that only few or censored
  /// rows reach go beyond without meaning it. The price are the thin FP32
  /// products on A100 (some sixty rows) that a library runs ten and more times
  /// slower than it could.
  double most_log2 = 2;
  Spread spread;
  /// The range of each feature in the rows it was fitted to.
  std::vector<float> low;
  std::vector<float> high;
};

/// The share of its correction that a model applies to a kernel for which the
/// formula says so many microseconds.
double TrustOf(const FittedModel& model, double formula_us);

/// The correction in log2 of what the formula says, for the sum of a model's
/// trees: bounded, since nothing measured is far beyond the bound.
double CorrectionOf(const FittedModel& model, double formula_us, double trees);

/// The text form: a TOML header, a line "---", the trees.
std::string ModelText(const FittedModel& model);
Result<FittedModel> ParseModel(std::string_view text, std::string_view source);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_FITTED_MODEL_H_
