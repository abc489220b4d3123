// A fitted model that is read when it is first asked for.
#ifndef STEPCAST_COST_LAZY_MODEL_H_
#define STEPCAST_COST_LAZY_MODEL_H_

#include <memory>
#include <string>
#include <string_view>

#include "cost/fitted_model.h"
#include "cost/profile.h"

namespace stepcast::cost {

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

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_LAZY_MODEL_H_
