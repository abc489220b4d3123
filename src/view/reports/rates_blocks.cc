#include "view/reports/rates_blocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "engine/explain/path_parts.h"
#include "ir/names.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

using engine::RateMark;
using engine::RateSum;

// Rows that text shows.
constexpr size_t kRateRows = 12;
// Kernels by op and shape on pages and for programs, the longest: those
// left take less than a thousandth of a step each.
constexpr size_t kMostShapes = 50;
// Of an op, and of a shape: both in a row with numbers.
constexpr size_t kOpWidth = 40;
constexpr size_t kShapeWidth = 64;
// Ranks that the matrix of a page has room for.
constexpr size_t kMostPeers = 16;
// Rates of less than this share of the kernels' time say little of a step.
constexpr double kLeastSized = 0.1;
// From this share of products on, by time, their sizes count as all known.
constexpr double kAllSizes = 0.95;
// Streams of a chart, those with most launches: as many as colours.
constexpr size_t kMostQueues = 6;

// A number that may not be known.
Value Known(double number) {
  return std::isfinite(number) && number > 0 ? Value(number) : Value();
}
Value KnownShare(double share) {
  return std::isfinite(share) && share > 0 ? Value(Share{share}) : Value();
}
Bytes Whole(double bytes) {
  return {std::llround(bytes)};
}
Value KnownBytes(double bytes) {
  return bytes > 0 ? Value(Whole(bytes)) : Value();
}

std::string_view MarkText(RateMark mark) {
  switch (mark) {
    case RateMark::kInL2:
      return "in L2";
    case RateMark::kFewerProducts:
      return "fewer products";
    case RateMark::kAbovePeak:
      return "above peak";
    case RateMark::kNone:
      break;
  }
  return "";
}

// What launched kernels: an op, or a kernel that none did, without its types.
std::string OpText(const ir::Graph& graph, StringId op) {
  const std::string_view name = graph.text(op);
  return name.find('(') == std::string_view::npos
             ? std::string(name)
             : engine::ShortActivityName(name);
}

Value MarkValue(RateMark mark) {
  return mark == RateMark::kNone ? Value() : Value(std::string(MarkText(mark)));
}

// For pages and programs: where text has no room.
void AddBeyondText(Table table, Doc& doc) {
  table.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(table));
}

// What all tables of rates have in common.
std::vector<Column> RateColumns(RateTimes times) {
  const bool predicted = times == RateTimes::kPredicted;
  return {{.key = "times", .label = "times"},
          {.key = "time_us", .label = predicted ? "predicted" : "time"},
          {.key = "recorded_us", .label = predicted ? "recorded" : ""},
          {.key = "sized_share", .label = "sizes known"},
          {.key = predicted ? "" : "model_us"},
          {.key = "flop"},
          {.key = "bytes"},
          {.key = "tflops", .label = "TFLOP/s", .decimals = 2},
          {.key = "gbs", .label = "GB/s", .decimals = 1},
          {.key = "flop_per_byte", .label = "FLOP/byte", .decimals = 1},
          {.key = "roofline_share", .label = "of roofline"},
          {.key = predicted ? "" : "model_share",
           .label = predicted ? "" : "of usual"},
          {.key = "mark", .label = "mark"}};
}

void AppendRates(const RateSum& sum, RateMark mark, bool same_gpu,
                 std::vector<Value>& row) {
  const auto of_gpu = [&](Value value) {
    return same_gpu && sum.sized > 0 ? std::move(value) : Value();
  };
  const std::vector<Value> cells = {
      sum.count,
      FromMicroseconds(sum.time_us),
      sum.recorded_us > 0 ? Value(FromMicroseconds(sum.recorded_us)) : Value(),
      sum.time_us > 0 ? Value(Share{sum.sized_us / sum.time_us}) : Value(),
      of_gpu(FromMicroseconds(sum.model_us)),
      Known(std::round(sum.flops)),
      KnownBytes(sum.bytes),
      Known(sum.tflops()),
      Known(sum.gbs()),
      Known(sum.flops_per_byte()),
      of_gpu(KnownShare(sum.roofline_share())),
      of_gpu(KnownShare(sum.model_share())),
      MarkValue(mark)};
  row.insert(row.end(), cells.begin(), cells.end());
}

