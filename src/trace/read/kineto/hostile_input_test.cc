// Kineto traces that are cut, damaged or wrong: each is refused in one line, or
// read as far as it goes with everything odd counted.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/json/json_window.h"
#include "tests/testing/check_linked.h"
#include "tests/testing/gzip.h"
#include "tests/testing/kineto_generator.h"
#include "tests/testing/kineto_writer.h"
#include "trace/link/link.h"
#include "trace/read/kineto/read_kineto.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using stepcast::testing::FindBrokenLink;
using stepcast::testing::Gzip;
using stepcast::testing::JobStep;
using stepcast::testing::KinetoDialect;
using stepcast::testing::KinetoWriter;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array kDialects = {KinetoDialect::k2021, KinetoDialect::k2022,
                                  KinetoDialect::k2024};

/// What came of reading and linking some bytes.
struct Outcome {
  std::string error{};
  LinkedTrace linked{};
  Diagnostics diagnostics{};

  bool failed() const { return !error.empty(); }
  /// Events kept, skipped or complained about.
  int64_t accounted() const {
    const ProfilerTrace& trace = linked.trace;
    const SkippedEvents& skipped = trace.skipped;
    return static_cast<int64_t>(
               trace.host_events.size() + trace.runtime_events.size() +
               trace.device_events.size() + trace.sync_events.size()) +
           skipped.flows + skipped.metadata + skipped.instants +
           skipped.counters + skipped.python + skipped.gpu_annotations +
           skipped.other + diagnostics.count(kMalformedRecord) +
           diagnostics.count(kMissingField) + diagnostics.count(kBadNumber);
  }
  std::string_view name(size_t host_event) const {
    return linked.trace.strings.view(
        linked.trace.host_events.at(host_event).name);
  }
  bool has_good() const {
    return std::ranges::any_of(
        linked.trace.host_events, [&](const HostEvent& event) {
          return linked.trace.strings.view(event.name) == "good";
        });
  }
};

Outcome ReadAndLink(std::string_view bytes) {
  Outcome outcome;
  const auto source = OpenMemory(bytes);
  auto file = ReadKineto(*source, outcome.diagnostics);
  if (!file) {
    outcome.error = file.error().message;
    EXPECT_NE(outcome.error, "");
    EXPECT_THAT(outcome.error, Not(HasSubstr("\n")));
    return outcome;
  }
  outcome.linked =
      Link(*std::move(file->profiler), Rules(), outcome.diagnostics);
  EXPECT_EQ(FindBrokenLink(outcome.linked), "");
  return outcome;
}

