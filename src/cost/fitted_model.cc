#include "cost/fitted_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/files/toml_read.h"
#include "base/text/join.h"

namespace stepcast::cost {
namespace {

constexpr std::array<std::string_view, kVariantCount> kVariants = {
    "fp32", "half", "other", "fp32_batched"};
constexpr std::string_view kEndOfHeader = "\n---\n";

template <typename T>
concept HasDType = requires(const T& shape) {
  shape.dtype;
};

Result<double> GetNumber(const toml::table& table, std::string_view key) {
  const auto value = table[key].value<double>();
  if (!value || !std::isfinite(*value)) {
    return FailAt(table, fmt::format("'{}' must be a number", key));
  }
  return *value;
}

template <typename T>
Result<std::vector<T>> GetNumbers(const toml::table& table,
                                  std::string_view key) {
  const toml::array* list = table.get_as<toml::array>(key);
  if (list == nullptr) {
    return FailAt(table, fmt::format("'{}' must be a list of numbers", key));
  }
  std::vector<T> numbers;
  for (const toml::node& node : *list) {
    const auto value = node.value<double>();
    if (!value || !std::isfinite(*value)) {
      return FailAt(node, fmt::format("'{}' must hold numbers only", key));
    }
    numbers.push_back(static_cast<T>(*value));
  }
  return numbers;
}

Result<Spread> ReadSpread(const toml::table& table) {
  Spread spread;
  ASSIGN_OR_RETURN(spread.edges_us,
                   GetNumbers<double>(table, "spread_edges_us"));
  ASSIGN_OR_RETURN(spread.log2_p10,
                   GetNumbers<double>(table, "spread_log2_p10"));
  ASSIGN_OR_RETURN(spread.log2_p90,
                   GetNumbers<double>(table, "spread_log2_p90"));
  const size_t bins = spread.edges_us.size() + 1;
  if (spread.log2_p10.size() != bins || spread.log2_p90.size() != bins) {
    return FailAt(table, fmt::format("the spread has {} edges; expected {} "
                                     "values of p10 and p90",
                                     bins - 1, bins));
  }
  if (!std::ranges::is_sorted(spread.edges_us)) {
    return FailAt(table, "the edges of the spread must ascend");
  }
  return spread;
}

Result<std::vector<Candidate>> ReadCandidates(const toml::table& table) {
  std::vector<Candidate> candidates;
  const toml::table* list = table.get_as<toml::table>("validation_gmae_pct");
  if (list == nullptr) {
    return FailAt(table, "'validation_gmae_pct' is missing");
  }
  for (const auto& [key, node] : *list) {
    ASSIGN_OR_RETURN(const double error, GetNumber(*list, key.str()));
    candidates.push_back({.name = std::string(key.str()), .gmae_pct = error});
  }
  return candidates;
}

std::string NumberList(std::span<const float> numbers) {
  std::string text;
  for (const float number : numbers) {
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", number);
  }
  return text;
}

std::string NumberList(std::span<const double> numbers) {
  std::string text;
  for (const double number : numbers) {
    text += fmt::format("{}{:.5g}", text.empty() ? "" : ", ", number);
  }
  return text;
}

}  // namespace

std::string_view Name(Variant variant) {
  return kVariants.at(static_cast<size_t>(variant));
}

std::optional<Variant> VariantFromName(std::string_view name) {
  const auto known = std::ranges::find(kVariants, name);
  return known == kVariants.end()
             ? std::nullopt
             : std::optional(static_cast<Variant>(known - kVariants.begin()));
}

Variant VariantOf(const ir::KernelShape& shape) {
  if (const auto* gemm = std::get_if<ir::Gemm>(&shape);
      gemm != nullptr && gemm->batch > 1 && gemm->dtype == ir::DType::kFp32) {
    return Variant::kFullBatched;
  }
  return std::visit(
      []<typename S>(const S& typed) {
        if constexpr (HasDType<S>) {
          switch (typed.dtype) {
            case ir::DType::kFp32:
              return Variant::kFull;
            case ir::DType::kFp16:
            case ir::DType::kBf16:
              return Variant::kHalf;
            default:
              return Variant::kOther;
          }
        } else {
          return Variant::kFull;
        }
      },
      shape);
}

double TrustOf(const FittedModel& model, double formula_us) {
  return 1 / (1 + std::pow(model.fade_us / formula_us, 4));
}

double CorrectionOf(const FittedModel& model, double formula_us, double trees) {
  return TrustOf(model, formula_us) *
         std::clamp(model.offset + trees, -model.most_log2, model.most_log2);
}

size_t Spread::BinOf(double time_us) const {
  return static_cast<size_t>(std::ranges::upper_bound(edges_us, time_us) -
                             edges_us.begin());
}

std::string ModelText(const FittedModel& model) {
  std::string text;
  for (const std::string& line : model.provenance) {
    text += fmt::format("# {}\n", line);
  }
  text += fmt::format("family = \"{}\"\nvariant = \"{}\"\ngpu = \"{}\"\n",
                      model.family, Name(model.variant), model.gpu);
  text +=
      fmt::format("chosen = \"{}\"\nvalidation_gmae_pct = {{ ", model.chosen);
  for (size_t i = 0; i < model.candidates.size(); ++i) {
    text += fmt::format("{}{} = {:.3f}", i == 0 ? "" : ", ",
                        model.candidates[i].name, model.candidates[i].gmae_pct);
  }
  text += fmt::format(" }}\noffset = {:.5f}\nfade_us = {:.3f}\n", model.offset,
                      model.fade_us);
  if (model.most_log2 != FittedModel().most_log2) {
    text += fmt::format("most_log2 = {:.3f}\n", model.most_log2);
  }
  text += fmt::format("spread_edges_us = [{}]\n",
                      NumberList(model.spread.edges_us));
  text += fmt::format("spread_log2_p10 = [{}]\n",
                      NumberList(model.spread.log2_p10));
  text += fmt::format("spread_log2_p90 = [{}]\n",
                      NumberList(model.spread.log2_p90));
  text += fmt::format("feature_low = [{}]\n", NumberList(model.low));
  text += fmt::format("feature_high = [{}]\n---\n", NumberList(model.high));
  return text + model.forest.Text();
}

Result<FittedModel> ParseModel(std::string_view text, std::string_view source) {
  const size_t end = text.find(kEndOfHeader);
  if (end == std::string_view::npos) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no line '---' after the header", source));
  }
  ASSIGN_OR_RETURN(const toml::table table,
                   ParseToml(text.substr(0, end + 1), source));
  FittedModel model;
  ASSIGN_OR_RETURN(model.family, GetString(table, "family"));
  ASSIGN_OR_RETURN(model.gpu, GetString(table, "gpu"));
  ASSIGN_OR_RETURN(model.chosen, GetString(table, "chosen"));
  ASSIGN_OR_RETURN(const std::string variant, GetString(table, "variant"));
  const auto known = VariantFromName(variant);
  if (!known) {
    return FailAt(*table.get("variant"),
                  fmt::format("unknown variant '{}'; expected one of: {}",
                              variant, Join(kVariants, ", ")));
  }
  model.variant = *known;
  ASSIGN_OR_RETURN(model.offset, GetNumber(table, "offset"));
  ASSIGN_OR_RETURN(model.fade_us, GetNumber(table, "fade_us"));
  if (table.contains("most_log2")) {
    ASSIGN_OR_RETURN(model.most_log2, GetNumber(table, "most_log2"));
  }
  ASSIGN_OR_RETURN(model.candidates, ReadCandidates(table));
  ASSIGN_OR_RETURN(model.spread, ReadSpread(table));
  ASSIGN_OR_RETURN(model.low, GetNumbers<float>(table, "feature_low"));
  ASSIGN_OR_RETURN(model.high, GetNumbers<float>(table, "feature_high"));
  if (model.low.size() != model.high.size()) {
    return FailAt(table, "'feature_low' and 'feature_high' must be as long");
  }
  ASSIGN_OR_RETURN(model.forest,
                   Forest::Parse(text.substr(end + kEndOfHeader.size()),
                                 model.low.size(), source));
  return model;
}

}  // namespace stepcast::cost