// Of the kernels' time; 1 if there are none.
double SizedShare(const engine::KernelRates& kernels) {
  double all_us = 0;
  double sized_us = 0;
  for (const engine::FamilyRates& family : kernels.families) {
    all_us += family.sum.time_us;
    sized_us += family.sum.sized_us;
  }
  return all_us > 0 ? sized_us / all_us : 1;
}

std::string PercentOfOne(double share) {
  return std::isfinite(share) ? PercentText(share) : "-";
}

// "MFU 12.3 % of v100-sxm-16gb; kernels hide 45.6 % of collectives".
std::string RateCaption(const engine::StepResult& result,
                        const engine::KernelRates& kernels,
                        const engine::Traffic& traffic, const RatesOf& rates) {
  const size_t slowest = result.slowest();
  std::vector<std::string> parts;
  if (rates.with.same_gpu && slowest < kernels.ranks.size() &&
      kernels.ranks[slowest].flops > 0) {
    const engine::RankUse& use = kernels.ranks[slowest];
    parts.push_back(
        fmt::format("MFU{} {} of {}",
                    use.known_us < kAllSizes * use.all_us ? " at least" : "",
                    PercentOfOne(use.mfu()), rates.gpu));
  }
  if (slowest < traffic.ranks.size() &&
      traffic.ranks[slowest].collectives > Duration{}) {
    parts.push_back(
        fmt::format("kernels hide {} of collectives",
                    PercentOfOne(traffic.ranks[slowest].overlap())));
  }
  if (!rates.with.same_gpu) {
    parts.emplace_back("the recording names no GPU that is known");
  }
  return Join(parts, "; ");
}

