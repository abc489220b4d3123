// Lookups whose times were published: the authors' kernels, the rows of
// embedding benchmarks.
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "learn/measured/authors_kernels.h"
#include "learn/measured/kernel_rows.h"
#include "learn/measured/published_embedding.h"
#include "tests/accuracy/anchors.h"

namespace stepcast::accuracy {
namespace {

constexpr double kAnchorLimitPct = 10;
constexpr double kRowsLimitPct = 20;

struct LookupAnchor {
  std::string_view name;
  bool is_default = false;
  ir::Pass pass = ir::Pass::kForward;
  double time_us = 0;
};
// Means over ten steps of each of four traces.
constexpr std::array kAnchors = {
    LookupAnchor{.name = "8 tables of 1 M rows, 100 ids, forward",
                 .is_default = true,
                 .pass = ir::Pass::kForward,
                 .time_us = 521.8},
    LookupAnchor{.name = "8 tables of 1 M rows, 100 ids, backward",
                 .is_default = true,
                 .pass = ir::Pass::kBackward,
                 .time_us = 1276.7},
    LookupAnchor{.name = "26 tables of Criteo, forward (52 to 54)",
                 .is_default = false,
                 .pass = ir::Pass::kForward,
                 .time_us = 53},
    LookupAnchor{.name = "26 tables of Criteo, backward",
                 .is_default = false,
                 .pass = ir::Pass::kBackward,
                 .time_us = 109},
};

Result<Comparison> CompareAnchors(const Setting& setting) {
  ASSIGN_OR_RETURN(const cost::KernelModels models,
                   LoadModels(kAuthorsDevice, setting));
  std::vector<Sample> samples;
  for (const LookupAnchor& anchor : kAnchors) {
    const learn::AuthorsShapes shapes(
        anchor.is_default ? learn::AuthorsDefault() : learn::AuthorsMlPerf());
    const ir::KernelShape shape = shapes.Lookup(anchor.pass);
    ASSIGN_OR_RETURN(Sample sample, Price(std::string(anchor.name), {&shape, 1},
                                          anchor.time_us, models));
    samples.push_back(std::move(sample));
  }
  return Compare("lookups of Lin et al., V100", Metric::kWorst, kAnchorLimitPct,
                 std::move(samples));
}

Result<Comparison> CompareBagRows(const Setting& setting) {
  const std::array paths = {setting.data / "kernels" / "embedding_bag"};
  ASSIGN_OR_RETURN(const learn::KernelRows rows, learn::ReadKernelRows(paths));
  std::vector<Sample> samples;
  for (size_t gpu = 0; gpu < rows.gpus.size(); ++gpu) {
    ASSIGN_OR_RETURN(const cost::KernelModels models,
                     LoadModels(rows.gpus[gpu], setting));
    for (const learn::KernelRow& row : rows.rows) {
      if (row.gpu == gpu) {
        ASSIGN_OR_RETURN(Sample sample,
                         Price(fmt::format("{} {}", rows.gpus[gpu],
                                           ir::ShapeText(row.shape)),
                               {&row.shape, 1}, row.time_us, models));
        samples.push_back(std::move(sample));
      }
    }
  }
  return Compare("rows of kernels/embedding_bag", Metric::kMape, kRowsLimitPct,
                 std::move(samples));
}

std::string LeftOutText(const learn::PublishedLookups& lookups) {
  std::string text = "Left out:";
  for (const auto& [why, count] : lookups.left_out) {
    text += fmt::format(" {} rows ({});", count, why);
  }
  text.back() = '.';
  return text;
}

Result<Comparison> ComparePublished(const Setting& setting) {
  ASSIGN_OR_RETURN(
      const learn::CsvTable table,
      LoadTable(setting.data / "kernels" / "embedding" / "published.csv"));
  ASSIGN_OR_RETURN(const learn::PublishedLookups lookups,
                   learn::ReadPublishedLookups(table));
  std::map<std::string, cost::KernelModels> models;
  std::vector<Sample> samples;
  size_t elsewhere = 0;
  for (const learn::PublishedLookup& lookup : lookups.rows) {
    if (lookup.bag.place != ir::BagPlace::kDevice) {
      ++elsewhere;
      continue;
    }
    if (!models.contains(lookup.gpu)) {
      ASSIGN_OR_RETURN(cost::KernelModels loaded,
                       LoadModels(lookup.gpu, setting));
      models.emplace(lookup.gpu, std::move(loaded));
    }
    const ir::KernelShape shape = lookup.bag;
    ASSIGN_OR_RETURN(
        Sample sample,
        Price(lookup.id, {&shape, 1}, lookup.time_us, models.at(lookup.gpu)));
    samples.push_back(std::move(sample));
  }
  Comparison comparison =
      Compare("published lookups in HBM of named GPUs", Metric::kMape,
              kRowsLimitPct, std::move(samples));
  comparison.note = fmt::format("{} {} rows of tables in host memory.",
                                LeftOutText(lookups), elsewhere);
  return comparison;
}

}  // namespace

Result<std::vector<Comparison>> CompareEmbeddings(const Setting& setting) {
  std::vector<Comparison> comparisons;
  for (const auto compare :
       {CompareAnchors, CompareBagRows, ComparePublished}) {
    ASSIGN_OR_RETURN(Comparison comparison, compare(setting));
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace stepcast::accuracy
