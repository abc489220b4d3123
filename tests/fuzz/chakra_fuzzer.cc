// Any bytes as a Chakra trace: as JSON if they look like it, else as protobuf.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "tests/fuzz/execution_trace_rules.h"
#include "trace/read/chakra/read_chakra.h"
#include "trace/read/chakra/read_chakra_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stepcast::Diagnostics diagnostics;
  const auto source = stepcast::OpenMemory(bytes);
  stepcast::trace::SniffChakra(bytes);
  const auto file = stepcast::trace::SniffChakraJson(bytes)
                        ? stepcast::trace::ReadChakraJson(*source, diagnostics)
                        : stepcast::trace::ReadChakra(*source, diagnostics);
  if (file) {
    CheckExecutionTrace(*file->execution);
  } else {
    CHECK(!file.error().message.empty());
  }
  return 0;
}
