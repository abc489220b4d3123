#include "whatif/select.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/text/glob.h"
#include "base/text/join.h"
#include "base/text/nearest.h"
#include "engine/explain/path_parts.h"
#include "ir/names.h"

namespace stepcast::whatif {
namespace {

// The names that are counted most often, at most so many.
std::vector<std::string> MostOf(const std::map<std::string, size_t>& counts,
                                size_t most) {
  std::vector<std::pair<size_t, std::string>> sorted;
  sorted.reserve(counts.size());
  for (const auto& [name, count] : counts) {
    sorted.emplace_back(count, name);
  }
  std::ranges::stable_sort(sorted, std::greater<>(),
                           &std::pair<size_t, std::string>::first);
  std::vector<std::string> names;
  for (size_t i = 0; i < sorted.size() && i < most; ++i) {
    names.push_back(sorted[i].second);
  }
  return names;
}

class Selector {
 public:
  Selector(const ir::Graph& graph, const timeline::HostPlan& plan,
           std::string_view name)
      : graph_(graph),
        data_(graph.data()),
        plan_(plan),
        glob_(name),
        answers_(data_.strings.size()) {}

  Result<Selection> Run(std::string_view name);

 private:
  enum class Answer : char { kNotAsked, kNo, kYes };

  bool Matches(StringId id);
  bool FamilyMatches(const ir::KernelShape& shape) const;
  void MatchOps();
  void MatchActivities();
  void MatchCalls();
  void MatchSegments(ir::ThreadId thread);
  bool CallMatches(const timeline::HostSegment& segment) const {
    return segment.call.valid() && calls_[segment.call] != 0;
  }
  std::string Complaint(std::string_view name) const;
  std::vector<std::string> SomeNames() const;

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const timeline::HostPlan& plan_;
  const Glob glob_;
  std::vector<Answer> answers_;  // By string.
  IdVector<ir::OpId, char> ops_;
  IdVector<ir::CallId, char> calls_;
  IdVector<ir::ActivityId, char> activities_;
  Selection selection_;
};

bool Selector::Matches(StringId id) {
  Answer& answer = answers_[id.value];
  if (answer == Answer::kNotAsked) {
    const std::string_view text = graph_.text(id);
    const bool yes =
        !text.empty() &&
        (glob_.Matches(text) || glob_.Matches(engine::ShortOpName(text)) ||
         glob_.Matches(engine::ShortActivityName(text)));
    answer = yes ? Answer::kYes : Answer::kNo;
  }
  return answer == Answer::kYes;
}

// Reports call two families by shorter names, and collectives by their kind.
bool Selector::FamilyMatches(const ir::KernelShape& shape) const {
  if (const auto* part = std::get_if<ir::Collective>(&shape)) {
    if (glob_.Matches(ir::Name(part->kind))) {
      return true;
    }
  }
  return glob_.Matches(ir::FamilyName(shape)) ||
         (std::holds_alternative<ir::EmbeddingBag>(shape) &&
          glob_.Matches("embedding")) ||
         (std::holds_alternative<ir::OptimizerStep>(shape) &&
          glob_.Matches("optimizer"));
}

void Selector::MatchOps() {
  ops_ = IdVector<ir::OpId, char>(data_.ops.size());
  for (const ir::OpId id : data_.ops.ids()) {  // Parents come first.
    const ir::Op& op = data_.ops[id];
    const bool inside = op.parent.valid() && ops_[op.parent] != 0;
    ops_[id] = inside || Matches(op.name) ? 1 : 0;
  }
}

void Selector::MatchActivities() {
  activities_ = IdVector<ir::ActivityId, char>(data_.activities.size());
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    const ir::OpId op =
        activity.call.valid() ? data_.calls[activity.call].op : ir::OpId{};
    if ((op.valid() && ops_[op] != 0) || Matches(activity.name) ||
        FamilyMatches(data_.shapes[activity.shape])) {
      activities_[id] = 1;
      selection_.activities.push_back(id);
    }
  }
}

// Calls inside a matched op, calls whose own name matches, or calls all of
// whose activities match.
void Selector::MatchCalls() {
  constexpr char kSomeDoNot = 2;
  calls_ = IdVector<ir::CallId, char>(data_.calls.size());
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::CallId call = data_.activities[id].call;
    if (call.valid() && calls_[call] != kSomeDoNot) {
      calls_[call] = activities_[id] != 0 ? 1 : kSomeDoNot;
    }
  }
  for (const ir::CallId id : data_.calls.ids()) {
    const ir::Call& call = data_.calls[id];
    const bool inside = call.op.valid() && ops_[call.op] != 0;
    calls_[id] = inside || calls_[id] == 1 || Matches(call.name) ? 1 : 0;
  }
}

