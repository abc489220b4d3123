#include "learn/judge/step_words.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/overheads/overhead_table.h"
#include "engine/run/cpu_runtime.h"
#include "hw/device.h"
#include "hw/node.h"
#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"

namespace stepcast::learn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kRules = R"(
[[implementation]]
words = ["Mine"]
when = { notes = "*first release*" }
impl = "pytorch-bags"

[[implementation]]
words = ["Mine", "Mine *"]
impl = "pytorch"
overheads = "shared"

[[implementation]]
words = ["Server"]
skip = "servers are not modelled"

[[model]]
words = ["*"]
workload = "dlrm_default"

[[gpu]]
words = ["V100"]
gpu = "v100-sxm-16gb"

[[precision]]
words = ["FP32"]
precision = "fp32"

[[cuda_graphs]]
words = ["off"]
cuda_graphs = "off"

[[embedding_placement]]
words = ["replicated"]
parallel = "data"

[[embedding_placement]]
words = ["HBM"]
parallel = "model"
)";

StepRow Row() {
  StepRow row;
  row.id = "a";
  row.num_gpus = 1;
  row.batch_per_gpu = 512;
  row.step_time_ms = 5;
  row.words = {{"implementation", "Mine"},
               {"mode", "train"},
               {"model", "DLRM"},
               {"gpu", "V100"},
               {"precision", "FP32"},
               {"cuda_graphs", "off"},
               {"embedding_placement", "HBM"}};
  return row;
}

StepWords Words() {
  auto words = StepWords::Parse(kRules, "words.toml");
  EXPECT_TRUE(words) << words.error().message;
  return *std::move(words);
}

StepMeaning MeaningOf(const StepRow& row, const StepWords& words = Words()) {
  scenario::Resolver resolver;
  StepMeaning meaning = words.MeaningOf(row, resolver);
  meaning.job.request.machine.kernels = nullptr;  // Gone with the resolver.
  meaning.job.request.machine.collectives = nullptr;
  return meaning;
}

std::string WhyNot(const StepRow& row) {
  return MeaningOf(row).why_not;
}

TEST(StepWordsTest, TheFirstRuleThatFitsCounts) {
  StepRow row = Row();
  const StepMeaning meaning = MeaningOf(row);
  EXPECT_EQ(meaning.why_not, "");
  EXPECT_EQ(meaning.job.request.settings.impl->name, "pytorch");
  EXPECT_EQ(meaning.job.request.overheads.name, "shared");
  EXPECT_EQ(meaning.job.request.model.name, "dlrm_default");
  EXPECT_EQ(meaning.job.request.settings.batch, 512);
  row.words["notes"] = "the first release, line 3";
  EXPECT_EQ(MeaningOf(row).job.request.settings.impl->name, "pytorch-bags");
}

TEST(StepWordsTest, SaysWhyARowIsNotPredicted) {
  StepRow row = Row();
  row.words["implementation"] = "Server";
  EXPECT_EQ(WhyNot(row), "servers are not modelled");
  row.words["implementation"] = "Another";
  EXPECT_EQ(WhyNot(row), "implementation 'Another' has no rule");
  row = Row();
  row.num_gpus = 0;
  EXPECT_THAT(WhyNot(row), HasSubstr("runs on CPUs alone"));
}

TEST(StepWordsTest, RowsWithoutGpusAreOfServers) {
  const std::string rules = std::string(kRules) +
                            "[[cpu]]\nwords = [\"EPYC\"]\n"
                            "server = \"2s-epyc-7742\"\n";
  const auto words = StepWords::Parse(rules, "words.toml");
  ASSERT_TRUE(words) << words.error().message;
  StepRow row = Row();
  row.words["cpu"] = "EPYC";
  EXPECT_EQ(MeaningOf(row, *words).job.request.machine.runtime, nullptr);
  row.num_gpus = 0;
  row.num_nodes = 2;
  row.words["gpu"] = "";
  const StepMeaning meaning = MeaningOf(row, *words);
  EXPECT_EQ(meaning.why_not, "");
  EXPECT_EQ(meaning.job.request.machine.gpu, "2s-epyc-7742");
  EXPECT_EQ(meaning.job.request.machine.nodes, 2);
  row.words["cpu"] = "Xeon";
  EXPECT_EQ(MeaningOf(row, *words).why_not, "cpu 'Xeon' has no rule");
}

TEST(StepWordsTest, ReplicasThatAnswerAreLikeOne) {
  StepRow row = Row();
  row.num_gpus = 8;
  row.words["embedding_placement"] = "replicated";
  const auto gpus = [&] { return MeaningOf(row).job.request.machine.ranks; };
  EXPECT_EQ(WhyNot(row), "");
  EXPECT_EQ(gpus(), 8);
  row.words["mode"] = "infer";
  EXPECT_EQ(WhyNot(row), "");
  EXPECT_EQ(gpus(), 1);
  row.words["embedding_placement"] = "HBM";
  EXPECT_EQ(gpus(), 8);
}

TEST(StepWordsTest, SaysWhereARuleIsWrong) {
  const auto error = [](const char* text) {
    const auto words = StepWords::Parse(text, "words.toml");
    return words ? std::string() : words.error().message;
  };
  EXPECT_THAT(error("[[gpu]]\nwords = [\"V100\"]\ngpuz = \"x\"\n"),
              HasSubstr("words.toml:3: "));
  EXPECT_THAT(error("[[gpu]]\ngpu = \"x\"\n"), HasSubstr("words"));
  EXPECT_THAT(error("gpu = 3\n"), HasSubstr("[[gpu]]"));
}

// What a rule names by a key exists.
void ExpectIsThere(const std::string& key, const std::string& value) {
  if (key == "workload") {
    EXPECT_TRUE(model::IsModelName(value)) << value;
  } else if (key == "impl") {
    EXPECT_THAT(model::ImplementationNames(), Contains(value));
  } else if (key == "overheads") {
    EXPECT_THAT(cost::OverheadNames(), Contains(value));
  } else if (key == "gpu") {
    EXPECT_TRUE(hw::FindDevice(value)) << value;
  } else if (key == "server") {
    EXPECT_TRUE(hw::FindServer(value)) << value;
  } else if (key == "runtime") {
    EXPECT_TRUE(engine::FindCpuRuntime(value)) << value;
  } else if (key == "precision") {
    EXPECT_TRUE(model::ParsePrecision(value)) << value;
  } else if (key == "cuda_graphs") {
    EXPECT_TRUE(model::ParseCudaGraphs(value)) << value;
  }
}

TEST(StepWordsTest, BuiltInRulesNameWhatIsThere) {
  const auto words = StepWords::Load();
  ASSERT_TRUE(words) << words.error().message;
  std::set<std::string> seen;
  for (const StepWords::Column& column : words->columns()) {
    EXPECT_FALSE(column.rules.empty()) << column.name;
    for (const StepWords::Rule& rule : column.rules) {
      for (const auto& [key, value] : rule.values) {
        seen.insert(key);
        ExpectIsThere(key, value);
      }
    }
  }
  EXPECT_THAT(seen, Contains("skip"));
}

}  // namespace
}  // namespace stepcast::learn
