#include "learn/measured/authors_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTraceHeader =
    "iteration,kernel_seq,path,op,op_instance,kernel,caller_input_shapes,"
    "kernel_count,kernel_time_us\n";

Result<std::vector<AuthorsRow>> ReadTraceRows(const std::string& text) {
  const auto table = CsvTable::Parse(text, "trace.csv");
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return ReadAuthorsTrace(*table);
}

TEST(AuthorsTrace, ReadsRowsInOrder) {
  const auto rows = ReadTraceRows(
      std::string(kTraceHeader) +
      "0,0,DLRM forward > aten::to,aten::to,2,Memcpy HtoD,"
      "\"((3,), ())\",1,20.5\n"
      "0,1,DLRM forward > aten::relu,aten::relu,3,k,\"(-1,)\",2,7\n");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].op, "aten::to");
  EXPECT_EQ((*rows)[0].op_instance, 2);
  EXPECT_EQ((*rows)[0].time_us, 20.5);
  EXPECT_EQ((*rows)[1].kernel_count, 2);
}

TEST(AuthorsTrace, NamesTheLineThatIsWrong) {
  const auto rows = ReadTraceRows(std::string(kTraceHeader) +
                                  "0,0,p,o,1,k,s,1,5\n0,0,p,o,1,k,s,none,5\n");
  ASSERT_FALSE(rows.has_value());
  EXPECT_THAT(rows.error().message, HasSubstr("trace.csv:3"));
}

TEST(AuthorsTrace, NamesTheColumnThatIsMissing) {
  const auto rows = ReadTraceRows("iteration,path,op\n0,p,o\n");
  ASSERT_FALSE(rows.has_value());
  EXPECT_THAT(rows.error().message, HasSubstr("kernel_time_us"));
}

TEST(AuthorsModels, TopLayersTakeWhatTheInteractionMakes) {
  for (const AuthorsModel& model : {AuthorsDefault(), AuthorsMlPerf()}) {
    const int64_t features = std::ssize(model.table_rows) + 1;
    EXPECT_EQ(model.top.front(), model.dim + features * (features - 1) / 2);
    EXPECT_EQ(model.bottom.back(), model.dim);
    EXPECT_EQ(model.top.back(), 1);
  }
}

}  // namespace
}  // namespace stepcast::learn
