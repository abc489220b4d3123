// Prices kernels on one GPU: the formula of the family, corrected by what was
// fitted where there is data.
#ifndef STEPCAST_COST_KERNEL_MODELS_H_
#define STEPCAST_COST_KERNEL_MODELS_H_

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/estimate.h"
#include "cost/fitted_model.h"
#include "cost/machine.h"
#include "cost/profile.h"
#include "ir/shape.h"

namespace stepcast::cost {

// A fitted model that is read when it is first asked for.

/// Reading the trees of every family takes longer than a prediction, which
/// needs few of them. Threads may ask at once.
class LazyModel {
 public:
  /// `suffix` ends its name.
  LazyModel(FittedModel model, std::string_view suffix);
  LazyModel(const ModelFile& file, std::string_view suffix);
  LazyModel(LazyModel&& other) noexcept;
  LazyModel& operator=(LazyModel&& other) noexcept;
  LazyModel(const LazyModel&) = delete;
  LazyModel& operator=(const LazyModel&) = delete;
  ~LazyModel();

  const FittedModel& model() const;
  /// "gemm-trees" and the suffix.
  const std::string& name() const;

 private:
  struct State;
  const State& Read() const;

  std::unique_ptr<State> state_;
};

class KernelModels {
 public:
  /// The models for a device: its own, and those it borrows from GPUs of the
  /// same chip where it has none. With figures to try, times are those of the
  /// published device by the ratio of the formulas for both.
  static Result<KernelModels> Load(const hw::Device& device,
                                   const ProfileStore& store);

  /// From here on the smallest kernel takes so long, as a trace's recorder sees
  /// it. 0 changes nothing.
  void SetLatency(double latency_us);

  /// A kernel's time; nothing if its family has no formula or its sizes are
  /// not known.
  std::optional<Estimate> Price(const ir::KernelShape& shape) const;

  /// The same for many shapes, each written to its place; a shape without a
  /// price gets none. Several times as fast as one by one.
  void PriceAll(std::span<const ir::KernelShape> shapes,
                std::span<std::optional<Estimate>> estimates) const;

  /// A memset of the driver, which starts faster than a kernel.
  Estimate PriceMemset(const ir::Fill& fill) const;

  const Machine& machine() const { return asked_ ? *asked_ : machine_; }
  const Profile& profile() const { return profile_; }

 private:
  // A fitted model ("gemm-trees", "gemm-trees of v100-pcie-32gb") and the
  // machine its features are seen on.
  struct Answer {
    LazyModel fitted;
    Machine seen_on{};
    bool borrowed = false;
  };

  KernelModels() = default;
  Status AddModels(Profile profile, const Machine& seen_on, bool borrowed);
  // Unless there is one for the same kernels.
  void AddAnswer(size_t family, Variant variant, Answer answer);
  const Answer* FindAnswer(size_t family, Variant variant) const;
  void PricePublished(std::span<const ir::KernelShape> shapes,
                      std::span<std::optional<Estimate>> estimates) const;
  Estimate FromFormula(const ir::KernelShape& shape, size_t family,
                       const Base& base) const;
  Estimate FromAnswer(const Answer& answer, const Base& base,
                      std::span<const float> features, double trees) const;

  Machine machine_;  // What models were fitted to.
  /// With figures to try, where some were asked for.
  std::optional<Machine> asked_{};
  Profile profile_;
  bool has_ceilings_ = false;
  std::vector<Answer> answers_;  // Read when they are first asked.
  // By family and variant: the place in answers_ plus 1, 0 for none.
  std::vector<std::array<uint32_t, kVariantCount>> places_;
  FormulaSpreads spreads_;
  std::vector<std::string> formula_names_;  // "gemm-formula", by family.
};

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNEL_MODELS_H_
