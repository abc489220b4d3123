#include "trace/build/find_waits.h"

#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/link/link.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;

struct Event {
  std::string_view name;
  uint32_t thread = 0;
  int64_t sequence = -1;
  bool is_op = true;
};

// Thread 0 runs forward, thread 1 backward.
std::vector<uint32_t> Partners(const std::vector<Event>& events) {
  StringPool strings;
  std::vector<PhaseInput> inputs;
  std::vector<ir::Phase> phases;
  for (const Event& event : events) {
    inputs.push_back({.name = strings.Intern(event.name),
                      .thread = event.thread,
                      .sequence = event.sequence,
                      .is_op = event.is_op});
    phases.push_back(event.thread == 0 ? ir::Phase::kForward
                                       : ir::Phase::kBackward);
  }
  const auto rules = Rules::Load();
  EXPECT_TRUE(rules);
  return FindPartners(inputs, strings, phases, *rules);
}

TEST(PartnersTest, OpsWithOneNumberBelongTogether) {
  EXPECT_THAT(Partners({{"aten::conv2d", 0, 7},
                        {"aten::cudnn_convolution", 0, 7},
                        {"aten::relu", 0, 8},
                        {"autograd::engine::evaluate_function: Conv", 1, 7},
                        {"ConvolutionBackward0", 1, 7},
                        {"aten::convolution_backward", 1, -1}}),
              // Forward: the innermost op. Backward: the node, not the engine.
              ElementsAre(4, 4, kNoEvent, 1, 1, kNoEvent));
}

TEST(PartnersTest, ALookupHasTheNumberBeforeTheNextOp) {
  EXPECT_THAT(
      Partners(
          {{"aten::zero_", 0, 489},
           {"fbgemm::split_embedding_codegen_lookup_adagrad_function", 0, -1},
           {"aten::view", 0, 490},
           {"torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>", 1,
            489}}),
      ElementsAre(3, 3, kNoEvent, 1));
}

TEST(PartnersTest, ANumberedLookupKeepsItsOwn) {
  EXPECT_THAT(
      Partners(
          {{"fbgemm::split_embedding_codegen_lookup_adagrad_function", 0, 310},
           {"aten::view", 0, 310},
           {"torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>", 1,
            310}}),
      ElementsAre(2, 2, 0));
}

TEST(PartnersTest, TheNextOpIsOnTheSameThread) {
  EXPECT_THAT(
      Partners(
          {{"fbgemm::split_embedding_codegen_lookup_adagrad_function", 0, -1},
           {"torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>", 1, 5},
           {"aten::view", 1, 6}}),
      ElementsAre(kNoEvent, kNoEvent, kNoEvent));
}

TEST(PartnersTest, AnnotationsHaveNone) {
  EXPECT_THAT(Partners({{"## forward ##", 0, 3, false}, {"X", 1, 3}}),
              ElementsAre(kNoEvent, kNoEvent));
  EXPECT_THAT(Partners({}), ElementsAre());
}

}  // namespace
}  // namespace stepcast::trace
