#include "cost/lazy_model.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace stepcast::cost {

struct LazyModel::State {
  std::once_flag once;
  ModelFile file;
  std::string suffix;
  FittedModel model;
  std::string name;

  void SetModel(FittedModel read) {
    model = std::move(read);
    name = fmt::format("{}-{}{}", model.family, model.chosen, suffix);
  }
};

LazyModel::LazyModel(FittedModel model, std::string_view suffix)
    : state_(std::make_unique<State>()) {
  state_->suffix = suffix;
  std::call_once(state_->once, [&] { state_->SetModel(std::move(model)); });
}

LazyModel::LazyModel(const ModelFile& file, std::string_view suffix)
    : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->suffix = suffix;
}

LazyModel::LazyModel(LazyModel&& other) noexcept = default;
LazyModel& LazyModel::operator=(LazyModel&& other) noexcept = default;
LazyModel::~LazyModel() = default;

const LazyModel::State& LazyModel::Read() const {
  std::call_once(state_->once, [this] {
    auto model = ParseModel(state_->file.text, state_->file.source);
    CHECK(model) << model.error().message;
    CHECK(model->family == state_->file.family &&
          model->variant == state_->file.variant)
        << state_->file.source << " has another name than its content";
    state_->SetModel(*std::move(model));
  });
  return *state_;
}

const FittedModel& LazyModel::model() const {
  return Read().model;
}

const std::string& LazyModel::name() const {
  return Read().name;
}

}  // namespace stepcast::cost
