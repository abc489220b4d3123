#include "plan/ledger.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stepcast::plan {
namespace {

// Sums of many parts come out unlike in the last digits when these are added
// in another order.
constexpr double kSameUs = 1e-6;
constexpr double kSameBytes = 1e-3;

// Fewer are what is left of sums that came to nothing.
constexpr double kLeastColumnsOfMaker = 0.5;

void AddTo(RankSums& sums, const ShardLoad& load, double sign) {
  sums.forward_us += sign * load.forward_us;
  sums.backward_us += sign * load.backward_us;
  sums.bytes += sign * load.bytes;
  sums.columns += sign * load.columns;
  sums.ids += sign * load.ids;
}

}  // namespace

bool IsBetter(const Cost& a, const Cost& b) {
  if (std::abs(a.over_bytes - b.over_bytes) > kSameBytes) {
    return a.over_bytes < b.over_bytes;
  }
  if (std::abs(a.us - b.us) > kSameUs) {
    return a.us < b.us;
  }
  return a.tie < b.tie - kSameUs;
}

Ledger::Ledger(const Problem& problem)
    : problem_(&problem),
      forward_us_(static_cast<size_t>(problem.ranks.count)),
      backward_us_(forward_us_.size()),
      bytes_(forward_us_.size()),
      columns_(forward_us_.size()),
      ids_(forward_us_.size()),
      parts_(forward_us_.size()),
      node_columns_(static_cast<size_t>(problem.ranks.nodes)) {}

Ledger::Ledger(const Problem& problem, const Choices& choices)
    : Ledger(problem) {
  for (size_t i = 0; i < choices.size(); ++i) {
    Add(i, choices[i]);
  }
}

void Ledger::PutOn(size_t rank, const ShardLoad& load, double sign) {
  forward_us_[rank] += sign * load.forward_us;
  backward_us_[rank] += sign * load.backward_us;
  bytes_[rank] += sign * load.bytes;
  ids_[rank] += sign * load.ids;
  parts_[rank] += sign;
  total_.forward_us += sign * load.forward_us;
  total_.backward_us += sign * load.backward_us;
  total_.bytes += sign * load.bytes;
}

void Ledger::PutPart(const Option& option, int place, double sign) {
  if (option.sharding != Sharding::kTableRowWise) {
    PutOn(static_cast<size_t>(place), option.load, sign);
    columns_[static_cast<size_t>(place)] += sign * option.load.columns;
    total_.columns += sign * option.load.columns;
    return;
  }
  node_columns_[static_cast<size_t>(place)] += sign * option.load.columns;
  const int per_node = problem_->ranks.per_node();
  for (int i = 0; i < per_node; ++i) {
    const int rank = place * per_node + i;
    PutOn(static_cast<size_t>(rank), option.load, sign);
  }
}

void Ledger::Put(size_t table, const Choice& choice, double sign) {
  const Table& item = problem_->tables[table];
  const Option& option = item.options[choice.option];
  if (!IsEverywhere(option.sharding)) {
    for (const int place : choice.places) {
      PutPart(option, place, sign);
    }
    if (option.sharding == Sharding::kTableRowWise) {
      node_split_ += static_cast<int>(sign);
    }
    return;
  }
  if (option.sharding == Sharding::kRowWise) {
    AddTo(split_load_, option.load, sign);
    split_ += static_cast<int>(sign);
    return;
  }
  AddTo(copied_, option.load, sign);
  copies_ += static_cast<int>(sign);
  copied_bytes_ += sign * kGradientBytes *
                   static_cast<double>(item.group.rows) *
                   static_cast<double>(item.group.dim);
}

void Ledger::Move(size_t table, const Choice& choice, size_t place, int to) {
  const Option& option = problem_->tables[table].options[choice.option];
  PutPart(option, choice.places[place], -1);
  PutPart(option, to, 1);
}

// What the busiest rank sends is no less than what any receives.
double Ledger::ExchangeUs(double columns, bool forward) const {
  const double vector =
      static_cast<double>(problem_->batch) * problem_->element_bytes;
  return problem_->exchanges.to_samples.Us(vector * columns *
                                           (problem_->ranks.count - 1)) +
         SumsUs(forward);
}

// Of tables whose rows are on several ranks.
double Ledger::SumsUs(bool forward) const {
  const Exchanges& exchanges = problem_->exchanges;
  const double vector =
      static_cast<double>(problem_->batch) * problem_->element_bytes;
  const double ranks = problem_->ranks.count;
  double us = 0;
  if (split_ > 0) {
    const double columns = split_load_.columns;
    us += forward ? exchanges.reduce_scatter.Us(vector * columns * ranks)
                  : exchanges.all_gather.Us(vector * columns);
  }
  if (node_split_ > 0) {
    const double node = *std::ranges::max_element(node_columns_);
    const double nodes = problem_->ranks.nodes;
    us += forward ? exchanges.node_reduce_scatter.Us(vector * node * ranks)
                  : exchanges.node_all_gather.Us(vector * node * nodes);
    us += exchanges.across_nodes.Us(vector * node * (nodes - 1));
  }
  return us;
}