/// A trace with one event of every kind, about 3 KB.
std::string TinyTrace(KinetoDialect dialect) {
  JobStep step;
  step.host.push_back({.name = "ProfilerStep#1",
                       .kind = stepcast::testing::JobEventKind::kAnnotation,
                       .end_ns = 90'000});
  step.host.push_back({.name = "aten::mm",
                       .start_ns = 10'000,
                       .end_ns = 40'000,
                       .id = 1,
                       .parent = 0,
                       .dims = "[[2, 3], [3, 4]]",
                       .types = R"(["float", "float"])"});
  step.calls.push_back({.name = "cudaLaunchKernel",
                        .start_ns = 20'000,
                        .end_ns = 30'000,
                        .correlation = 77,
                        .op = 1,
                        .launches = true});
  step.activities.push_back({.name = "volta_sgemm_128x32_tn",
                             .stream = 7,
                             .start_ns = 35'000,
                             .end_ns = 60'000,
                             .correlation = 77,
                             .call = 0});
  std::string text;
  KinetoWriter writer({.dialect = dialect}, text);
  writer.Header();
  writer.Host(step.host[0]);
  writer.Host(step.host[1]);
  writer.Call(step.calls[0], step);
  writer.FlowStart(step.calls[0]);
  writer.Activity(step.activities[0], step);
  writer.FlowEnd(step.activities[0]);
  writer.Metadata();
  writer.Footer();
  return text;
}

/// One good op, "good", and then `event`.
std::string WithEvent(std::string_view event) {
  return fmt::format(
      R"({{"traceEvents": [{{"ph": "X", "cat": "cpu_op", "name": "good",)"
      R"( "pid": 1, "tid": 1, "ts": 1, "dur": 2}}, {}]}})",
      event);
}

TEST(HostileKinetoTest, CutAnywhereItGivesWhatCameBefore) {
  for (const KinetoDialect dialect : kDialects) {
    const std::string text = TinyTrace(dialect);
    const int64_t all = ReadAndLink(text).accounted();
    ASSERT_GE(all, 8);
    // After the last bracket there is only space.
    const size_t end = text.rfind('}') + 1;
    int64_t before = 0;
    for (size_t size = 0; size < end; ++size) {
      const Outcome cut = ReadAndLink(std::string_view(text).substr(0, size));
      if (cut.failed()) {
        ASSERT_EQ(before, 0) << size;
        ASSERT_THAT(cut.error, AnyOf(HasSubstr("cut off"),
                                     HasSubstr("expected a JSON object")));
        continue;
      }
      ASSERT_EQ(cut.diagnostics.count(kTruncated), 1) << size;
      ASSERT_GE(cut.accounted(), before) << size;
      ASSERT_LE(cut.accounted(), all) << size;
      before = cut.accounted();
    }
    EXPECT_EQ(before, all);
    EXPECT_EQ(ReadAndLink(text).diagnostics.count(kTruncated), 0);
  }
}

TEST(HostileKinetoTest, CutGzipIsRefused) {
  for (const KinetoDialect dialect : kDialects) {
    const std::string text = TinyTrace(dialect);
    const std::string packed = Gzip(text);
    EXPECT_EQ(ReadAndLink(packed).accounted(), ReadAndLink(text).accounted());
    for (size_t size = 0; size < packed.size(); ++size) {
      const Outcome cut = ReadAndLink(std::string_view(packed).substr(0, size));
      ASSERT_TRUE(cut.failed()) << size;
      // One byte is not enough to know gzip by.
      ASSERT_THAT(cut.error, size < 2 ? HasSubstr("expected a JSON object")
                                      : HasSubstr("gzip data is cut off"));
    }
  }
}

// Some bytes of the header are for people: a file name, a date.
TEST(HostileKinetoTest, CorruptGzipIsRefusedOrHarmless) {
  const std::string packed = Gzip(TinyTrace(KinetoDialect::k2022));
  const int64_t all = ReadAndLink(packed).accounted();
  size_t refused = 0;
  for (size_t at = 0; at < packed.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const Outcome outcome = ReadAndLink(damaged);
      if (outcome.failed()) {
        ++refused;
      } else {
        ASSERT_LT(at, 10U);
        ASSERT_EQ(outcome.accounted(), all);
      }
    }
  }
  EXPECT_GE(refused, (packed.size() - 10) * 3);
}

// Every byte, each time made into the next three of the nasty ones.
TEST(HostileKinetoTest, AnyDamagedByteIsSurvived) {
  constexpr std::string_view kNasty("{}[],:\"\\\0\xFF 9", 12);
  const std::string text = TinyTrace(KinetoDialect::k2022);
  size_t next = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    for (int i = 0; i < 3; ++i) {
      std::string damaged = text;
      damaged[at] = kNasty[next++ % kNasty.size()];
      ReadAndLink(damaged);
    }
    ++next;  // Other ones at the same place in the next event.
  }
}

