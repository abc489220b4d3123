#include "ingest/launchers.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::ingest {
namespace {

using ::testing::ElementsAre;

struct NamedNode {
  std::string_view name;
  uint32_t parent = ExecutionNode::kNoParent;
  NodeKind kind = NodeKind::kOp;
};

// The names of the ops that launch, in order.
std::vector<std::string> Launchers(const std::vector<NamedNode>& nodes) {
  ExecutionTrace trace;
  for (const NamedNode& node : nodes) {
    ExecutionNode& added = trace.nodes.emplace_back();
    added.name = trace.strings.Intern(node.name);
    added.kind = node.kind;
    added.parent = node.parent;
  }
  const auto rules = Rules::Load();
  EXPECT_TRUE(rules);
  const std::vector<bool> launches = FindLaunchers(trace, *rules);
  std::vector<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i]) {
      names.emplace_back(nodes[i].name);
    }
  }
  return names;
}

TEST(LaunchersTest, TheInnermostOpOfAFamilyDoesTheWork) {
  EXPECT_THAT(Launchers({{"aten::linear"},
                         {"aten::t", 0},
                         {"aten::addmm", 0},
                         {"aten::conv2d"},
                         {"aten::convolution", 3},
                         {"aten::cudnn_convolution", 4}}),
              ElementsAre("aten::addmm", "aten::cudnn_convolution"));
}

TEST(LaunchersTest, AllocationsInsideDoNoWork) {
  EXPECT_THAT(
      Launchers(
          {{"aten::cudnn_batch_norm"}, {"aten::empty", 0}, {"aten::view", 0}}),
      ElementsAre("aten::cudnn_batch_norm"));
}

TEST(LaunchersTest, AnOpCanWorkBesideTheOpsInside) {
  // The indices are copied to the device, then used.
  EXPECT_THAT(Launchers({{"aten::index"}, {"aten::to", 0}, {"aten::copy_", 1}}),
              ElementsAre("aten::index", "aten::copy_"));
}

TEST(LaunchersTest, AListFallsBackToOneTensorAfterTheOther) {
  EXPECT_THAT(Launchers({{"aten::_foreach_add_"},
                         {"aten::result_type", 0},
                         {"aten::_foreach_mul_"},
                         {"aten::mul_", 2}}),
              ElementsAre("aten::_foreach_add_", "aten::mul_"));
}

TEST(LaunchersTest, ACollectiveIsNotItsAnnotation) {
  EXPECT_THAT(Launchers({{"c10d::allreduce_"},
                         {"record_param_comms", 0},
                         {"nccl:all_reduce", 1, NodeKind::kAnnotation}}),
              ElementsAre("record_param_comms"));
}

TEST(LaunchersTest, AnUnknownOpWorksIfNothingInsideDoes) {
  EXPECT_THAT(Launchers({{"my::leaf"},
                         {"my::outer"},
                         {"## range ##", 1, NodeKind::kAnnotation},
                         {"aten::add", 2}}),
              ElementsAre("my::leaf", "aten::add"));
}

TEST(LaunchersTest, OnlyOpsLaunch) {
  EXPECT_THAT(
      Launchers({{"aten::add", ExecutionNode::kNoParent, NodeKind::kRoot},
                 {"aten::add", 0, NodeKind::kDevice}}),
      ElementsAre());
}

}  // namespace
}  // namespace stepcast::ingest
