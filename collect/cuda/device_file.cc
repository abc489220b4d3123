#include "collect/cuda/device_file.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "collect/cuda/measure.h"
#include "collect/cuda/work.h"

namespace stepcast::collect {
namespace {

// Seconds for each peak.
constexpr double kPeakSeconds = 0.3;
// Rates at the highest clock against those measured: the best libraries leave
// some 10 % to 20 % of a peak (V100 and A100 reach 0.76 to 0.87 of theirs).
constexpr double kHeadroom = 1.25;
// Products that fill every GPU of today, and a copy beyond every cache.
constexpr int64_t kPeakSizes[] = {2048, 4096, 8192};
constexpr int64_t kCopyBytes = 512 << 20;

const char* GenerationOf(int major, int minor) {
  if (major == 7) {
    return minor == 5 ? "turing" : "volta";
  }
  if (major == 8) {
    return minor == 9 ? "ada" : "ampere";
  }
  if (major == 9) {
    return "hopper";
  }
  return major < 7 ? "pascal" : "blackwell";
}

// The least time of a call in microseconds; 0 if there is none.
double LeastUs(Device& device, const Point& point, const Clock& clock) {
  std::string why;
  if (WorkOf(point).held_bytes > device.facts().memory_bytes / 4) {
    return 0;
  }
  const auto prepared = device.Prepare(point, 1, why);
  if (prepared == nullptr) {
    return 0;
  }
  const auto summary = Measure(*prepared, kPeakSeconds, clock);
  return summary ? summary->min_us : 0;
}

double ProductTflops(Device& device, const std::string& dtype,
                     const Clock& clock) {
  const auto& dtypes = device.facts().dtypes;
  if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
    return 0;
  }
  double best = 0;
  for (const int64_t size : kPeakSizes) {
    Point point;
    point.op = "tn";
    point.dtype = dtype;
    point.m = point.n = point.k = size;
    const double time_us = LeastUs(device, point, clock);
    if (time_us > 0) {
      best = std::max(best, WorkOf(point).flop / time_us / 1e6);
    }
  }
  return kHeadroom * best;
}

std::string Figure(const char* key, double value, const char* source) {
  if (!(value > 0)) {
    return "";
  }
  char text[160] = "";
  std::snprintf(text, sizeof(text), "%s = { value = %.6g, source = \"%s\" }\n",
                key, value, source);
  return text;
}

}  // namespace

std::string NameOf(const std::string& title) {
  std::string name;
  for (const char letter : title) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 && byte < 128) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') {
    name.pop_back();
  }
  return name.empty() ? "device" : name;
}

Peaks MeasurePeaks(Device& device, const Clock& clock) {
  Peaks peaks;
  peaks.fp32_tflops = ProductTflops(device, "fp32", clock);
  peaks.tf32_tflops = ProductTflops(device, "tf32", clock);
  peaks.fp16_tflops = ProductTflops(device, "fp16", clock);
  peaks.bf16_tflops = ProductTflops(device, "bf16", clock);
  Point copy;
  copy.kind = Kind::kMemcpy;
  copy.op = "dtod";
  copy.bytes = kCopyBytes;
  if (const double time_us = LeastUs(device, copy, clock); time_us > 0) {
    peaks.dram_gbs = kHeadroom * WorkOf(copy).moved_bytes / time_us / 1e3;
  }
  return peaks;
}

std::string DeviceFile(const std::string& name, const DeviceFacts& facts,
                       const Peaks& peaks) {
  std::string title;
  for (const char letter : facts.title) {
    title += letter == '"' || letter == '\\' ? '\'' : letter;
  }
  return "# " + title + ", as measured by collect/cuda.\nname = \"" + name +
         "\"\ntitle = \"" + title + "\"\ngeneration = \"" +
         GenerationOf(facts.major, facts.minor) + "\"\nchip = \"" + title +
         "\"\n\n" +
         Figure("sm_count", static_cast<double>(facts.sms), "the driver") +
         Figure("max_clock_mhz", facts.clock_mhz, "the driver") +
         Figure("fp32_tflops", peaks.fp32_tflops, "measured") +
         Figure("tf32_tflops", peaks.tf32_tflops, "measured") +
         Figure("fp16_tflops", peaks.fp16_tflops, "measured") +
         Figure("bf16_tflops", peaks.bf16_tflops, "measured") +
         Figure("dram_gbs", peaks.dram_gbs, "measured") +
         Figure("dram_gb", facts.memory_bytes / 1e9, "the driver") +
         Figure("l2_mb", facts.l2_bytes / 1e6, "the driver");
}

}  // namespace stepcast::collect
