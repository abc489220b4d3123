#include "whatif/tries.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "hw/device.h"
#include "ir/names.h"
#include "ir/shape.h"
#include "scenario/find_machine.h"
#include "whatif/change.h"
#include "whatif/places.h"

namespace stepcast::whatif {
namespace {

// Families whose kernels are tried at twice the speed.
constexpr size_t kFamilies = 3;
// Ops that wait, each tried alone.
constexpr size_t kMostSyncs = 3;
// A wait shorter than this share of the step cannot be a gain (suggest.cc).
constexpr int64_t kLeastWait = 1000;

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The families that the slowest rank's device spends most on.
std::vector<std::string> LongestFamilies(const Case& subject) {
  const engine::StepResult& prediction = subject.result;
  if (prediction.accounts.empty()) {
    return {};
  }
  const auto& kernels = prediction.accounts[prediction.slowest()].kernels;
  std::vector<std::pair<Duration, std::string>> times;
  for (const ir::KernelShape& shape : subject.result.graph->data().shapes) {
    const std::string name(ir::FamilyName(shape));
    const Duration time = kernels[shape.index()];
    if (time > Duration{} &&
        std::ranges::find(times, std::pair(time, name)) == times.end()) {
      times.emplace_back(time, name);
    }
  }
  std::ranges::sort(times, std::greater<>());
  std::vector<std::string> names;
  for (size_t i = 0; i < times.size() && i < kFamilies; ++i) {
    names.push_back(times[i].second);
  }
  return names;
}

// Of one maker, and of a later generation; AMD's, which are of one, have
// memory and matrix units that are both faster.
bool IsNewer(std::string_view gpu, const Case& subject) {
  const auto& now = subject.machine.device;
  if (!now || !subject.machine.has_gpus()) {
    return false;
  }
  const auto found = scenario::FindGpu(gpu);
  if (!found) {
    return false;
  }
  const hw::Device& other = **found;
  const bool amd = now->generation == hw::Generation::kCdna;
  if (amd != (other.generation == hw::Generation::kCdna)) {
    return false;
  }
  return amd ? other.dram_gbs > now->dram_gbs &&
                   other.fp16_tflops > now->fp16_tflops
             : other.generation > now->generation &&
                   now->generation != hw::Generation::kCpu;
}

bool HasCollective(std::string_view name, const Case& subject) {
  return std::ranges::any_of(
      subject.result.graph->data().shapes, [&](const ir::KernelShape& shape) {
        const auto* part = std::get_if<ir::Collective>(&shape);
        return part != nullptr && ir::Name(part->kind) == name;
      });
}

bool MakesSense(const ChangeKind& kind, std::string_view value,
                const Case& subject) {
  if (kind.name == "gpu") {
    return IsNewer(value, subject);
  }
  if (kind.name == "overlap-comm" && ir::FromName<ir::CollectiveKind>(value)) {
    return HasCollective(value, subject);
  }
  return true;
}

// TorchRec's pipeline reads the sizes of the next batch's exchange on the host:
// no training script can help it.
constexpr std::string_view kPipelineWaits[] = {"start_sparse_data_dist",
                                               "wait_sparse_data_dist"};

std::string WhyNot(const Place& place) {
  const bool own =
      std::ranges::any_of(kPipelineWaits, [&](std::string_view name) {
        return place.path.find(name) != std::string::npos;
      });
  return own ? fmt::format(
                   "{}: TorchRec's pipeline waits there for the sizes "
                   "of what it exchanges",
                   place.path)
             : "";
}

// One for each op that waits; for all together where there are several and all
// can be helped.
void AddSyncs(const Case& subject, std::vector<Try>& tries) {
  const std::vector<Place> places = PlacesThatWait(subject);
  bool all = places.size() != 1;
  for (size_t i = 0; i < places.size() && i < kMostSyncs; ++i) {
    if (places.size() == 1 ||
        places[i].time * kLeastWait > subject.result.step) {
      tries.push_back({.change = fmt::format("remove-sync={}", places[i].name),
                       .why_not = WhyNot(places[i])});
      all = all && tries.back().why_not.empty();
    }
  }
  if (all) {
    tries.push_back({.change = "remove-sync"});
  }
}

}  // namespace

std::vector<Try> ChangesToTry(const Case& subject, bool hypothetical) {
  std::vector<Try> tries;
  for (const ChangeKind& kind : Changes()) {
    // Changes that only apply to models are not advice for a recorded step.
    if ((!subject.job && kind.edit == nullptr) ||
        (kind.hypothetical && !hypothetical)) {
      continue;
    }
    for (const std::string& value : Words(kind.tries)) {
      if (!MakesSense(kind, value, subject)) {
        continue;
      }
      tries.push_back({.change = value == "-"
                                     ? std::string(kind.name)
                                     : fmt::format("{}={}", kind.name, value)});
    }
  }
  AddSyncs(subject, tries);
  if (!subject.job) {
    const std::vector<Place> loaders = PlacesThatLoad(subject);
    if (!loaders.empty()) {
      tries.push_back({.change = fmt::format("drop-op={}", loaders[0].name),
                       .bound = true});
    }
  }
  if (hypothetical) {
    for (const std::string& family : LongestFamilies(subject)) {
      tries.push_back({.change = fmt::format("scale-op={}=0.5", family)});
    }
  }
  return tries;
}

}  // namespace stepcast::whatif
