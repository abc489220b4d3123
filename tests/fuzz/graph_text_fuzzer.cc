// Any bytes as graph text: what parses must survive writing and parsing again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "ir/text/graph_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto graph = stepcast::ir::ParseGraph(text);
  if (!graph) {
    CHECK(!graph.error().message.empty());
    return 0;
  }
  const std::string written = GraphText(*graph);
  const auto again = stepcast::ir::ParseGraph(written);
  CHECK(again.has_value()) << again.error().message << "\n" << written;
  CHECK(SameContent(*graph, *again)) << written;
  CHECK(GraphText(*again) == written) << written;
  return 0;
}
