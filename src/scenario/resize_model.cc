#include "scenario/resize_model.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "model/tables/table_assignment.h"

namespace stepcast::scenario {

void SetTableCount(int64_t count, model::Model& model) {
  if (model.tables.size() == 1) {
    model.tables.front().count = count;
    return;
  }
  const std::vector<model::TableGroup> own = model::SingleTables(model.tables);
  model.tables.clear();
  for (int64_t i = 0; i < count && !own.empty(); ++i) {
    model::TableGroup table = own[static_cast<size_t>(i) % own.size()];
    table.count = 1;
    model::TableGroup* const last =
        model.tables.empty() ? nullptr : &model.tables.back();
    model::TableGroup like = table;
    like.count = last == nullptr ? 0 : last->count;
    if (last != nullptr && like == *last) {
      ++last->count;
    } else {
      model.tables.push_back(std::move(table));
    }
  }
}

void SetDim(int64_t dim, model::Model& model) {
  if (model.tables.empty()) {
    return;
  }
  const int64_t before = model.tables.front().dim;
  for (model::TableGroup& group : model.tables) {
    group.dim = dim;
  }
  if (!model.bottom_mlp.empty() && model.bottom_mlp.back() == before) {
    model.bottom_mlp.back() = dim;
  }
}

void SetWidth(int64_t width, std::vector<int64_t>& mlp) {
  for (size_t i = 0; i + 1 < mlp.size(); ++i) {
    mlp[i] = width;
  }
}

void SetDepth(int64_t depth, std::vector<int64_t>& mlp) {
  if (mlp.empty()) {
    return;
  }
  const int64_t width = mlp.front();
  const int64_t last = mlp.back();
  mlp.assign(static_cast<size_t>(depth), width);
  mlp.push_back(last);
}

Result<std::vector<int64_t>> ParseMlp(std::string_view text) {
  constexpr int64_t kMostLayerWidth = 1'000'000;  // As in model files.
  std::vector<int64_t> widths;
  std::string_view rest = text;
  while (true) {
    const size_t dash = rest.find('-');
    const std::string_view word = rest.substr(0, dash);
    int64_t width = 0;
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), width);
    if (error != std::errc() || end != word.data() + word.size() || width < 1 ||
        width > kMostLayerWidth) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is not a list of layers; expected their "
                              "widths, as in \"512-256-64\"",
                              text));
    }
    widths.push_back(width);
    if (dash == std::string_view::npos) {
      return widths;
    }
    rest = rest.substr(dash + 1);
  }
}

Status CheckSizes(const model::Model& model) {
  if (model.kind != model::ModelKind::kDlrm ||
      model.interaction.kind != model::InteractionKind::kDot) {
    return {};
  }
  const int64_t dense =
      model.bottom_mlp.empty() ? model.dense_features : model.bottom_mlp.back();
  for (const model::TableGroup& group : model.tables) {
    const int64_t other = dense == 0 ? model.tables.front().dim : dense;
    if (group.dim != other) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} has vectors of {} and {} numbers; expected "
                              "one length for a dot interaction",
                              model.name, group.dim, other));
    }
  }
  return {};
}

}  // namespace stepcast::scenario
