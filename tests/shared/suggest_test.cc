// Whatever is changed about a recorded step, no step is shorter than what
// is left for the busiest stream to do.
#include "whatif/suggest.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/workload.h"
#include "scenario/resolve.h"
#include "scenario/scenario.h"
#include "tests/shared/shared_traces.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/tries.h"

namespace stepcast::whatif {
namespace {

// Times are rounded to nanoseconds, and a step is a mean over repeats.
constexpr double kWithin = 0.001;
constexpr double kWithinUs = 5;

// A list of others than are tried, of all kinds.
constexpr const char* kMoreChanges[] = {
    "scale-op=gemm=0.5",   "scale-op=*=2",
    "scale-overhead=0",    "scale-overhead=launch=0",
    "drop-op=elementwise", "drop-op=gemm",
    "cuda-graphs=fwd",     "cuda-graphs=all",
    "overlap-comm",        "remove-sync",
    "remove-straggler",    "precision=fp16",
    "gpu=h100-sxm-80gb",   "fuse-elementwise",
    "pin-copies"};

struct SharedTrace {
  const char* folder = "";  // Of the shared data.
  const char* path = "";
};

void PrintTo(const SharedTrace& trace, std::ostream* out) {
  *out << trace.path;
}

constexpr SharedTrace kTraces[] = {
    {"traces", "dlrm_param_8xV100/kineto"},
    {"traces", "dlrm_torchrec_4xV100/run3"},
    {"traces", "dlrm_torchrec_4xV100/straggler_1s"},
    {"traces", "dlrm_hta_V100_rank1of2"},
    {"traces", "linear_param_2080Ti/kineto.json.gz"},
    {"traces", "resnet18_param_2080Ti/kineto.json.gz"},
    {"traces", "resnet50_kineto_V100"},
    {"traces", "resnet50_hta_ddp_A100"},
    {"traces", "small/hta_cuda_event_sync.json.gz"},
    {"traces", "small/hta_cuda_event_sync_multi_stream.json.gz"},
    {"traces", "small/hta_dlrm_sampled_rank0of128.json.gz"},
    {"traces", "small/hta_mi250_minitoy_train.json.gz"},
    {"traces", "small/hta_simple_add_kineto.json.gz"},
    {"traces", "small/hta_triton_example.json.gz"},
    {"traces", "small/tracelens_h100_bert_small_inference.json.gz"},
    {"traces", "small/tracelens_mi210_gpu_only.json.gz"},
    {"traces", "small/tracelens_mi300_bert_small_inference.json.gz"},
    {"more/traces", "torch_2026_cpu/two_ranks_gloo_2.14.1/mid"},
    {"more/traces", "torch_2026_cpu/two_ranks_gloo_2.14.1/small"},
    {"more/traces", "torch_2026_cpu/torch-2.14.1/torchrec/sparsedist"},
    {"more/traces", "pftrace/eager_2steps.215.json"},
    {"more/traces", "pftrace/graph_replay.215.json"},
    {"more/traces", "torch_2026_cpu/torch-2.14.1/ddp/plain"},
    {"more/traces", "torch_2026_cpu/edited_not_recorded/lanes"},
};

// Of the busiest stream, and of all.
struct DeviceTime {
  Duration busiest{};
  Duration all{};
};
DeviceTime DeviceTimeOf(const Case& subject) {
  const ir::GraphData& data = subject.result.graph->data();
  std::vector<double> streams(data.streams.size());
  double all = 0;
  for (const ir::ActivityId id : data.activities.ids()) {
    const EditedActivity& activity = subject.times.activities[id];
    const double time = activity.dropped ? 0 : activity.duration;
    streams[data.activities[id].stream.value] += time;
    all += time;
  }
  const double busiest =
      streams.empty() ? 0 : *std::ranges::max_element(streams);
  return {.busiest = Duration(static_cast<int64_t>(busiest)),
          .all = Duration(static_cast<int64_t>(all))};
}

class SharedSuggestTest : public ::testing::TestWithParam<SharedTrace> {
 protected:
  void SetUp() override {
    view::SkipWithoutTraces();
    const std::filesystem::path path =
        std::filesystem::path(STEPCAST_SHARED_DATA) / GetParam().folder /
        GetParam().path;
    if (!std::filesystem::exists(path)) {
      GTEST_SKIP() << "no " << path;
    }
    scenario::Scenario asked;
    asked.workload = {path.string()};
    auto loaded = api::LoadCase(asked, resolver_, {});
    ASSERT_TRUE(loaded) << loaded.error().message;
    before_ = *std::move(loaded);
  }

  void ExpectNoLessThanItsStreams(const std::string& text, const Case& after) {
    const double work = ToMicroseconds(DeviceTimeOf(after).busiest);
    EXPECT_GE(ToMicroseconds(after.result.step) + kWithinUs,
              work * (1 - kWithin))
        << text;
  }

  Case before_;
  scenario::Resolver resolver_;
};

TEST_P(SharedSuggestTest, NoChangeMakesAStepShorterThanItsBusiestStream) {
  ExpectNoLessThanItsStreams("as it is", before_);
  std::vector<std::string> texts(std::begin(kMoreChanges),
                                 std::end(kMoreChanges));
  for (const Try& item : ChangesToTry(before_, true)) {
    texts.push_back(item.change);
  }
  size_t applied = 0;
  for (const std::string& text : texts) {
    const auto change = ParseChange(text);
    ASSERT_TRUE(change) << change.error().message;
    const auto changed = Apply(before_, {&*change, 1}, resolver_);
    if (!changed) {
      continue;
    }
    ++applied;
    ExpectNoLessThanItsStreams(text, changed->after);
    if (change->kind->name == "remove-sync" ||
        change->kind->name == "cuda-graphs") {
      EXPECT_EQ(DeviceTimeOf(changed->after).all, DeviceTimeOf(before_).all)
          << text;
    }
  }
  // scale-overhead applies to every step.
  EXPECT_GE(applied, 2U);
}

TEST_P(SharedSuggestTest, EverySuggestionSaysWhatToDoAndPairsGainMore) {
  const Suggestions found = Suggest(before_, resolver_);
  for (const Suggestion& item : found.gains) {
    ExpectNoLessThanItsStreams(item.change.text, item.changed.after);
    EXPECT_NE(item.action.effort, Effort::kNone) << item.change.text;
    EXPECT_FALSE(item.action.text.empty()) << item.change.text;
  }
  for (const Combination& pair : found.pairs) {
    ExpectNoLessThanItsStreams(pair.changes[0].text, pair.changed.after);
    for (const Suggestion& item : found.gains) {
      if (item.change.text == pair.changes[0].text ||
          item.change.text == pair.changes[1].text) {
        EXPECT_LT(pair.changed.delta.step, item.changed.delta.step);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, SharedSuggestTest,
                         ::testing::ValuesIn(kTraces), [](const auto& test) {
                           std::string name = test.param.path;
                           name = name.substr(0, name.find(".json"));
                           for (char& c : name) {
                             c = std::isalnum(c) != 0 ? c : '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace stepcast::whatif
