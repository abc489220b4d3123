#include "learn/fit/boost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <xgboost/c_api.h>

#include "base/result.h"

namespace stepcast::learn {
namespace {

// The functions of XGBoost, whose library is loaded when a fit first needs it:
// loading takes as long as a prediction, which needs none of it.

// As c_api.h declares them, without "XG".
struct XgboostLibrary {
  decltype(&XGBGetLastError) get_last_error = nullptr;
  decltype(&XGDMatrixCreateFromMat) matrix_create = nullptr;
  decltype(&XGDMatrixFree) matrix_free = nullptr;
  decltype(&XGBoosterCreate) booster_create = nullptr;
  decltype(&XGBoosterFree) booster_free = nullptr;
  decltype(&XGBoosterSetParam) booster_set_param = nullptr;
  decltype(&XGBoosterBoostOneIter) booster_boost = nullptr;
  decltype(&XGBoosterPredict) booster_predict = nullptr;
  decltype(&XGBoosterDumpModelEx) booster_dump = nullptr;
};

// What the linker would have noted: the name that the ABI has.
constexpr const char* kFile = STEPCAST_XGBOOST_SONAME;

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<XgboostLibrary> Load() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} cannot be loaded; expected XGBoost to be "
                            "installed, which fits trees",
                            kFile));
  }
  XgboostLibrary found;
  const bool all =
      Find(library, "XGBGetLastError", found.get_last_error) &&
      Find(library, "XGDMatrixCreateFromMat", found.matrix_create) &&
      Find(library, "XGDMatrixFree", found.matrix_free) &&
      Find(library, "XGBoosterCreate", found.booster_create) &&
      Find(library, "XGBoosterFree", found.booster_free) &&
      Find(library, "XGBoosterSetParam", found.booster_set_param) &&
      Find(library, "XGBoosterBoostOneIter", found.booster_boost) &&
      Find(library, "XGBoosterPredict", found.booster_predict) &&
      Find(library, "XGBoosterDumpModelEx", found.booster_dump);
  if (!all) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} lacks functions; expected version 1.6", kFile));
  }
  return found;
}

Result<const XgboostLibrary*> LoadXgboost() {
  static const Result<XgboostLibrary> kLibrary = Load();
  if (!kLibrary) {
    return tl::unexpected(kLibrary.error());
  }
  return &*kLibrary;
}

struct FreeMatrix {
  const XgboostLibrary* library = nullptr;
  void operator()(void* handle) const { library->matrix_free(handle); }
};
struct FreeBooster {
  const XgboostLibrary* library = nullptr;
  void operator()(void* handle) const { library->booster_free(handle); }
};
using Matrix =
    std::unique_ptr<std::remove_pointer_t<DMatrixHandle>, FreeMatrix>;
using Booster =
    std::unique_ptr<std::remove_pointer_t<BoosterHandle>, FreeBooster>;

Status Check(const XgboostLibrary& library, int code) {
  if (code != 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("XGBoost: {}", library.get_last_error()));
  }
  return {};
}

Result<Matrix> MakeMatrix(const XgboostLibrary& library,
                          const TrainingRows& rows,
                          const std::vector<size_t>& chosen) {
  std::vector<float> cells;
  cells.reserve(chosen.size() * rows.feature_count);
  for (const size_t row : chosen) {
    const auto features = rows.FeaturesOf(row);
    cells.insert(cells.end(), features.begin(), features.end());
  }
  DMatrixHandle handle = nullptr;
  RETURN_IF_ERROR(
      Check(library,
            library.matrix_create(cells.data(), chosen.size(),
                                  rows.feature_count, std::nanf(""), &handle)));
  return Matrix(handle, FreeMatrix{.library = &library});
}

Result<Booster> MakeBooster(const XgboostLibrary& library, const Matrix& matrix,
                            const BoostOptions& options) {
  const DMatrixHandle cached = matrix.get();
  BoosterHandle handle = nullptr;
  RETURN_IF_ERROR(Check(library, library.booster_create(&cached, 1, &handle)));
  Booster booster(handle, FreeBooster{.library = &library});
  // The second derivatives below are at most the square of ln 2 a row, so one
  // unit of weight is at least two rows, and a hundredth hardly shrinks.
  const std::pair<const char*, std::string> parameters[] = {
      {"max_depth", fmt::format("{}", options.depth)},
      {"eta", fmt::format("{}", options.rate)},
      {"subsample", fmt::format("{}", options.row_share)},
      {"colsample_bytree", fmt::format("{}", options.feature_share)},
      {"lambda", "0.01"},
      {"min_child_weight", "1"},
      {"tree_method", "hist"},
      {"max_bin", "256"},
      {"base_score", "0"},
      {"nthread", "1"},
      {"seed", "1"},
      {"disable_default_eval_metric", "1"},
      {"verbosity", "0"},
  };
  for (const auto& [key, value] : parameters) {
    RETURN_IF_ERROR(Check(
        library, library.booster_set_param(booster.get(), key, value.c_str())));
  }
  return booster;
}

