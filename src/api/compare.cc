// compare: two steps side by side.
#include "view/reports/compare.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/compare_side.h"
#include "api/workload.h"
#include "base/files/file.h"
#include "base/text/join.h"
#include "scenario/settings.h"

namespace stepcast::api {
namespace {

std::vector<double> ValuesOf(const view::Comparison& comparison) {
  const view::ComparedStep& a = comparison.a;
  const view::ComparedStep& b = comparison.b;
  return {view::PercentLonger(a.step, b.step),
          view::PercentLonger(a.gpu_active, b.gpu_active),
          view::PercentLonger(a.host_busy, b.host_busy)};
}

// The first letters of a file, without blanks and braces.
std::string HeadOf(const std::string& path) {
  const auto source = OpenFile(path);
  std::array<char, 512> head{};
  const auto size = source ? (*source)->Read(head) : Result<size_t>(0);
  std::string text(head.data(), size.value_or(0));
  std::erase_if(text, [](char letter) {
    return std::string_view(" \r\n\t{").find(letter) != std::string_view::npos;
  });
  return text;
}

// Whether a file begins like a ShardingPlan.
bool IsPlan(std::string_view head) {
  return head.starts_with("\"plan\"") ||
         head.find("\"sharding_type\":\"") != std::string_view::npos;
}

// A plan alone is not a step; it takes the model that it is for.
Status CheckNoPlans(const std::vector<std::string>& sides) {
  std::vector<std::string> words;
  std::string plan;
  for (const std::string& side : sides) {
    const bool is_plan =
        std::filesystem::is_regular_file(side) && IsPlan(HeadOf(side));
    plan = is_plan && plan.empty() ? side : plan;
    words.push_back(is_plan ? "MODEL@plan=" + side : side);
  }
  return plan.empty()
             ? Status()
             : Fail(ErrorCode::kInvalidInput,
                    fmt::format("{} is a sharding plan; expected the model "
                                "that it is for: `stepcast compare {} --impl "
                                "torchrec --gpus N`",
                                plan, Join(words, " ")));
}

// An option that neither side has a use for is a mistake.
Status CheckSharedOptions(const scenario::Scenario& options) {
  std::vector<scenario::Scenario> sides;
  for (const std::string& text : options.workload) {
    RETURN_IF_ERROR(ReadSide(text, sides.emplace_back(options)));
  }
  for (const scenario::Setting& setting : scenario::Settings()) {
    if (setting.IsSet(options) &&
        std::ranges::none_of(sides, [&](const scenario::Scenario& side) {
          return setting.IsSet(side);
        })) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} means nothing for either step", setting.name));
    }
  }
  return {};
}

struct LoadedSide {
  view::ComparedStep step{};
  std::optional<whatif::Case>
      loaded{};  // Not of a prediction read from a file.
  /// Of profiles of its own; the case points into it.
  std::unique_ptr<scenario::Resolver> resolver{};
};

Result<LoadedSide> LoadSide(const std::string& text,
                            const scenario::Scenario& common,
                            scenario::Resolver& shared,
                            const Options& options) {
  scenario::Scenario scenario = common;
  RETURN_IF_ERROR(ReadSide(text, scenario));
  if (!scenario.samples.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "samples means nothing for compare; intervals are not "
                "compared");
  }
  scenario.samples.assign(1, '0');
  const std::string& file = scenario.workload.front();
  if (IsReport(file)) {
    ASSIGN_OR_RETURN(const std::string json, ReadFile(file));
    ASSIGN_OR_RETURN(view::ComparedStep step,
                     view::ReadPredictionJson(json, text));
    return LoadedSide{.step = std::move(step)};
  }
  LoadedSide side;
  if (scenario.profile != common.profile) {
    side.resolver = std::make_unique<scenario::Resolver>(ResolverOf(scenario));
  }
  ASSIGN_OR_RETURN(
      side.loaded,
      LoadCase(scenario, side.resolver ? *side.resolver : shared, options));
  side.step = view::CompareSide(*side.loaded, text);
  return side;
}

struct BothSides {
  scenario::Resolver resolver;
  LoadedSide a;
  LoadedSide b;
};

Result<Answer> AskCompare(const scenario::Question& question,
                          const Options& options) {
  const scenario::Scenario& common = question.scenario;
  if (common.workload.size() != 2) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("compare takes two steps, not {}; expected "
                            "stepcast compare A B",
                            common.workload.size()));
  }
  RETURN_IF_ERROR(CheckNoPlans(common.workload));
  RETURN_IF_ERROR(CheckSharedOptions(common));
  const auto kept = std::make_shared<BothSides>(
      BothSides{.resolver = ResolverOf(common), .a = {}, .b = {}});
  ASSIGN_OR_RETURN(
      kept->a, LoadSide(common.workload[0], common, kept->resolver, options));
  ASSIGN_OR_RETURN(
      kept->b, LoadSide(common.workload[1], common, kept->resolver, options));
  const auto resolver_of = [&](const LoadedSide& side) {
    return side.resolver ? side.resolver.get() : &kept->resolver;
  };
  const cost::ModelStore* const used[] = {&resolver_of(kept->a)->store(),
                                          &resolver_of(kept->b)->store()};
  RETURN_IF_ERROR(used[0]->CheckProfiles(used));
  RETURN_IF_ERROR(used[1]->CheckProfiles(used));
  const view::Comparison comparison =
      view::Compare(std::move(kept->a.step), std::move(kept->b.step));
  const auto case_of = [](const LoadedSide& side) {
    return side.loaded ? &*side.loaded : nullptr;
  };
  return Answer{.doc = view::ComparisonDoc(comparison, case_of(kept->a),
                                           case_of(kept->b)),
                .values = ValuesOf(comparison),
                .owner = kept};
}

}  // namespace

Verb CompareVerb() {
  return {
      .name = "compare",
      .about =
          "Compares two steps part by part and op by op. A step is a trace (as "
          "it was measured), a\nmodel, with settings of its own after '@', or "
          "a file that `stepcast predict --json` wrote.",
      .examples =
          "  stepcast compare before.json.gz after.json.gz --fail-on "
          "'step>+3%'\n"
          "  stepcast compare dlrm_mlperf@gpu=a100-sxm-80gb "
          "dlrm_mlperf@gpu=h100-sxm-80gb\n"
          "  stepcast compare baseline.json dlrm_mlperf@batch=4096 --junit "
          "steps.xml",
      .page = "both steps with timelines",
      .rows = "a row for each op",
      .takes = IsOfSteps,
      .quantities = {{.name = "step",
                      .unit = "%",
                      .help = "how much longer B's step is than A's"},
                     {.name = "gpu_active",
                      .unit = "%",
                      .help = "the same for the time that the GPU is active"},
                     {.name = "host_busy",
                      .unit = "%",
                      .help = "the same for the host's busy time"}},
      .ask = AskCompare};
}

}  // namespace stepcast::api
