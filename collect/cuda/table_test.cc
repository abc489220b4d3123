#include "collect/cuda/table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "collect/cuda/sweep.h"

namespace stepcast::collect {
namespace {

Summary Some() {
  Summary summary;
  summary.time_us = 12.5;
  summary.min_us = 12;
  summary.count = 7;
  summary.outliers = 1;
  return summary;
}

int64_t Commas(const std::string& line) {
  return std::count(line.begin(), line.end(), ',');
}

TEST(TableTest, AProductIsARowOfTheSchema) {
  Point point;
  point.op = "tn";
  point.dtype = "tf32";
  point.m = 64;
  point.n = 32;
  point.k = 16;
  EXPECT_EQ(HeaderOf(Kind::kGemm),
            "gpu,dtype,batch,m,n,k,layout,bias,time_us,min_us,count,outliers,"
            "timing,source");
  EXPECT_EQ(RowOf(point, {"v100", ""}, Some(), "graph", 0),
            "v100,tf32,1,64,32,16,tn,0,12.5,12,7,1,graph,collect-cuda");
}

TEST(TableTest, BackwardBagsAreUpdatesByAtomicsWithUniqueRows) {
  Point point;
  point.kind = Kind::kEmbeddingBag;
  point.op = "bwd";
  point.dtype = "fp32";
  point.pooling = "sum";
  point.alpha = 1.05;
  point.rows = 1000;
  point.dim = 64;
  point.batch = 128;
  point.lookups = 8;
  EXPECT_EQ(RowOf(point, {"v100", ""}, Some(), "graph", 321),
            "v100,table-batched-atomic,bwd,sgd,fp32,hbm,1,1000,64,128,8,sum,"
            "power-law-1.05,321,12.5,12,7,1,graph,collect-cuda");
}

TEST(TableTest, EveryRowHasAsManyCellsAsItsHeader) {
  std::vector<Point> points = MakeSweep(1, {}, {"fp32", "bf16"});
  for (const Point& point : MakeCollectiveSweep(1, {}, 4)) {
    points.push_back(point);
  }
  for (const Point& point : points) {
    EXPECT_EQ(Commas(RowOf(point, {"a,b", "x,y"}, Some(), "loop", 5)),
              Commas(HeaderOf(point.kind)))
        << PointId(point);
  }
}

TEST(TableTest, TheRateOfABandwidthIsItsBytesByItsTime) {
  Point point;
  point.kind = Kind::kBandwidth;
  point.op = "read";
  point.bytes = 1 << 20;
  // 1048576 B / 12.5 us = 83.8861 GB/s.
  EXPECT_EQ(RowOf(point, {"v100", ""}, Some(), "graph", 0),
            "v100,read,1048576,83.8861,12.5,12,7,1,graph,collect-cuda");
}

TEST(TableTest, FilesAreWrittenWholeAndByKind) {
  const std::filesystem::path out =
      std::filesystem::path(testing::TempDir()) / "collect_cuda_table";
  std::filesystem::remove_all(out);
  ASSERT_EQ(WriteTables(out.string(), "v100",
                        {{"gemm", "a"}, {"memcpy", "b"}, {"gemm", "c"}}),
            "");
  std::ifstream file(out / "gemm" / "v100.csv");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, HeaderOf(Kind::kGemm) + "\na\nc\n");
  EXPECT_TRUE(std::filesystem::exists(out / "memcpy" / "v100.csv"));
  EXPECT_FALSE(std::filesystem::exists(out / "gemm" / "v100.csv.tmp"));
  EXPECT_NE(WriteTables("/dev/null/x", "v100", {{"gemm", "a"}}), "");
}

}  // namespace
}  // namespace stepcast::collect