TEST(HostileKinetoTest, EveryFieldMayHaveAnyType) {
  constexpr std::array<std::string_view, 17> kValues = {
      "null",
      "true",
      "0",
      "-1",
      "1.5",
      "1e400",
      "-1e400",
      "NaN",
      "9223372036854775808",
      "\"\"",
      "\"x\"",
      "\"\\u0000\"",
      "[]",
      "[[1], 2]",
      "{}",
      "{\"a\": {}}",
      "\"99999999999999999999\""};
  constexpr std::array<std::string_view, 8> kFields = {
      "ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};
  for (const std::string_view category :
       {"cpu_op", "kernel", "cuda_runtime", "cuda_sync", "gpu_memcpy"}) {
    for (const std::string_view field : kFields) {
      for (const std::string_view value : kValues) {
        // Of a key given twice the last counts.
        const Outcome outcome = ReadAndLink(WithEvent(fmt::format(
            R"({{"ph": "X", "cat": "{}", "name": "n", "pid": 1, "tid": 1,)"
            R"( "ts": 5, "dur": 1, "args": {{}}, "{}": {}}})",
            category, field, value)));
        ASSERT_EQ(outcome.error, "") << field << " " << value;
        ASSERT_TRUE(outcome.has_good());
        ASSERT_GE(outcome.accounted(), 2) << field << " " << value;
      }
    }
  }
}

TEST(HostileKinetoTest, EveryArgumentMayHaveAnyType) {
  constexpr std::array<std::string_view, 11> kValues = {"null",
                                                        "true",
                                                        "-1",
                                                        "1e400",
                                                        "9223372036854775807",
                                                        "9223372036854775808",
                                                        "\"\"",
                                                        "\"7\"",
                                                        "[[[]]]",
                                                        "{\"a\": 1}",
                                                        "abc"};
  for (const std::string_view field :
       {"External id", "external id", "Ev Idx", "Sequence number", "Input Dims",
        "Input type", "Concrete Inputs", "Input Strides", "Collective name",
        "correlation", "stream", "device", "bytes", "grid", "block",
        "cuda_sync_kind", "wait_on_stream", "name", ""}) {
    for (const std::string_view category :
         {"cpu_op", "kernel", "cuda_runtime", "cuda_sync"}) {
      for (const std::string_view value : kValues) {
        const Outcome outcome = ReadAndLink(WithEvent(fmt::format(
            R"({{"ph": "X", "cat": "{}", "name": "n", "pid": 1, "tid": 1,)"
            R"( "ts": 5, "dur": 1, "args": {{"{}": {}}}}})",
            category, field, value)));
        ASSERT_EQ(outcome.error, "") << field << " " << value;
        ASSERT_EQ(outcome.accounted(), 2) << field << " " << value;
      }
    }
  }
}

std::string Op(std::string_view times) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, {}}})",
      times);
}

TEST(HostileKinetoTest, TimesThatCannotBeAreBadNumbers) {
  for (const std::string_view times :
       {R"("ts": -1, "dur": 2)", R"("ts": 1, "dur": -2)",
        R"("ts": 1, "dur": NaN)", R"("ts": 1, "dur": "nan")",
        R"("ts": Infinity, "dur": 2)", R"("ts": 1e400, "dur": 2)",
        R"("ts": 1, "dur": 1e300)", R"("ts": 9223372036854775807, "dur": 1)",
        R"("ts": 99999999999999999999, "dur": 1)",
        R"("ts": 1, "dur": 9007199254740991)", R"("ts": 1, "dur": null)",
        R"("ts": [1], "dur": 1)", R"("ts": "x", "dur": 1)"}) {
    const Outcome outcome = ReadAndLink(WithEvent(Op(times)));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.diagnostics.count(kBadNumber), 1) << times;
    EXPECT_EQ(outcome.linked.trace.host_events.size(), 1U) << times;
  }
}

TEST(HostileKinetoTest, ExactAndOddTimesAreTaken) {
  for (const std::string_view times :
       {R"("ts": "5", "dur": "2.5")", R"("ts": 5.0, "dur": 2e0)",
        R"("ts": 1694128201435418.1234567, "dur": 0)"}) {
    EXPECT_EQ(ReadAndLink(WithEvent(Op(times))).linked.trace.host_events.size(),
              2U)
        << times;
  }
}

TEST(HostileKinetoTest, MissingFieldsAreNamed) {
  const Outcome no_start = ReadAndLink(WithEvent(Op(R"("dur": 2)")));
  EXPECT_EQ(no_start.diagnostics.count(kMissingField), 1);
  EXPECT_THAT(no_start.diagnostics.list().front().examples,
              ::testing::ElementsAre("ts of 'n'"));
  const Outcome no_length = ReadAndLink(WithEvent(Op(R"("ts": 2)")));
  EXPECT_THAT(no_length.diagnostics.list().front().examples,
              ::testing::ElementsAre("dur of 'n'"));
  const Outcome no_phase = ReadAndLink(WithEvent(R"({"name": "n", "ts": 2})"));
  EXPECT_THAT(no_phase.diagnostics.list().front().examples,
              ::testing::ElementsAre("ph of 'n'"));
}

TEST(HostileKinetoTest, RecordsThatAreNotEventsAreCounted) {
  for (const std::string_view record :
       {"1", "null", "\"x\"", "[]", R"({"ph" "X"})", R"({"ph": "X", })",
        R"({"ph": "X" "cat": 1})", "{1: 2}", R"({"ph":, "ts": 1})"}) {
    const Outcome outcome = ReadAndLink(WithEvent(record));
    EXPECT_EQ(outcome.error, "") << record;
    EXPECT_EQ(outcome.diagnostics.count(kMalformedRecord), 1) << record;
    EXPECT_EQ(outcome.linked.trace.host_events.size(), 1U) << record;
  }
}

