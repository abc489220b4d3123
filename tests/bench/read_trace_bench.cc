// How fast a Kineto trace is read and linked, against simdjson's own pass over
// the same bytes in the same run.
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/files/file.h"
#include "tests/bench/simdjson_pass.h"
#include "tests/testing/kineto_generator.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/read/kineto/read_kineto.h"

namespace stepcast {
namespace {

constexpr int64_t kTraceBytes = 64'000'000;

const bench::PaddedText& Trace() {
  static const bench::PaddedText trace(
      testing::MakeKineto({.target_bytes = kTraceBytes}));
  return trace;
}

const trace::Rules& BuiltInRules() {
  static const trace::Rules rules = *trace::Rules::Load();
  return rules;
}

void CountBytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(Trace().size()));
}

void ReadAndLink(benchmark::State& state) {
  const std::string_view text(Trace().data(), Trace().size());
  for (auto iteration : state) {
    Diagnostics diagnostics;
    const auto source = OpenMemory(text);
    auto file = trace::ReadKineto(*source, diagnostics);
    CHECK(file.has_value());
    const trace::LinkedTrace linked =
        trace::Link(*std::move(file->profiler), BuiltInRules(), diagnostics);
    benchmark::DoNotOptimize(linked.parent.data());
  }
  CountBytes(state);
}
BENCHMARK(ReadAndLink)->Unit(benchmark::kMillisecond);

void SimdjsonReadsTheSameFields(benchmark::State& state) {
  for (auto iteration : state) {
    benchmark::DoNotOptimize(bench::ReadFields(Trace()));
  }
  CountBytes(state);
}
BENCHMARK(SimdjsonReadsTheSameFields)->Unit(benchmark::kMillisecond);

void SimdjsonVisitsMembers(benchmark::State& state) {
  for (auto iteration : state) {
    benchmark::DoNotOptimize(bench::VisitMembers(Trace()));
  }
  CountBytes(state);
}
BENCHMARK(SimdjsonVisitsMembers)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
