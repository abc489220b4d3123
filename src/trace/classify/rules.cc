#include "trace/classify/rules.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "base/files/embedded.h"
#include "base/files/file.h"
#include "base/files/toml_read.h"
#include "base/text/join.h"
#include "ir/names.h"

namespace stepcast {

/// The files of data/rules, in the binary.
std::span<const EmbeddedFile> RuleFiles();

namespace trace {
namespace {

// The kind of calls that leave no trace in the graph.
constexpr std::string_view kIgnore = "ignore";

constexpr std::array<std::string_view, 9> kTables = {
    "kernel",   "op",    "call",     "phase",   "step",
    "step_end", "range", "compiled", "recorder"};

template <size_t... I>
std::vector<std::string_view> ListFamilies(std::index_sequence<I...> /*all*/) {
  return {ir::FamilyName(std::variant_alternative_t<I, ir::KernelShape>{})...};
}

const std::vector<std::string_view>& Families() {
  static const std::vector<std::string_view> families = ListFamilies(
      std::make_index_sequence<std::variant_size_v<ir::KernelShape>>());
  return families;
}

// Calls add(entry) for every [[name]] of the document.
Status ForEachEntry(const toml::table& document, std::string_view name,
                    const std::function<Status(const toml::table&)>& add) {
  const toml::node* node = document.get(name);
  if (node == nullptr) {
    return {};
  }
  if (!node->is_array_of_tables()) {
    return FailAt(*node,
                  fmt::format("'{}' must be written as [[{}]]", name, name));
  }
  for (const toml::node& entry : *node->as_array()) {
    RETURN_IF_ERROR(add(*entry.as_table()));
  }
  return {};
}

// The entry's word under `key`, which must be one of `known`.
Result<std::string> GetWord(const toml::table& entry, std::string_view key,
                            std::span<const std::string_view> known) {
  ASSIGN_OR_RETURN(std::string word, GetString(entry, key));
  if (std::ranges::find(known, word) == known.end()) {
    return FailAt(*entry.get(key),
                  fmt::format("'{}' is not a known {}; expected one of: {}",
                              word, key, Join(known, ", ")));
  }
  return word;
}

Status AddFamilies(const toml::table& document, std::string_view name,
                   std::span<const std::string_view> families,
                   RuleTable<KernelRule>& out) {
  return ForEachEntry(document, name, [&](const toml::table& entry) -> Status {
    constexpr std::array<std::string_view, 3> kKeys = {"family", "detail",
                                                       "match"};
    RETURN_IF_ERROR(CheckKeys(entry, kKeys));
    ASSIGN_OR_RETURN(const std::string family,
                     GetWord(entry, "family", families));
    ASSIGN_OR_RETURN(const std::string detail,
                     GetOptionalString(entry, "detail"));
    ASSIGN_OR_RETURN(const auto patterns, GetStrings(entry, "match"));
    for (const std::string& pattern : patterns) {
      out.Add({.match = pattern, .family = family, .detail = detail});
    }
    return {};
  });
}

Status AddCalls(const toml::table& document, RuleTable<CallRule>& out) {
  std::vector<std::string_view> kinds(ir::Names<ir::CallKind>::kList.begin(),
                                      ir::Names<ir::CallKind>::kList.end());
  kinds.push_back(kIgnore);
  return ForEachEntry(
      document, "call", [&](const toml::table& entry) -> Status {
        constexpr std::array<std::string_view, 2> kKeys = {"kind", "match"};
        RETURN_IF_ERROR(CheckKeys(entry, kKeys));
        ASSIGN_OR_RETURN(const std::string word, GetWord(entry, "kind", kinds));
        ASSIGN_OR_RETURN(const auto patterns, GetStrings(entry, "match"));
        const ir::CallKind kind =
            ir::FromName<ir::CallKind>(word).value_or(ir::CallKind::kOther);
        for (const std::string& pattern : patterns) {
          out.Add(
              {.match = pattern, .kind = kind, .relevant = word != kIgnore});
        }
        return {};
      });
}

Status AddPhases(const toml::table& document, RuleTable<PhaseRule>& out) {
  return ForEachEntry(
      document, "phase", [&](const toml::table& entry) -> Status {
        constexpr std::array<std::string_view, 2> kKeys = {"phase", "match"};
        RETURN_IF_ERROR(CheckKeys(entry, kKeys));
        ASSIGN_OR_RETURN(const std::string word,
                         GetWord(entry, "phase", ir::Names<ir::Phase>::kList));
        ASSIGN_OR_RETURN(const auto patterns, GetStrings(entry, "match"));
        const auto phase = ir::FromName<ir::Phase>(word);
        for (const std::string& pattern : patterns) {
          out.Add({.match = pattern, .phase = *phase});
        }
        return {};
      });
}

Status AddNames(const toml::table& document, std::string_view name,
                GlobList& out) {
  return ForEachEntry(document, name, [&](const toml::table& entry) -> Status {
    constexpr std::array<std::string_view, 1> kKeys = {"match"};
    RETURN_IF_ERROR(CheckKeys(entry, kKeys));
    ASSIGN_OR_RETURN(const auto patterns, GetStrings(entry, "match"));
    for (const std::string& pattern : patterns) {
      out.Add(pattern);
    }
    return {};
  });
}

}  // namespace

Status Rules::Add(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table document, ParseToml(text, source));
  RETURN_IF_ERROR(CheckKeys(document, kTables));
  RETURN_IF_ERROR(AddFamilies(document, "kernel", Families(), kernels_));
  std::vector<std::string_view> op_families = Families();
  op_families.push_back(kNoFamily);
  RETURN_IF_ERROR(AddFamilies(document, "op", op_families, ops_));
  RETURN_IF_ERROR(AddCalls(document, calls_));
  RETURN_IF_ERROR(AddPhases(document, phases_));
  RETURN_IF_ERROR(AddNames(document, "step", steps_));
  RETURN_IF_ERROR(AddNames(document, "step_end", step_ends_));
  RETURN_IF_ERROR(AddNames(document, "range", ranges_));
  RETURN_IF_ERROR(AddNames(document, "compiled", compiled_));
  return AddNames(document, "recorder", recorder_nodes_);
}

Result<Rules> Rules::Load(std::span<const std::filesystem::path> extra) {
  Rules rules;
  for (const std::filesystem::path& path : extra) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    RETURN_IF_ERROR(rules.Add(text, path.string()));
  }
  for (const EmbeddedFile& file : RuleFiles()) {
    RETURN_IF_ERROR(rules.Add(file.text, file.name));
  }
  return rules;
}

const KernelRule* Rules::FindKernel(std::string_view name) const {
  return kernels_.Find(name);
}

const CallRule* Rules::FindCall(std::string_view name) const {
  return calls_.Find(name);
}

const KernelRule* Rules::FindOp(std::string_view name) const {
  return ops_.Find(name);
}

std::optional<ir::Phase> Rules::FindPhase(std::string_view name) const {
  const PhaseRule* rule = phases_.Find(name);
  return rule == nullptr ? std::nullopt : std::optional(rule->phase);
}

bool Rules::IsStep(std::string_view name) const {
  return steps_.FindFirst(name).has_value();
}

bool Rules::IsStepEnd(std::string_view name) const {
  return step_ends_.FindFirst(name).has_value();
}

bool Rules::IsFrameworkRange(std::string_view name) const {
  return ranges_.FindFirst(name).has_value();
}

bool Rules::IsCompiledRange(std::string_view name) const {
  return compiled_.FindFirst(name).has_value();
}

bool Rules::IsRecorderNode(std::string_view name) const {
  return recorder_nodes_.FindFirst(name).has_value();
}

}  // namespace trace
}  // namespace stepcast
