#include "learn/measured/published_embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kPublishedHeader =
    "id,op,device,device_known,num_devices,num_tables,rows_per_table,"
    "embedding_dim,batch_size,total_lookups,unique_rows,weight_dtype,optimizer,"
    "placement,index_distribution,time_ms\n";

Result<PublishedLookups> ReadLookups(const std::string& rows) {
  const auto table =
      CsvTable::Parse(std::string(kPublishedHeader) + rows, "published.csv");
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return ReadPublishedLookups(*table);
}

TEST(PublishedLookups, ReadsABackwardWithItsOptimizer) {
  const auto lookups = ReadLookups(
      "a,tbe_bwd_fused_opt,H100-SXM5-80GB (H100 80GB HBM3),1,1,10,1000,128,"
      "512,5120,900,FP32,adam,HBM (DEVICE),power-law alpha 1.05,0.25\n");
  ASSERT_TRUE(lookups.has_value()) << lookups.error().message;
  ASSERT_EQ(lookups->rows.size(), 1u);
  const PublishedLookup& row = lookups->rows.front();
  EXPECT_EQ(row.gpu, "h100-sxm-80gb");
  EXPECT_EQ(row.time_us, 250);
  EXPECT_FALSE(row.inference);
  EXPECT_EQ(row.bag.rows, 10'000);
  EXPECT_EQ(row.bag.unique_rows, 900);
  EXPECT_EQ(row.bag.update, ir::Update::kAdam);
  EXPECT_EQ(row.bag.pass, ir::Pass::kBackward);
  EXPECT_DOUBLE_EQ(row.bag.index_alpha, 1.05);
  EXPECT_EQ(row.bag.place, ir::BagPlace::kDevice);
}

TEST(PublishedLookups, CachesAShareOfTheUniqueRowsOrOfAll) {
  const auto lookups = ReadLookups(
      "a,tbe_fwd_train,X1,1,1,2,1000,64,512,1024,500,FP32,sgd,"
      "\"UVM (MANAGED_CACHING, cache rows = 0.8 x unique rows)\",u,1\n"
      "b,tbe_eval_forward,X1,1,1,2,1000,64,512,1024,,FP32,sgd,"
      "\"UVM (MANAGED_CACHING, cache_load_factor 0.125)\",u,1\n");
  ASSERT_TRUE(lookups.has_value()) << lookups.error().message;
  ASSERT_EQ(lookups->rows.size(), 2u);
  EXPECT_EQ(lookups->rows[0].bag.cache_rows, 400);
  EXPECT_EQ(lookups->rows[0].bag.update, ir::Update::kNone);
  EXPECT_EQ(lookups->rows[1].bag.cache_rows, 250);
  EXPECT_TRUE(lookups->rows[1].inference);
}

TEST(PublishedLookups, CountsWhatIsNotAKernel) {
  const auto lookups = ReadLookups(
      "a,hkv_find,A100-PCIe-80GB,1,1,1,10,8,1,1,,FP32,,HBM,u,1\n"
      "b,hkv_find,A100-PCIe-80GB,1,1,1,10,8,1,1,,FP32,,HBM,u,1\n"
      "c,tbe_forward,unspecified,0,1,1,10,8,1,1,,FP32,,HBM,u,1\n");
  ASSERT_TRUE(lookups.has_value()) << lookups.error().message;
  EXPECT_TRUE(lookups->rows.empty());
  EXPECT_THAT(lookups->left_out,
              ElementsAre(Pair("a GPU without a name, or a CPU", 1),
                          Pair("a hash table, not a table of rows", 2)));
}

TEST(PublishedLookups, NamesTheLineThatIsWrong) {
  const auto lookups = ReadLookups(
      "a,tbe_fwd_train,X1,1,1,2,list,64,512,1024,,FP32,sgd,HBM,u,1\n");
  ASSERT_FALSE(lookups.has_value());
  EXPECT_THAT(lookups.error().message, HasSubstr("published.csv:2"));
  EXPECT_THAT(lookups.error().message, HasSubstr("rows_per_table is 'list'"));
}

}  // namespace
}  // namespace stepcast::learn
