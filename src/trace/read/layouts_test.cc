#include "trace/read/layouts.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/execution_trace_testing.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;

// A tensor by its id and its storage's.
std::string Tensor(int id, int storage) {
  return fmt::format("[{}, {}, 0, 12, 4, \"cpu\"]", id, storage);
}

// A node of schema 1.0.1; shapes and types are of no interest here.
std::string Node(int id, std::string_view name, std::string_view inputs,
                 std::string_view outputs) {
  return fmt::format(
      "{{\"name\": \"{}\", \"id\": {}, \"rf_id\": {}, \"parent\": 1, "
      "\"seq_id\": -1, \"scope\": 0, \"tid\": 1, \"fw_tid\": 0, "
      "\"fw_parent\": 0, \"op_schema\": \"\", \"inputs\": [{}], "
      "\"outputs\": [{}]}}",
      name, id, id, inputs, outputs);
}

std::vector<FactorLayout> LayoutsOf(std::string_view schema,
                                    std::string_view nodes) {
  return FindLayouts(TraceOfNodes(nodes, schema));
}

constexpr FactorLayout kPlain;
constexpr FactorLayout kFirst{.a_transposed = true};
constexpr FactorLayout kSecond{.b_transposed = true};

TEST(LayoutsTest, AViewOfAWeightIsTransposed) {
  const std::string view =
      Node(2, "aten::as_strided", Tensor(7, 8) + ", [512, 64], [1, 512], 0",
           Tensor(9, 8));
  EXPECT_THAT(
      LayoutsOf("1.0.1",
                view + "," +
                    Node(3, "aten::addmm",
                         Tensor(1, 2) + "," + Tensor(3, 4) + "," + Tensor(9, 8),
                         Tensor(5, 6)) +
                    "," +
                    Node(4, "aten::mm", Tensor(9, 8) + "," + Tensor(3, 4),
                         Tensor(5, 6)) +
                    "," +
                    // The weight itself, and another tensor of the same id.
                    Node(5, "aten::mm", Tensor(3, 4) + "," + Tensor(7, 8),
                         Tensor(5, 6)) +
                    "," +
                    Node(6, "aten::mm", Tensor(9, 2) + "," + Tensor(3, 4),
                         Tensor(5, 6))),
      ElementsAre(kPlain, kSecond, kFirst, kPlain, kPlain));
}

TEST(LayoutsTest, TheLastViewCounts) {
  EXPECT_THAT(
      LayoutsOf("1.0.1",
                Node(2, "aten::as_strided",
                     Tensor(7, 8) + ", [4, 3], [1, 4], 0", Tensor(9, 8)) +
                    "," +
                    Node(3, "aten::as_strided",
                         Tensor(7, 8) + ", [3, 4], [4, 1], 0", Tensor(9, 8)) +
                    "," +
                    Node(4, "aten::mm", Tensor(9, 8) + "," + Tensor(3, 4),
                         Tensor(5, 6))),
      ElementsAre(kPlain, kPlain, kPlain));
}

TEST(LayoutsTest, NewerTracesRecordStrides) {
  const std::string node =
      "{\"name\": \"aten::bmm\", \"id\": 2, \"ctrl_deps\": 1, \"inputs\": "
      "{\"values\": [[1, 2, 0, 12, 4, \"cpu\"], [3, 4, 0, 12, 4, \"cpu\"]], "
      "\"shapes\": [[2, 3, 4], [2, 4, 3]], \"types\": [\"Tensor(float)\", "
      "\"Tensor(float)\"], \"strides\": [[12, 4, 1], [12, 1, 4]]}, "
      "\"outputs\": {\"values\": [], \"shapes\": [], \"types\": []}, "
      "\"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": 2}, "
      "{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}]}";
  EXPECT_THAT(LayoutsOf("1.1.1-chakra.0.0.4", node), ElementsAre(kSecond));
}

}  // namespace
}  // namespace stepcast::trace