TEST(HostileKinetoTest, BrokenArgsCostOnlyTheArgs) {
  const Outcome outcome = ReadAndLink(
      WithEvent(Op(R"("ts": 5, "dur": 1, "args": {"a": 1 "b": 2})")));
  EXPECT_EQ(outcome.linked.trace.host_events.size(), 2U);
  EXPECT_EQ(outcome.diagnostics.count(kMalformedRecord), 1);
}

TEST(HostileKinetoTest, WhatHoldsNoEventIsRefused) {
  for (const std::string_view text :
       {"{}", "[]", R"({"traceEvents": []})", R"({"traceEvents": {}})",
        "[1, 2, 3]", R"([{"name": "x"}])", R"({"nodes": [{"id": 1}]})"}) {
    EXPECT_THAT(ReadAndLink(text).error, HasSubstr("holds no events")) << text;
  }
  for (const std::string_view text :
       {"", " \n", "hello", "PK\x03\x04", "<html>", "\x00\x01", "12"}) {
    EXPECT_THAT(ReadAndLink(text).error, HasSubstr("expected a JSON object"))
        << text;
  }
}

TEST(HostileKinetoTest, OddBytesInNamesAreRepairedAndCounted) {
  const Outcome outcome = ReadAndLink(WithEvent(
      "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\tb\nc\xFF\xC2\xB5\", "
      "\"pid\": 1, \"tid\": 1, \"ts\": 5, \"dur\": 1}"));
  EXPECT_EQ(outcome.name(1), "a b c?\xC2\xB5");
  EXPECT_EQ(outcome.diagnostics.count(kControlCharacters), 2);
  EXPECT_EQ(outcome.diagnostics.count(kInvalidUtf8), 1);
}

// The name of the second op crosses the end of the first window in every way
// it can.
TEST(HostileKinetoTest, NamesAtTheEdgeOfTheWindowAreRead) {
  constexpr std::string_view kName = R"(x\"\\\uD83D\uDE00)"
                                     "\xC2\xB5\xFF\n";
  constexpr std::string_view kExpected = "x\"\\\xF0\x9F\x98\x80\xC2\xB5? ";
  const std::string before = WithEvent("");
  const std::string head = before.substr(0, before.rfind(']'));
  for (size_t at = 0; at <= kName.size(); ++at) {
    const std::string start = R"({"ph": "X", "cat": "cpu_op", "name": ")";
    std::string text = head;
    text += std::string(
        JsonWindow::kFirstSize - head.size() - start.size() - at, ' ');
    text += start;
    text += kName;
    text += R"(", "pid": 1, "tid": 1, "ts": 5, "dur": 1}]})";
    const Outcome outcome = ReadAndLink(text);
    ASSERT_EQ(outcome.linked.trace.host_events.size(), 2U) << at;
    EXPECT_EQ(outcome.name(1), kExpected) << at;
    EXPECT_EQ(outcome.diagnostics.count(kInvalidUtf8), 1) << at;
    EXPECT_EQ(outcome.diagnostics.count(kControlCharacters), 1) << at;
  }
}

TEST(HostileKinetoTest, AMillionDeepNestIsJustAValue) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  const Outcome whole = ReadAndLink(WithEvent(Op(
      R"("ts": 5, "dur": 1, "args": {"Input Dims": )" + open + close + "}")));
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.linked.trace.host_events.size(), 2U);
  const Outcome cut =
      ReadAndLink(WithEvent(R"({"ph": "X", "args": {"Input Dims": )" + open));
  EXPECT_EQ(cut.linked.trace.host_events.size(), 1U);
  EXPECT_EQ(cut.diagnostics.count(kTruncated), 1);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_EQ(ReadAndLink(WithEvent(objects)).diagnostics.count(kTruncated), 1);
}

TEST(HostileKinetoTest, ARecordLargerThanTheWindowIsRead) {
  std::string dims = "[[1]";
  while (dims.size() < 5 * JsonWindow::kSize) {
    dims += ", [12345, 678]";
  }
  dims += "]";
  const std::string name(3 * JsonWindow::kSize, 'n');
  const Outcome outcome = ReadAndLink(WithEvent(fmt::format(
      R"({{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 5, "dur": 1,)"
      R"( "args": {{"Input Dims": {}}}, "name": "{}"}})",
      dims, name)));
  ASSERT_EQ(outcome.linked.trace.host_events.size(), 2U);
  EXPECT_EQ(outcome.name(1), name);
  ASSERT_EQ(outcome.linked.trace.arguments.size(), 1U);
  EXPECT_EQ(outcome.linked.trace.strings.view(
                outcome.linked.trace.arguments.front().dims),
            dims);
}

