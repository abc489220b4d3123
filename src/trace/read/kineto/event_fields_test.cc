#include "trace/read/kineto/event_fields.h"

#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace stepcast::trace {
namespace {

using ::testing::Optional;

/// One value of JSON, readable as long as this lives.
class Parsed {
 public:
  explicit Parsed(std::string_view value)
      : text_("[" + std::string(value) + "]"),
        source_(OpenMemory(text_)),
        reader_(*source_, {}),
        item_(reader_.Next()) {}

  JsonValue value() const { return (*item_)->value; }

 private:
  std::string text_;
  std::unique_ptr<ByteSource> source_;
  JsonRecordReader reader_;
  Result<std::optional<JsonRecordReader::Item>> item_;
};

TEST(EventFieldsTest, AreTakenAsTheyStand) {
  const Parsed event(R"({
    "ph": "X", "cat": "cpu_op", "name": "aten::add \"x\"", "pid": 12,
    "tid": "stream 7", "ts": 1694128201435418.125, "dur": 52,
    "id": 3, "args": {"External id": 1}})");
  EventFields fields;
  ASSERT_TRUE(ReadFields(event.value(), fields));
  EXPECT_EQ(fields.phase, 'X');
  EXPECT_EQ(fields.category, "cpu_op");
  EXPECT_EQ(fields.name, R"(aten::add \"x\")");
  EXPECT_EQ(fields.process, "12");
  EXPECT_EQ(fields.thread, "stream 7");
  EXPECT_EQ(fields.start, "1694128201435418.125");
  EXPECT_EQ(fields.duration, "52");
  ASSERT_TRUE(fields.args.has_value());
  EXPECT_EQ(fields.args->raw(), R"({"External id": 1})");
}

TEST(EventFieldsTest, AbsentOnesAreEmpty) {
  const Parsed event("{}");
  EventFields fields;
  EXPECT_TRUE(ReadFields(event.value(), fields));
  EXPECT_EQ(fields.phase, 0);
  EXPECT_EQ(fields.start, "");
  EXPECT_FALSE(fields.args.has_value());
}

TEST(EventFieldsTest, OfAKeyGivenTwiceTheLastCounts) {
  const Parsed event(R"({"ph": "X", "name": "a", "ph": "M", "name": "b"})");
  EventFields fields;
  ASSERT_TRUE(ReadFields(event.value(), fields));
  EXPECT_EQ(fields.phase, 'M');
  EXPECT_EQ(fields.name, "b");
}

TEST(EventFieldsTest, ValuesThatAreNotObjectsAreRefused) {
  EventFields fields;
  for (const char* text : {"1", "[]", "\"x\"", "null", R"({"a" 1})"}) {
    EXPECT_FALSE(ReadFields(Parsed(text).value(), fields)) << text;
  }
}

TEST(EventArgsTest, OfOps) {
  const Parsed parsed(R"({"External id": 7, "Ev Idx": 3,
      "Sequence number": 519, "Input Dims": [[16, 13], []],
      "Input type": ["float", "Scalar"], "Concrete Inputs": ["", "1"],
      "Input Strides": [[13, 1], []], "Record function id": 0,
      "Fwd thread id": 1})");
  EventArgs args;
  ASSERT_TRUE(ReadArgs(parsed.value(), args));
  EXPECT_THAT(args.external_id, Optional(7));
  EXPECT_THAT(args.event_index, Optional(3));
  EXPECT_THAT(args.sequence, Optional(519));
  EXPECT_EQ(args.dims, "[[16, 13], []]");
  EXPECT_EQ(args.types, R"(["float", "Scalar"])");
  EXPECT_EQ(args.values, R"(["", "1"])");
  EXPECT_EQ(args.strides, "[[13, 1], []]");
  EXPECT_TRUE(args.has_record_function_id);
  EXPECT_FALSE(args.describes_collective);
}