Table FamilyRateTable(const engine::KernelRates& kernels, bool same_gpu,
                      RateTimes times) {
  Table table{
      .key = "rates.families",
      .title = "what kernels reach",
      .about =
          "Over all ranks, of what the step launched. FLOP and bytes are those "
          "of the sizes: 2 for a "
          "multiplication and its sum, each input and result moved once. Of "
          "roofline: the least time by the datasheet's peaks over the recorded "
          "time. Of usual: what the model of this GPU expects of such kernels "
          "over the recorded time; above 100 % is faster. Marks: in L2, "
          "where DRAM could not move as much; fewer products, where an "
          "algorithm as Winograd's needs less FLOP; above peak, where clocks, "
          "sizes or "
          "units must be other than they seem.",
      .columns = {{.key = "family", .label = "family"}},
      .limit = kRateRows};
  const std::vector<Column> columns = RateColumns(times);
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const engine::FamilyRates& family : kernels.families) {
    std::vector<Value> row = {std::string(family.family)};
    AppendRates(family.sum, family.mark, same_gpu, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table ShapeRateTable(const ir::Graph& graph, const engine::KernelRates& kernels,
                     bool same_gpu, RateTimes times) {
  Table table{
      .key = "rates.kernels",
      .title = "what kernels reach, by op and shape",
      .about = "Over all ranks, of what the step launched, the longest.",
      .columns = {{.key = "op", .label = "op", .width = kOpWidth},
                  {.key = "shape", .label = "shape", .width = kShapeWidth}}};
  const std::vector<Column> columns = RateColumns(times);
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (size_t i = 0; i < kernels.kernels.size() && i < kMostShapes; ++i) {
    const engine::ShapeRates& one = kernels.kernels[i];
    std::vector<Value> row = {OpText(graph, one.op),
                              ir::ShapeText(graph.data().shapes[one.shape])};
    AppendRates(one.sum, one.mark, same_gpu, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table SlowTable(const ir::Graph& graph, const engine::KernelRates& kernels) {
  Table table{
      .key = "rates.slow",
      .title = "slower than usual",
      .about =
          "Kernels that took more than 1.5 times what nine of ten of their "
          "shape take on this GPU by its model, and 5 us more than usual. "
          "GPU shared: how much of their time something else ran on the "
          "GPU, which shares its units and memory.",
      .columns = {{.key = "op", .label = "op", .width = kOpWidth},
                  {.key = "shape", .label = "shape", .width = kShapeWidth},
                  {.key = "times", .label = "times"},
                  {.key = "of", .label = "of"},
                  {.key = "mean_us", .label = "mean", .unit = "us"},
                  {.key = "longest_us"},
                  {.key = "usual_us", .label = "usual", .unit = "us"},
                  {.key = "usual_p90_us", .label = "p90", .unit = "us"},
                  {.key = "lost_us", .label = "lost"},
                  {.key = "gpu_shared", .label = "GPU shared"},
                  {.key = "ranks"}},
      .limit = kRateRows};
  for (const engine::SlowKernels& slow : kernels.slow) {
    table.rows.push_back(
        {OpText(graph, slow.op), ir::ShapeText(graph.data().shapes[slow.shape]),
         slow.count, slow.all,
         FromMicroseconds(slow.time_us / static_cast<double>(slow.count)),
         FromMicroseconds(slow.longest_us), FromMicroseconds(slow.usual_us),
         FromMicroseconds(slow.usual_p90_us), FromMicroseconds(slow.lost_us()),
         Share{slow.shared_us / slow.time_us}, slow.ranks});
  }
  return table;
}

Table CopyTable(const engine::KernelRates& kernels, bool same_gpu) {
  Table table{.key = "rates.copies",
              .title = "what copies reach",
              .about = "Over all ranks, by direction and memory of the host.",
              .columns = {{.key = "kind", .label = "direction"},
                          {.key = "memory", .label = "host memory"},
                          {.key = "times", .label = "times"},
                          {.key = "bytes"},
                          {.label = "bytes"},
                          {.key = "time_us", .label = "time"},
                          {.key = "gbs", .label = "GB/s", .decimals = 2},
                          {.key = "roofline_share", .label = "of the link"},
                          {.key = "model_share", .label = "of usual"}}};
  for (const engine::CopyRates& copies : kernels.copies) {
    const bool host = copies.kind == ir::CopyKind::kHostToDevice ||
                      copies.kind == ir::CopyKind::kDeviceToHost;
    const auto of_time = [&](double us) {
      return same_gpu ? KnownShare(us / copies.time_us) : Value();
    };
    table.rows.push_back(
        {std::string(ir::Name(copies.kind)),
         !host           ? Value()
         : copies.pinned ? Value(std::string("pinned"))
                         : Value(std::string("pageable")),
         copies.count, Whole(copies.bytes), BytesText(Whole(copies.bytes)),
         FromMicroseconds(copies.time_us), Known(copies.gbs()),
         of_time(copies.roofline_us), of_time(copies.model_us)});
  }
  return table;
}

Table SizeTable(const engine::Traffic& traffic) {
  Table table{
      .key = "rates.collectives",
      .title = "what collectives reach",
      .about =
          "By kind, ranks and buffer, as nccl-tests counts: the algorithm's "
          "rate is the buffer over the time, the bus rate what each link "
          "carries then. Own time begins when all recorded ranks are there; "
          "where ranks are missing it has waiting for them.",
      .columns = {
          {.key = "kind", .label = "kind"},
          {.key = "ranks", .label = "ranks"},
          {.key = "bytes"},
          {.label = "buffer"},
          {.key = "times", .label = "times"},
          {.key = "own_us", .label = "own, sum"},
          {.label = "shortest", .unit = "us"},
          {.key = "algorithm_gbs", .label = "algorithm GB/s", .decimals = 2},
          {.key = "bus_gbs", .label = "bus GB/s", .decimals = 2},
          {.key = "best_bus_gbs", .label = "best bus GB/s", .decimals = 2},
          {.key = "waits", .label = "with waiting"}}};
  for (const engine::CollectiveSizes& size : traffic.sizes) {
    table.rows.push_back({std::string(ir::Name(size.kind)), size.ranks,
                          Whole(size.bytes), BytesText(Whole(size.bytes)),
                          size.count, size.own, size.shortest,
                          Known(size.algorithm_gbs), Known(size.bus_gbs),
                          Known(size.best_bus_gbs), size.waits});
  }
  return table;
}

Table RankRateTable(const engine::KernelRates& kernels,
                    const engine::Traffic& traffic, bool same_gpu) {
  Table table{
      .key = "rates.ranks",
      .title = "how each rank did",
      .about =
          "MFU: the FLOP of products, convolutions and attention at the peaks "
          "of their data types, over the step. Hidden: a kernel ran while a "
          "collective did and did not wait. Last: so often the others waited "
          "for this rank.",
      .columns = {{.key = "rank", .label = "rank"},
                  {.key = "mfu", .label = "MFU"},
                  {.key = "flop"},
                  {.key = "sized_share", .label = "sizes known"},
                  {.key = "collectives_us", .label = "collectives"},
                  {.key = "hidden_us", .label = "hidden"},
                  {.key = "overlap", .label = "overlap"},
                  {.key = "matched"},
                  {.key = "last", .label = "last"},
                  {.key = "made_wait_us", .label = "made wait"},
                  {.key = "longest_wait_us", .label = "longest"}}};
  for (size_t i = 0; i < kernels.ranks.size() && i < traffic.ranks.size();
       ++i) {
    const engine::RankUse& use = kernels.ranks[i];
    const engine::RankTraffic& rank = traffic.ranks[i];
    const bool matched = rank.matched > 0;
    table.rows.push_back(
        {rank.rank, same_gpu ? KnownShare(use.mfu()) : Value(),
         Known(std::round(use.flops)), KnownShare(use.known_us / use.all_us),
         rank.collectives, rank.hidden,
         rank.collectives > Duration{} ? Value(Share{rank.overlap()}) : Value(),
         rank.matched, matched ? Value(rank.last) : Value(),
         matched ? Value(rank.made_wait) : Value(),
         matched ? Value(rank.longest_wait) : Value()});
  }
  return table;
}

void AddMatrix(const engine::AllToAllBytes& all, Doc& doc) {
  std::string about = "Sum over the step, a rank's part for itself counted in.";
  if (all.even > 0) {
    about +=
        fmt::format(" {} without sizes for each peer: as much to each of them.",
                    CountText(all.even, "all-to-all"));
  }
  if (all.left_out > 0) {
    about += fmt::format(
        " {} among ranks that are not all recorded: peers are places in their "
        "group.",
        CountText(all.left_out, "all-to-all"));
  }
  Table json{.key = "rates.all_to_all",
             .columns = {{.key = "rank"},
                         {.key = "to"},
                         {.key = "bytes"},
                         {.key = "sum_bytes"}},
             .readers = Readers::kPrograms};
  Table page{.title = "all-to-all: what each rank sends to each",
             .about = std::move(about),
             .columns = {{.label = "from"}, {.label = "sum"}},
             .readers = Readers::kPages};
  const bool fits = all.peers.size() <= kMostPeers;
  for (size_t peer = 0; fits && peer < all.peers.size(); ++peer) {
    page.columns.push_back({.label = fmt::format("to {}", all.peers[peer])});
  }
  for (size_t i = 0; i < all.ranks.size(); ++i) {
    std::vector<Value> row = {all.ranks[i], BytesText(Whole(all.sum[i]))};
    std::vector<int64_t> bytes;
    for (const double sent : all.sent[i]) {
      bytes.push_back(std::llround(sent));
      if (fits) {
        row.emplace_back(BytesText(Whole(sent)));
      }
    }
    json.rows.push_back(
        {all.ranks[i], all.peers, std::move(bytes), Whole(all.sum[i])});
    page.rows.push_back(std::move(row));
  }
  doc.blocks.emplace_back(std::move(json));
  doc.blocks.emplace_back(std::move(page));
}

std::string QueueName(const engine::StreamQueue& queue) {
  return fmt::format("rank {}, stream {}", queue.rank, queue.stream);
}

// The streams with most launches, over time.
html::Chart QueueChart(const std::vector<engine::StreamQueue>& queues,
                       const std::map<int64_t, Duration>& steps) {
  std::vector<const engine::StreamQueue*> most;
  most.reserve(queues.size());
  for (const engine::StreamQueue& queue : queues) {
    most.push_back(&queue);
  }
  std::ranges::stable_sort(most, std::ranges::greater(),
                           &engine::StreamQueue::launched);
  most.resize(std::min(most.size(), kMostQueues));
  html::Chart chart{.title = "launched and not started",
                    .x_title = "ms",
                    .y_title = "activities"};
  for (const engine::StreamQueue* queue : most) {
    html::ChartSeries series{.name = QueueName(*queue)};
    const double slice = ToMilliseconds(steps.at(queue->rank)) /
                         static_cast<double>(queue->waiting.size());
    for (size_t i = 0; i < queue->waiting.size(); ++i) {
      series.points.push_back({.x = slice * static_cast<double>(i),
                               .y = static_cast<double>(queue->waiting[i])});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

void AddQueues(const engine::StepResult& result, const engine::Traffic& traffic,
               Doc& doc) {
  Table table{
      .key = "rates.queues",
      .title = "queues of the streams",
      .about =
          "Launched and not started. Where none waits, the next kernel depends "
          "on the host being in time; where nothing runs either, the stream is "
          "empty.",
      .columns = {{.key = "rank", .label = "rank"},
                  {.key = "device"},
                  {.key = "stream", .label = "stream"},
                  {.key = "launched", .label = "launched"},
                  {.key = "mean_waiting", .label = "mean", .decimals = 1},
                  {.key = "most_waiting", .label = "most"},
                  {.key = "none_waiting", .label = "none waits"},
                  {.key = "empty", .label = "empty"}}};
  for (const engine::StreamQueue& queue : traffic.queues) {
    table.rows.push_back({queue.rank, queue.device, queue.stream,
                          queue.launched, queue.mean_waiting,
                          queue.most_waiting, Share{queue.none_waiting},
                          Share{queue.empty}});
  }
  AddBeyondText(std::move(table), doc);
  if (traffic.queues.empty()) {
    return;
  }
  std::map<int64_t, Duration> steps;
  for (const engine::RankAccount& account : result.accounts) {
    steps[account.rank] = account.step;
  }
  doc.blocks.emplace_back(
      Picture{.title = "queues of the streams",
              .drawing = MakeChart([queues = traffic.queues, steps] {
                return AnyChart(QueueChart(queues, steps));
              })});
}

}  // namespace

CollectiveCells CellsOf(const engine::CollectiveRate* rate) {
  if (rate == nullptr || !rate->known()) {
    return {};
  }
  return {.bytes = Whole(rate->bytes),
          .buffer = BytesText(Whole(rate->bytes)),
          .algorithm_gbs = Known(rate->algorithm_gbs()),
          .bus_gbs = Known(rate->bus_gbs())};
}

void AddRates(const engine::StepResult& result, const engine::Traffic& traffic,
              const RatesOf& rates, RateTimes times, Doc& doc) {
  const engine::KernelRates kernels =
      rates.with.models == nullptr ? engine::KernelRates{}
                                   : engine::RateKernels(result, rates.with);
  const bool same_gpu = rates.with.same_gpu;
  const double sized = SizedShare(kernels);
  doc.blocks.emplace_back(Facts{
      {{.key = "rates.gpu"}, same_gpu ? Value(rates.gpu) : Value(nullptr)}});
  Table families = FamilyRateTable(kernels, same_gpu, times);
  families.caption = RateCaption(result, kernels, traffic, rates);
  if (times == RateTimes::kPredicted) {
    families.title = "what kernels are expected to reach";
    AddBeyondText(std::move(families), doc);
  } else {
    families.readers =
        sized >= kLeastSized ? Readers::kAll : Readers::kPrograms;
    doc.blocks.emplace_back(std::move(families));
    if (sized < kLeastSized) {
      doc.blocks.emplace_back(Text{
          .title = "what kernels reach",
          .text = fmt::format("sizes are known of {} of the kernels' time; a "
                              "recording with record_shapes=True has TFLOP/s "
                              "and GB/s",
                              PercentText(sized))});
    }
    doc.blocks.emplace_back(SlowTable(*result.graph, kernels));
  }
  AddBeyondText(ShapeRateTable(*result.graph, kernels, same_gpu, times), doc);
  AddBeyondText(CopyTable(kernels, same_gpu), doc);
  AddBeyondText(SizeTable(traffic), doc);
  AddBeyondText(RankRateTable(kernels, traffic, same_gpu), doc);
  AddMatrix(traffic.all_to_all, doc);
  AddQueues(result, traffic, doc);
}

}  // namespace stepcast::view