// First and second derivative of a row's loss by log2 of its estimate: a
// pseudo-Huber loss of the observed time's logarithm.
struct Slope {
  float first = 0;
  float second = 0;
};

Slope SlopeOf(const TrainingRow& row, double log2_change, double robust_from) {
  constexpr float kLeastSecond = 1e-6F;
  const double kernel = row.base_us * std::exp2(row.trust * log2_change);
  const double observed = row.lead_us + kernel;
  const double residual = std::log(observed) - row.log_time;
  if (row.censored && residual < 0) {
    return {.first = 0, .second = kLeastSecond};
  }
  const double scaled = residual / robust_from;
  const double damping = 1 / std::sqrt(1 + scaled * scaled);
  const double chain = std::numbers::ln2 * row.trust * kernel / observed;
  return {.first = static_cast<float>(row.weight * residual * damping * chain),
          .second =
              std::max(static_cast<float>(row.weight * damping * chain * chain),
                       kLeastSecond)};
}

// Takes a number off the front of a text, after `mark`.
template <typename T>
bool TakeNumber(std::string_view& text, std::string_view mark, T& value) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(at + mark.size());
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

// XGBoost prints a tree as lines like
//   0:[f3<1.5] yes=1,no=2,missing=1
//   1:leaf=0.25
// Its numbers are those of a full binary tree's order; ours are dense.
Result<cost::Tree> ParseDump(std::string_view dump) {
  std::vector<std::pair<uint32_t, cost::TreeNode>> lines;
  std::string_view rest = dump;
  while (!rest.empty()) {
    const size_t size = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, size);
    rest.remove_prefix(std::min(size + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line.empty()) {
      continue;
    }
    uint32_t id = 0;
    cost::TreeNode node;
    bool good = TakeNumber(line, "", id);
    if (line.starts_with(":leaf")) {
      good = good && TakeNumber(line, "leaf=", node.value);
    } else {
      good = good && TakeNumber(line, "[f", node.feature) &&
             TakeNumber(line, "<", node.threshold) &&
             TakeNumber(line, "yes=", node.left) &&
             TakeNumber(line, "no=", node.right);
    }
    if (!good) {
      return Fail(ErrorCode::kUnsupported,
                  "XGBoost printed a tree that we do not understand");
    }
    lines.emplace_back(id, node);
  }
  std::ranges::sort(lines, {}, &std::pair<uint32_t, cost::TreeNode>::first);
  cost::Tree tree;
  const auto place_of = [&](uint32_t id) {
    const auto found = std::ranges::lower_bound(
        lines, id, {}, &std::pair<uint32_t, cost::TreeNode>::first);
    return static_cast<uint32_t>(found - lines.begin());
  };
  for (auto& [id, node] : lines) {
    if (node.feature >= 0) {
      node.left = place_of(node.left);
      node.right = place_of(node.right);
    }
    tree.push_back(node);
  }
  return tree;
}

Result<std::vector<cost::Tree>> Export(const XgboostLibrary& library,
                                       const Booster& booster) {
  bst_ulong count = 0;
  const char** dumps = nullptr;
  RETURN_IF_ERROR(Check(library, library.booster_dump(booster.get(), "", 0,
                                                      "text", &count, &dumps)));
  std::vector<cost::Tree> trees;
  for (bst_ulong i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(cost::Tree tree, ParseDump(dumps[i]));
    trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace

Result<std::vector<cost::Tree>> Boost(const TrainingRows& rows, double offset,
                                      const BoostOptions& options) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    if (rows.rows[i].part == Part::kFit) {
      chosen.push_back(i);
    }
  }
  ASSIGN_OR_RETURN(const XgboostLibrary* library, LoadXgboost());
  ASSIGN_OR_RETURN(const Matrix matrix, MakeMatrix(*library, rows, chosen));
  ASSIGN_OR_RETURN(const Booster booster,
                   MakeBooster(*library, matrix, options));
  std::vector<float> first(chosen.size());
  std::vector<float> second(chosen.size());
  for (int round = 0; round < options.rounds; ++round) {
    bst_ulong count = 0;
    const float* margins = nullptr;
    RETURN_IF_ERROR(
        Check(*library, library->booster_predict(booster.get(), matrix.get(), 1,
                                                 0, 1, &count, &margins)));
    for (size_t i = 0; i < chosen.size(); ++i) {
      const Slope slope = SlopeOf(rows.rows[chosen[i]],
                                  offset + static_cast<double>(margins[i]),
                                  options.robust_from);
      first[i] = slope.first;
      second[i] = slope.second;
    }
    RETURN_IF_ERROR(
        Check(*library,
              library->booster_boost(booster.get(), matrix.get(), first.data(),
                                     second.data(), chosen.size())));
  }
  return Export(*library, booster);
}

}  // namespace stepcast::learn