// Sizes, lengths and ids of the next batch to where their tables are, each once
// for every kind of table; received by the rank with most.
double Ledger::IdsUs(double most_ids, double most_parts) const {
  constexpr double kSizesBytes = 24;  // Three numbers of 8 bytes.
  constexpr double kBytesPerId = 4;
  const CostCurve& curve = problem_->exchanges.to_samples;
  const double others = problem_->ranks.count - 1;
  const double lengths =
      static_cast<double>(problem_->batch) * kBytesPerId * others;
  double us = curve.Us(kSizesBytes * others) + curve.Us(lengths * most_parts) +
              curve.Us(kBytesPerId * others * most_ids);
  if (split_ > 0) {
    us += curve.Us(lengths * split_) +
          curve.Us(kBytesPerId * others * split_load_.ids);
  }
  if (node_split_ > 0) {  // Their ids are in most_ids.
    us += 2 * curve.Us(kSizesBytes * others);
  }
  return us;
}

HostTime Ledger::Host(int makers) const {
  const HostRates& host = problem_->host;
  HostTime time = host.base;
  const auto add = [&time](const HostTime& part, int times) {
    time.before_us += part.before_us * times;
    time.middle_us += part.middle_us * times;
    time.after_us += part.after_us * times;
  };
  add(host.makers.each, makers - 1);
  for (const auto& [kind, tables] :
       {std::pair(&host.replicated, copies_), std::pair(&host.split, split_),
        std::pair(&host.node_split, node_split_)}) {
    if (tables > 0) {
      add(kind->first, 1);
      add(kind->each, tables);
    }
  }
  return time;
}

// Forward, vectors are on their way while tables are looked up that the rank
// has parts or copies of as all others have:
//
//   lookups  | own tables | parts | copies |
//   wire                  | vectors   | sums of parts | sizes of the next batch
//
// Then its ids are on their way while the top MLP runs. Backward the other way
// round, and gradients of copies are summed after:
//
//   lookups  | copies |                             | parts | own tables |
//   wire     | sums of parts | vectors | copies     |
//
// The host waits for sizes twice, before the lookups and after them, and gets
// ahead while gradients are on their way, into the next step: in between the
// device may wait for it.
Cost Ledger::Evaluate() const {
  const double ranks = problem_->ranks.count;
  double forward = (total_.forward_us + rest_.forward_us) / ranks;
  double backward = (total_.backward_us + rest_.backward_us) / ranks;
  double columns = (total_.columns + rest_.columns) / ranks;
  const double room = problem_->capacity_bytes - bytes_everywhere();
  double squares = 0;
  double over = 0;
  double ids = 0;
  double parts = 0;
  int makers = 0;
  for (size_t rank = 0; rank < forward_us_.size(); ++rank) {
    forward = std::max(forward, forward_us_[rank]);
    backward = std::max(backward, backward_us_[rank]);
    columns = std::max(columns, columns_[rank]);
    ids = std::max(ids, ids_[rank]);
    parts = std::max(parts, parts_[rank]);
    makers += columns_[rank] > kLeastColumnsOfMaker ? 1 : 0;
    const double too_much = std::max(0.0, bytes_[rank] - room);
    over += too_much * too_much;
    const double load = forward_us_[rank] + backward_us_[rank];
    squares += load * load;
  }
  over = std::max(std::sqrt(over), (total_.bytes + rest_.bytes - ranks * room) /
                                       std::sqrt(ranks));

  const double sums = SumsUs(true);
  const double vectors = ExchangeUs(columns, true) - sums;
  const double forward_rest =
      std::max(std::max(vectors, split_load_.forward_us) + sums,
               split_load_.forward_us + copied_.forward_us);
  double backward_rest =
      std::max(ExchangeUs(columns, false), copied_.backward_us);
  if (copies_ > 0) {
    backward_rest += problem_->exchanges.all_reduce.Us(copied_bytes_);
  }
  const double middle =
      std::max(problem_->other_us, ranks > 1 ? IdsUs(ids, parts) : 0.0);
  const HostTime host = Host(makers);
  const double first = forward + forward_rest;
  const double last =
      backward_rest + split_load_.backward_us + backward + problem_->lead_us;
  // Of equal times, loads of the other ranks decide a little.
  constexpr double kOthers = 1e-3;
  return {
      .over_bytes = over,
      .us = std::max(first, host.before_us) + std::max(middle, host.middle_us) +
            std::max(last, host.after_us),
      .tie = first + middle + last + kOthers * std::sqrt(squares / ranks),
      .host_us = host.total_us(),
      .forward_us = forward + split_load_.forward_us + copied_.forward_us,
      .backward_us = backward + split_load_.backward_us + copied_.backward_us,
      .forward_exchange_us =
          forward_rest - split_load_.forward_us - copied_.forward_us,
      .backward_exchange_us =
          backward_rest - copied_.backward_us + middle - problem_->other_us};
}

RankSums Ledger::SumsOf(int rank) const {
  const auto at = static_cast<size_t>(rank);
  return {
      .forward_us =
          forward_us_[at] + split_load_.forward_us + copied_.forward_us,
      .backward_us =
          backward_us_[at] + split_load_.backward_us + copied_.backward_us,
      .bytes = bytes_[at] + bytes_everywhere(),
      .columns = columns_[at],
      .ids = ids_[at] + split_load_.ids + copied_.ids / problem_->ranks.count};
}

}  // namespace stepcast::plan
