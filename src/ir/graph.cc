#include "ir/graph.h"

#include <algorithm>
#include <utility>

#include "ir/verify.h"

namespace stepcast::ir {
namespace {

// Compares two graphs whose string and shape ids may differ.
class Comparison {
 public:
  Comparison(const GraphData& a, const GraphData& b) : a_(a), b_(b) {
    string_in_a_.reserve(b.strings.size());
    for (uint32_t i = 0; i < b.strings.size(); ++i) {
      string_in_a_.push_back(a.strings.Find(b.strings.view(StringId{i})));
    }
  }

  bool Same() const {
    return Text(b_.source) == a_.source && SameHost() &&
           a_.streams == b_.streams && a_.tensors == b_.tensors &&
           SameActivities() && a_.collectives == b_.collectives &&
           a_.stream_waits == b_.stream_waits && a_.host_waits == b_.host_waits;
  }

 private:
  // The id in `a` of a string of `b`; not valid if there is none.
  StringId Text(StringId in_b) const { return string_in_a_[in_b]; }

  // Whether every item of `a` equals that of `b` after `translate` made it
  // speak of the ids of `a`.
  template <typename Items, typename Translate>
  static bool SameItems(const Items& a, const Items& b, Translate translate) {
    return std::ranges::equal(
        a, b, [&](const auto& x, const auto& y) { return x == translate(y); });
  }

  bool SameHost() const {
    return SameItems(a_.ranks, b_.ranks,
                     [this](Rank rank) {
                       rank.gpu = Text(rank.gpu);
                       return rank;
                     }) &&
           SameItems(a_.threads, b_.threads,
                     [this](Thread thread) {
                       thread.name = Text(thread.name);
                       return thread;
                     }) &&
           SameItems(a_.ops, b_.ops,
                     [this](Op op) {
                       op.name = Text(op.name);
                       op.modules = Text(op.modules);
                       op.site = Text(op.site);
                       return op;
                     }) &&
           SameItems(a_.calls, b_.calls, [this](Call call) {
             call.name = Text(call.name);
             return call;
           });
  }

  bool SameActivities() const {
    return std::ranges::equal(a_.activities, b_.activities,
                              [this](const Activity& x, const Activity& y) {
                                Activity translated = y;
                                translated.name = Text(y.name);
                                translated.shape = x.shape;
                                return x == translated &&
                                       a_.shapes[x.shape] == b_.shapes[y.shape];
                              });
  }

  const GraphData& a_;
  const GraphData& b_;
  IdVector<StringId, StringId> string_in_a_;
};

}  // namespace

Graph::Graph(GraphData data)
    : data_(std::move(data)),
      timed_(!data_.ranks.empty() &&
             std::ranges::all_of(data_.ranks, [](const Rank& rank) {
               return rank.step.has_value();
             })) {}
Graph::Graph(const Graph& other) = default;
Graph& Graph::operator=(const Graph& other) = default;
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(Graph&& other) noexcept = default;
Graph::~Graph() = default;

Result<Graph> Graph::Make(GraphData data) {
  RETURN_IF_ERROR(Verify(data));
  return Graph(std::move(data));
}

bool SameContent(const Graph& a, const Graph& b) {
  return Comparison(a.data(), b.data()).Same();
}

}  // namespace stepcast::ir