TEST(HostileKinetoTest, AValueOfTensOfMegabytesIsRefused) {
  const std::string name(2 * JsonWindow::kLongestValue, 'n');
  EXPECT_THAT(ReadAndLink(WithEvent("{\"name\": \"" + name + "\"}")).error,
              HasSubstr("is longer than 32 MiB"));
}

// Without its spaces and lines a trace says the same.
TEST(HostileKinetoTest, MinifiedTextIsTheSame) {
  const std::string text =
      stepcast::testing::MakeKineto({.job = {.python = true}, .steps = 3});
  std::string minified;
  bool in_string = false;
  for (const char c : text) {
    in_string = in_string != (c == '"');  // The generator writes no escapes.
    if (in_string || (c != ' ' && c != '\n')) {
      minified += c;
    }
  }
  ASSERT_GT(minified.size(), 2 * JsonWindow::kSize);
  ASSERT_EQ(minified.find('\n'), std::string::npos);
  const Outcome expected = ReadAndLink(text);
  const Outcome outcome = ReadAndLink(minified);
  EXPECT_EQ(outcome.accounted(), expected.accounted());
  EXPECT_EQ(outcome.linked.parent, expected.linked.parent);
  EXPECT_EQ(outcome.linked.call_op, expected.linked.call_op);
  EXPECT_EQ(outcome.linked.activity_call, expected.linked.activity_call);
}

TEST(HostileKinetoTest, WhatFollowsTheDocumentIsIgnoredAndCounted) {
  const std::string text = TinyTrace(KinetoDialect::k2022);
  const int64_t all = ReadAndLink(text).accounted();
  for (const std::string& rest :
       {text, std::string("]"), std::string("garbage \xFF"),
        std::string(100'000, '\0'), "\n\n" + text + text}) {
    const Outcome outcome = ReadAndLink(text + rest);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.accounted(), all);
    EXPECT_EQ(outcome.diagnostics.count(kTrailingData), 1);
  }
  EXPECT_EQ(ReadAndLink(text + " \n\t").diagnostics.count(kTrailingData), 0);
  EXPECT_EQ(ReadAndLink("\xEF\xBB\xBF" + text).accounted(), all);
}

TEST(HostileKinetoTest, AllIdsAtTheirLimitsStillLink) {
  const std::string huge = "9223372036854775807";
  const Outcome outcome = ReadAndLink(WithEvent(fmt::format(
      R"({{"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": 1, "tid": 1,
          "ts": 2, "dur": 1, "args": {{"correlation": {0}}}}},
      {{"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": 1, "tid": 1,
          "ts": 2, "dur": 1, "args": {{"correlation": 0}}}},
      {{"ph": "X", "cat": "kernel", "name": "k", "pid": {0}, "tid": {0},
          "ts": 4499999999999999, "dur": 86400000000,
          "args": {{"correlation": {0}, "stream": -{0}, "device": 2147483647,
                    "bytes": {0}}}}},
      {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 0,
          "ts": 4, "dur": 1, "args": {{"device": 2147483648}}}})",
      huge)));
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.linked.activity_call.size(), 1U);
  EXPECT_NE(outcome.linked.activity_call.front(), kNoEvent);
  EXPECT_EQ(outcome.diagnostics.count(kBadNumber), 1);
}

TEST(HostileKinetoTest, ABaseTimeThatCannotBeIsLeftOut) {
  for (const std::string_view base :
       {"-1", "9223372036854775807", "1e18", "\"x\"", "[]"}) {
    const Outcome outcome = ReadAndLink(
        fmt::format(R"({{"baseTimeNanoseconds": {}, "traceEvents": [{}]}})",
                    base, Op(R"("ts": 1, "dur": 1)")));
    EXPECT_EQ(outcome.diagnostics.count(kBadNumber), 1) << base;
    EXPECT_EQ(outcome.linked.trace.info.base_time, Duration{});
  }
}

}  // namespace
}  // namespace stepcast::trace
