// Any bytes as a PyTorch execution trace.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "tests/fuzz/execution_trace_rules.h"
#include "trace/read/torch_et/read_torch_et.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stepcast::trace::SniffTorchEt(bytes);
  stepcast::Diagnostics diagnostics;
  const auto source = stepcast::OpenMemory(bytes);
  const auto file = stepcast::trace::ReadTorchEt(*source, diagnostics);
  if (file) {
    CheckExecutionTrace(*file->execution);
  } else {
    CHECK(!file.error().message.empty());
  }
  return 0;
}
