#include "learn/judge/step_words.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/files/embedded.h"
#include "base/files/toml_read.h"
#include "model/settings.h"
#include "scenario/resolve.h"
#include "scenario/settings.h"

namespace stepcast {

std::span<const EmbeddedFile> PublishedFileTexts();

namespace learn {
namespace {

// In the order in which rules are asked; a later one has the last word.
constexpr std::array<std::string_view, 7> kColumns = {
    "implementation",     "model", "gpu", "cpu", "precision", "cuda_graphs",
    "embedding_placement"};

// What a rule may say besides settings.
constexpr std::array<std::string_view, 5> kOwnKeys = {"words", "when", "skip",
                                                      "torch", "parallel"};

Status CheckKeysOfRule(const toml::table& table) {
  for (const auto& [key, value] : table) {
    if (std::ranges::find(kOwnKeys, key.str()) == kOwnKeys.end() &&
        scenario::FindSetting(key.str()) == nullptr) {
      return FailAt(value, scenario::UnknownSetting(key.str()));
    }
  }
  return {};
}

Result<StepWords::Rule> ReadRule(const toml::table& table) {
  RETURN_IF_ERROR(CheckKeysOfRule(table));
  StepWords::Rule rule;
  ASSIGN_OR_RETURN(const auto words, GetStrings(table, "words"));
  for (const std::string& word : words) {
    rule.words.emplace_back(word);
  }
  if (const toml::node* when = table.get("when")) {
    if (!when->is_table()) {
      return FailAt(*when,
                    "when is not a table; expected { column = \"words\" }");
    }
    for (const auto& [column, value] : *when->as_table()) {
      ASSIGN_OR_RETURN(const std::string pattern,
                       GetString(*when->as_table(), column.str()));
      rule.when.emplace_back(std::string(column.str()), Glob(pattern));
    }
  }
  for (const auto& [key, value] : table) {
    if (key.str() == "words" || key.str() == "when") {
      continue;
    }
    ASSIGN_OR_RETURN(const std::string text, GetString(table, key.str()));
    rule.values.emplace(std::string(key.str()), text);
  }
  return rule;
}

bool Fits(const StepWords::Rule& rule, const StepRow& row,
          std::string_view word) {
  return std::ranges::any_of(
             rule.words,
             [&](const Glob& glob) { return glob.Matches(word); }) &&
         std::ranges::all_of(rule.when, [&](const auto& when) {
           return when.second.Matches(row.Word(when.first));
         });
}

std::string_view Get(const StepWords::Values& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string_view()
                               : std::string_view(found->second);
}

// The job that the values of all columns come to.
Result<scenario::Job> JobOf(const StepWords::Values& values, const StepRow& row,
                            scenario::Resolver& resolver) {
  scenario::Scenario asked;
  for (const auto& [key, value] : values) {
    if (const scenario::Setting* const setting = scenario::FindSetting(key)) {
      RETURN_IF_ERROR(scenario::SetValue(*setting, value, asked));
    }
  }
  asked.batch = fmt::format("{}", row.batch_per_gpu);
  asked.mode = row.Word("mode");
  const int64_t nodes = std::max<int64_t>(row.num_nodes, 1);
  // Replicas that only answer never talk to each other.
  const bool alone = row.num_gpus == 1 || (Get(values, "parallel") == "data" &&
                                           row.Word("mode") == "infer");
  if (row.num_gpus == 0) {
    asked.nodes = fmt::format("{}", nodes);
  } else if (alone) {
    asked.nodes.clear();
    asked.platform.clear();
  } else {
    asked.gpus = fmt::format("{}", row.num_gpus);
    asked.nodes = fmt::format("{}", nodes);
  }
  ASSIGN_OR_RETURN(scenario::Job job, resolver.Resolve(asked));
  if (!Get(values, "torch").empty()) {
    ASSIGN_OR_RETURN(job.request.settings.torch,
                     model::ParseTorchRelease(Get(values, "torch")));
  }
  RETURN_IF_ERROR(resolver.Load(job.request.machine));
  return job;
}

}  // namespace

Result<StepWords> StepWords::Parse(std::string_view text,
                                   std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table document, ParseToml(text, source));
  RETURN_IF_ERROR(CheckKeys(document, kColumns));
  StepWords words;
  for (const std::string_view column : kColumns) {
    words.columns_.push_back({.name = std::string(column), .rules = {}});
    const toml::node* list = document.get(column);
    if (list == nullptr) {
      continue;
    }
    if (!list->is_array_of_tables()) {
      return FailAt(*list, fmt::format("{} is not a list of rules; expected "
                                       "[[{}]]",
                                       column, column));
    }
    for (const toml::node& rule : *list->as_array()) {
      ASSIGN_OR_RETURN(Rule read, ReadRule(*rule.as_table()));
      words.columns_.back().rules.push_back(std::move(read));
    }
  }
  return words;
}

Result<StepWords> StepWords::Load() {
  const EmbeddedFile& file = PublishedFileTexts().front();
  return Parse(file.text, file.name);
}

StepMeaning StepWords::MeaningOf(const StepRow& row,
                                 scenario::Resolver& resolver) const {
  StepMeaning meaning;
  Values values;
  for (const Column& column : columns_) {
    const std::string_view word = row.Word(column.name);
    const bool on_processors = row.num_gpus == 0;
    if (on_processors ? word.empty() : column.name == "cpu") {
      continue;
    }
    const auto rule = std::ranges::find_if(
        column.rules, [&](const Rule& r) { return Fits(r, row, word); });
    if (rule == column.rules.end()) {
      meaning.why_not = fmt::format("{} '{}' has no rule", column.name, word);
      return meaning;
    }
    for (const auto& [key, value] : rule->values) {
      values.insert_or_assign(key, value);
    }
  }
  meaning.why_not = Get(values, "skip");
  if (row.num_gpus == 0 && Get(values, "server").empty()) {
    meaning.why_not = "runs on CPUs alone, of which nothing is known";
  }
  if (!meaning.why_not.empty()) {
    return meaning;
  }
  auto job = JobOf(values, row, resolver);
  if (job) {
    meaning.job = *std::move(job);
  } else {
    meaning.why_not = job.error().message;
  }
  return meaning;
}

}  // namespace learn
}  // namespace stepcast
