// Any bytes as a Perfetto trace of PyTorch's profiler.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "trace/read/pftrace/read_pftrace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stepcast::Diagnostics diagnostics;
  const auto source = stepcast::OpenMemory(bytes);
  stepcast::trace::SniffPftrace(bytes);
  const auto file = stepcast::trace::ReadPftrace(*source, diagnostics);
  if (file) {
    CHECK(file->profiler.has_value());
  } else {
    CHECK(!file.error().message.empty());
  }
  return 0;
}