TEST(EventArgsTest, OfDeviceEvents) {
  const Parsed parsed(R"({"external id": 24213, "queued": 0, "device": 2,
      "stream": 7, "correlation": 40875, "grid": [32, 2, 1],
      "block": [128, 1, 1], "bytes": 832, "est. achieved occupancy %": 5})");
  EventArgs args;
  ASSERT_TRUE(ReadArgs(parsed.value(), args));
  EXPECT_THAT(args.external_id, Optional(24213));
  EXPECT_THAT(args.device, Optional(2));
  EXPECT_THAT(args.stream, Optional(7));
  EXPECT_THAT(args.correlation, Optional(40875));
  EXPECT_THAT(args.bytes, Optional(832));
  EXPECT_EQ(args.grid, "[32, 2, 1]");
  EXPECT_EQ(args.block, "[128, 1, 1]");
}

TEST(EventArgsTest, OfSyncEvents) {
  const Parsed parsed(R"({"cuda_sync_kind": "Stream Wait Event",
      "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 1385,
      "stream": -1})");
  EventArgs args;
  ASSERT_TRUE(ReadArgs(parsed.value(), args));
  EXPECT_EQ(args.sync_kind, "Stream Wait Event");
  EXPECT_THAT(args.wait_on_stream, Optional(20));
  EXPECT_THAT(args.record_correlation, Optional(1385));
  EXPECT_THAT(args.stream, Optional(-1));
}

TEST(EventArgsTest, NumbersOfTheWrongTypeAreAbsent) {
  const Parsed parsed(R"({"correlation": "x", "stream": "7", "device": null,
      "bytes": 1.5, "External id": [1], "Ev Idx": 99999999999999999999,
      "": 1})");
  EventArgs args;
  ASSERT_TRUE(ReadArgs(parsed.value(), args));
  EXPECT_EQ(args.correlation, std::nullopt);
  EXPECT_THAT(args.stream, Optional(7));  // Digits in quotes are a number.
  EXPECT_EQ(args.device, std::nullopt);
  EXPECT_EQ(args.bytes, std::nullopt);
  EXPECT_EQ(args.external_id, std::nullopt);
  EXPECT_EQ(args.event_index, std::nullopt);
}

TEST(CategoryOfTest, KnowsTheNamesOfEveryDialect) {
  EXPECT_EQ(CategoryOf("cpu_op"), EventCategory::kOp);
  EXPECT_EQ(CategoryOf("Operator"), EventCategory::kOp);
  EXPECT_EQ(CategoryOf("user_annotation"), EventCategory::kAnnotation);
  for (const char* name :
       {"Runtime", "cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver",
        "privateuse1_runtime", "privateuse1_driver"}) {
    EXPECT_EQ(CategoryOf(name), EventCategory::kRuntime) << name;
  }
  EXPECT_EQ(CategoryOf("kernel"), EventCategory::kKernel);
  EXPECT_EQ(CategoryOf("Kernel"), EventCategory::kKernel);
  EXPECT_EQ(CategoryOf("gpu_memcpy"), EventCategory::kMemcpy);
  EXPECT_EQ(CategoryOf("Memcpy"), EventCategory::kMemcpy);
  EXPECT_EQ(CategoryOf("gpu_memset"), EventCategory::kMemset);
  EXPECT_EQ(CategoryOf("Memset"), EventCategory::kMemset);
  EXPECT_EQ(CategoryOf("cuda_sync"), EventCategory::kSync);
  EXPECT_EQ(CategoryOf("python_function"), EventCategory::kPython);
  EXPECT_EQ(CategoryOf("gpu_user_annotation"), EventCategory::kGpuAnnotation);
  for (const char* name : {"", "Trace", "KERNEL", "cpu_opx", "cpu_o"}) {
    EXPECT_EQ(CategoryOf(name), EventCategory::kOther) << name;
  }
}

}  // namespace
}  // namespace stepcast::trace