void Selector::MatchSegments(ir::ThreadId thread) {
  const std::vector<timeline::HostSegment>& segments = plan_.threads[thread];
  for (uint32_t i = 0; i < segments.size(); ++i) {
    const timeline::HostSegment& segment = segments[i];
    bool matches = CallMatches(segment);
    if (!matches && segment.op.valid()) {
      matches = ops_[segment.op] != 0;
    }
    // Between two calls of a nested op.
    if (!matches && segment.kind == cost::HostKind::kBetweenLaunches && i > 0 &&
        i + 1 < segments.size()) {
      matches = CallMatches(segments[i - 1]) && CallMatches(segments[i + 1]);
    }
    if (matches && segment.kind != cost::HostKind::kHandoff) {
      selection_.segments.push_back({.thread = thread, .segment = i});
    }
  }
}

std::string Selector::Complaint(std::string_view name) const {
  std::set<std::string> names;
  for (const ir::Op& op : data_.ops) {
    names.insert(engine::ShortOpName(graph_.text(op.name)));
  }
  for (const ir::Activity& activity : data_.activities) {
    const ir::KernelShape& shape = data_.shapes[activity.shape];
    names.insert(engine::ShortActivityName(graph_.text(activity.name)));
    names.insert(std::string(ir::FamilyName(shape)));
    if (const auto* part = std::get_if<ir::Collective>(&shape)) {
      names.insert(std::string(ir::Name(part->kind)));
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto nearest = Nearest(name, known);
  return fmt::format(
      "nothing in the step is called '{}'; {}", name,
      nearest ? fmt::format("did you mean {}?", *nearest)
              : fmt::format("expected an op, a kernel or a family, as in {}",
                            Join(SomeNames(), ", ")));
}

// The families that have most activities, and the op with most launches.
std::vector<std::string> Selector::SomeNames() const {
  constexpr size_t kMost = 3;
  std::map<std::string, size_t> families;
  std::map<std::string, size_t> ops;
  for (const ir::Activity& activity : data_.activities) {
    ++families[std::string(ir::FamilyName(data_.shapes[activity.shape]))];
    const ir::OpId op =
        activity.call.valid() ? data_.calls[activity.call].op : ir::OpId{};
    if (op.valid()) {
      ++ops[engine::ShortOpName(graph_.text(data_.ops[op].name))];
    }
  }
  families.erase(std::string(ir::FamilyName(ir::Opaque{})));
  std::vector<std::string> names = MostOf(ops, 1);
  for (std::string& family : MostOf(families, kMost)) {
    names.push_back(std::move(family));
  }
  return names.empty() ? std::vector<std::string>{"aten::addmm", "gemm"}
                       : names;
}

Result<Selection> Selector::Run(std::string_view name) {
  MatchOps();
  MatchActivities();
  MatchCalls();
  for (const ir::ThreadId thread : data_.threads.ids()) {
    MatchSegments(thread);
  }
  if (selection_.activities.empty() && selection_.segments.empty()) {
    return Fail(ErrorCode::kInvalidInput, Complaint(name));
  }
  return std::move(selection_);
}

}  // namespace

Result<Selection> Select(const ir::Graph& graph, const timeline::HostPlan& plan,
                         std::string_view name) {
  return Selector(graph, plan, name).Run(name);
}

}  // namespace stepcast::whatif
