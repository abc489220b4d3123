#include "cost/lazy_model.h"

#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace stepcast::cost {

struct LazyModel::State {
  std::once_flag once{};
  std::optional<FittedModel> own{};
  ModelFile file{};
  std::string suffix{};
  const FittedModel* model = nullptr;
  std::string name{};
};

LazyModel::LazyModel(FittedModel model, std::string_view suffix)
    : state_(std::make_unique<State>()) {
  state_->own = std::move(model);
  state_->suffix = suffix;
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
    state_->model = state_->own ? &*state_->own : &ReadBuiltIn(state_->file);
    state_->name = fmt::format("{}-{}{}", state_->model->family,
                               state_->model->chosen, state_->suffix);
  });
  return *state_;
}

const FittedModel& LazyModel::model() const {
  return *Read().model;
}

const std::string& LazyModel::name() const {
  return Read().name;
}

}  // namespace stepcast::cost
