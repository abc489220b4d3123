#include "ir/text_graph.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/text_line.h"

namespace stepcast::ir {
namespace {

tl::unexpected<Error> At(size_t line, std::string_view what) {
  return Fail(ErrorCode::kInvalidInput, fmt::format("line {}: {}", line, what));
}

std::string Shown(TextLabel label) {
  return Shown(TextWord{.text = label.name});
}

}  // namespace

void TextGraph::DefineOp(TextLabel label, OpId id) {
  Define(label, Kind::kOp, id.value);
}

CallId TextGraph::AddCall(const Call& call, TextLabel label, TextLabel event,
                          TextLabel op) {
  const auto index = static_cast<uint32_t>(calls_.size());
  calls_.push_back({.call = call, .event = event, .op = op});
  Define(label, Kind::kCall, index);
  return CallId{index};
}

void TextGraph::AddWork(const Work& work, const KernelShape& shape,
                        TextLabel label, std::optional<uint32_t> place) {
  while (streams_.size() <= work.stream.value) {
    streams_.push_back({});
  }
  StreamState& stream = streams_[work.stream];
  const uint32_t taken = place.value_or(stream.next_place);
  stream.next_place = taken + 1;
  ++stream.works;
  Define(label, Kind::kWork, static_cast<uint32_t>(works_.size()));
  works_.push_back({.work = work, .place = taken, .line = label.line});
  works_.back().work.shape = shapes_.Insert(shape);
}

Result<Graph> TextGraph::Build() && {
  RETURN_IF_ERROR(SortDefinitions());
  RETURN_IF_ERROR(BuildCalls());
  RETURN_IF_ERROR(BuildWorks());
  RETURN_IF_ERROR(BuildWaits());
  RETURN_IF_ERROR(BuildCollectives());
  return std::move(builder_).Build();
}

std::string_view TextGraph::KindName(Kind kind) {
  switch (kind) {
    case Kind::kOp:
      return "an op";
    case Kind::kCall:
      return "a call";
    case Kind::kWork:
      return "a work";
  }
  return "";
}

void TextGraph::Define(TextLabel label, Kind kind, uint32_t index) {
  if (!label.name.empty()) {
    definitions_.push_back({.label = label, .kind = kind, .index = index});
  }
}

Status TextGraph::SortDefinitions() {
  // Sorting, unlike hashing, has no bad case that a file could be made for.
  std::ranges::stable_sort(definitions_, {}, [](const Definition& definition) {
    return definition.label.name;
  });
  for (size_t i = 1; i < definitions_.size(); ++i) {
    const TextLabel& first = definitions_[i - 1].label;
    const TextLabel& second = definitions_[i].label;
    if (first.name == second.name) {
      return At(second.line,
                fmt::format("label {} stands for something else since line {}",
                            Shown(second), first.line));
    }
  }
  return {};
}

Result<const TextGraph::Definition*> TextGraph::Find(TextLabel label) const {
  const auto found = std::ranges::lower_bound(
      definitions_, label.name, {},
      [](const Definition& definition) { return definition.label.name; });
  if (found == definitions_.end() || found->label.name != label.name) {
    return At(label.line,
              fmt::format("nothing has the label {}", Shown(label)));
  }
  return &*found;
}

Result<uint32_t> TextGraph::Find(TextLabel label, Kind kind) const {
  ASSIGN_OR_RETURN(const Definition* const found, Find(label));
  if (found->kind != kind) {
    return At(label.line,
              fmt::format("label {} is {}; expected {}", Shown(label),
                          KindName(found->kind), KindName(kind)));
  }
  return found->index;
}

Status TextGraph::BuildCalls() {
  for (PendingCall& pending : calls_) {
    if (!pending.event.name.empty()) {
      ASSIGN_OR_RETURN(const uint32_t event, Find(pending.event, Kind::kCall));
      pending.call.event = CallId{event};
    }
    if (!pending.op.name.empty()) {
      ASSIGN_OR_RETURN(const uint32_t op, Find(pending.op, Kind::kOp));
      pending.call.op = OpId{op};
    }
    builder_.AddCall(pending.call);
  }
  return {};
}

Status TextGraph::BuildWorks() {
  // The places of all streams, one stream behind the other.
  constexpr uint32_t kFree = 0xFFFFFFFF;
  IdVector<StreamId, size_t> first(streams_.size(), 0);
  size_t count = 0;
  for (const StreamId id : streams_.ids()) {
    first[id] = count;
    count += streams_[id].works;
  }
  std::vector<uint32_t> places(count, kFree);
  for (uint32_t i = 0; i < works_.size(); ++i) {
    const PendingWork& pending = works_[i];
    const StreamId stream = pending.work.stream;
    if (pending.place >= streams_[stream].works) {
      return At(pending.line,
                fmt::format("place {} on a stream of {} works; places count "
                            "from 0",
                            pending.place, streams_[stream].works));
    }
    uint32_t& holder = places[first[stream] + pending.place];
    if (holder != kFree) {
      return At(pending.line,
                fmt::format("place {} on its stream is taken since line {}",
                            pending.place, works_[holder].line));
    }
    holder = i;
  }
  work_ids_.resize(works_.size());
  for (const uint32_t i : places) {
    const Work& work = works_[i].work;
    work_ids_[i] = builder_.AddWork(work, shapes_.shapes()[work.shape]);
  }
  return {};
}

Status TextGraph::BuildWaits() {
  for (const TextWait& wait : waits_) {
    ASSIGN_OR_RETURN(const uint32_t before, Find(wait.before, Kind::kWork));
    ASSIGN_OR_RETURN(const Definition* const after, Find(wait.after));
    if (after->kind == Kind::kWork) {
      builder_.AddStreamWait({.before = work_ids_[before],
                              .after = work_ids_[after->index],
                              .inferred = wait.inferred});
      continue;
    }
    ASSIGN_OR_RETURN(const uint32_t call, Find(wait.after, Kind::kCall));
    builder_.AddHostWait({.before = work_ids_[before],
                          .call = CallId{call},
                          .inferred = wait.inferred});
  }
  return {};
}

Status TextGraph::BuildCollectives() {
  for (const TextCollective& text : collectives_) {
    MatchedCollective collective{.kind = text.kind};
    for (const TextLabel label : text.works) {
      ASSIGN_OR_RETURN(const uint32_t work, Find(label, Kind::kWork));
      collective.works.push_back(work_ids_[work]);
    }
    builder_.AddCollective(std::move(collective));
  }
  return {};
}

}  // namespace stepcast::ir
