// Steps of eager PyTorch against what the authors of the seed papers recorded:
// ops, launches and kernels of DLRM on a V100 at batch 2048. Skipped where the
// data is absent.
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "learn/measured/authors_kernels.h"
#include "learn/measured/authors_trace.h"
#include "learn/measured/csv.h"
#include "model/build_graph.h"
#include "model/read_model.h"
#include "tests/workload/listing.h"

namespace stepcast::model {
namespace {

Result<learn::CsvTable> LoadCsv(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return learn::CsvTable::Parse(std::move(text), path.string());
}

class AuthorsStepsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_)) {
      GTEST_SKIP() << "no measured data in " << folder_;
    }
  }

  static std::vector<ListedOp> OpsOf(const char* model, TorchRelease release,
                                     int64_t batch = 2048) {
    Settings settings;
    settings.batch = batch;
    settings.torch = release;
    const auto graph = BuildGraph(*FindModel(model), settings);
    EXPECT_TRUE(graph);
    return InOrder(ListOps(*graph));
  }

  // Kernels in order: "op: shape". What cuBLAS and reductions clear before
  // they start is counted in the time of the kernel after it.
  static std::vector<std::string> Lines(std::span<const ListedOp> ops) {
    std::vector<std::string> lines;
    for (const ListedOp& op : ops) {
      for (const ir::KernelShape& shape : op.activities) {
        lines.push_back(Line(op.name, shape));
      }
    }
    return lines;
  }

  static std::string Line(const std::string& op, ir::KernelShape shape) {
    // Not what the trace's reader distinguishes.
    if (auto* const kernel = std::get_if<ir::Elementwise>(&shape)) {
      kernel->arithmetic = ir::Arithmetic::kPlain;
    } else if (auto* const concat = std::get_if<ir::Concat>(&shape)) {
      concat->tensors = 2;
    }
    // The trace has no shapes here; its reader gives both kernels two inputs.
    if (op == "MseLossBackward" || op == "BinaryCrossEntropyBackward") {
      return op;
    }
    return op + ": " + ir::ShapeText(shape);
  }

  std::vector<std::string> TracedLines(const char* file,
                                       const learn::AuthorsModel& model) const {
    const auto table = LoadCsv(folder_ / file);
    EXPECT_TRUE(table) << table.error().message;
    const auto rows = learn::ReadAuthorsTrace(*table);
    EXPECT_TRUE(rows) << rows.error().message;
    const auto kernels = learn::KernelsOf(*rows, model);
    EXPECT_TRUE(kernels) << kernels.error().message;
    std::vector<std::string> lines;
    for (const learn::TracedKernels& traced : *kernels) {
      for (const ir::KernelShape& shape : traced.shapes) {
        if (traced.iteration == kIteration) {
          lines.push_back(Line(traced.op, shape));
        }
      }
    }
    return lines;
  }

  static constexpr int64_t kIteration = 5;  // Any; all are alike.
  std::filesystem::path folder_ =
      std::filesystem::path(STEPCAST_SHARED_DATA) / "authors";
};

TEST_F(AuthorsStepsTest, The115OpsOfTheTestVectorAreTheSame) {
  const auto table = LoadCsv(
      folder_ / "e2e_walk_testvector_2021-05-04_DLRM_default_b2048.csv");
  ASSERT_TRUE(table) << table.error().message;
  std::vector<std::string> expected;
  std::map<std::string, int64_t> launches;  // Of an op's first occurrence.
  constexpr std::string_view kColumns[] = {"op", "launches"};
  const auto columns = table->FindColumns(kColumns);
  ASSERT_TRUE(columns) << columns.error().message;
  for (size_t i = 0; i < table->row_count(); ++i) {
    const auto row = table->row(i);
    expected.emplace_back(row[(*columns)[0]]);
    launches.emplace(expected.back(), *learn::CellInt(row[(*columns)[1]]));
  }
  const std::vector<ListedOp> ops =
      OpsOf("dlrm_default", TorchRelease::kTorch18);
  std::vector<std::string> actual;
  std::map<std::string, int64_t> ours;
  for (const ListedOp& op : ops) {
    actual.push_back(op.name);
    ours.emplace(op.name, op.launches);
  }
  EXPECT_EQ(expected.size(), 115u);
  EXPECT_EQ(Difference(expected, actual), "");
  EXPECT_EQ(ours, launches);
}

// The tables of 2022 count what lies between ops: 76 in a step of DLRM_default,
// 89 of DLRM_MLPerf (7600 and 8900 in 100 steps at batch 256). Clearing and
// updating parameters are an op each there.
TEST_F(AuthorsStepsTest, StepsOf2022HaveAsManyOpsAsTheTablesCount) {
  const auto count = [](const char* model) {
    int64_t ops = 2;
    for (const ListedOp& op : OpsOf(model, TorchRelease::kTorch111, 256)) {
      ops += op.name != "aten::zero_" && op.name != "aten::add_" ? 1 : 0;
    }
    return ops;
  };
  EXPECT_EQ(count("dlrm_default") - 1, 76);
  EXPECT_EQ(count("dlrm_mlperf") - 1, 89);
}

TEST_F(AuthorsStepsTest, KernelsOfDlrmDefaultAreTheSame) {
  EXPECT_EQ(
      Difference(
          TracedLines("trace_v100_2021-05-04_DLRM_default_b2048_kernels.csv",
                      learn::AuthorsDefault()),
          Lines(OpsOf("dlrm_default", TorchRelease::kTorch18))),
      "");
}

TEST_F(AuthorsStepsTest, KernelsOfDlrmMlperfAreTheSame) {
  EXPECT_EQ(
      Difference(
          TracedLines("trace_v100_2021-05-14_DLRM_MLPerf_b2048_kernels.csv",
                      learn::AuthorsMlPerf()),
          Lines(OpsOf("dlrm_mlperf", TorchRelease::kTorch18))),
      "");
}

}  // namespace
}  // namespace stepcast::model
