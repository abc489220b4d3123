// Any bytes as a Chakra trace: as JSON if they look like it, else as protobuf.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "ingest/chakra/read_chakra.h"
#include "ingest/chakra/read_chakra_json.h"
#include "tests/fuzz/execution_trace_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stepcast::Diagnostics diagnostics;
  const auto source = stepcast::OpenMemory(bytes);
  stepcast::ingest::SniffChakra(bytes);
  const auto file = stepcast::ingest::SniffChakraJson(bytes)
                        ? stepcast::ingest::ReadChakraJson(*source, diagnostics)
                        : stepcast::ingest::ReadChakra(*source, diagnostics);
  if (file) {
    CheckExecutionTrace(*file->execution);
  } else {
    CHECK(!file.error().message.empty());
  }
  return 0;
}
