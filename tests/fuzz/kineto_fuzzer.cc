// Any bytes as a Kineto trace, read and linked.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "ingest/kineto/read_kineto.h"
#include "ingest/link.h"
#include "tests/testing/check_linked.h"

namespace {

const stepcast::ingest::Rules& BuiltInRules() {
  static const stepcast::ingest::Rules rules =
      stepcast::ingest::Rules::Load().value();
  return rules;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stepcast::ingest::SniffKineto(bytes);
  stepcast::Diagnostics diagnostics;
  const auto source = stepcast::OpenMemory(bytes);
  auto file = stepcast::ingest::ReadKineto(*source, diagnostics);
  if (!file) {
    CHECK(!file.error().message.empty());
    return 0;
  }
  const auto linked = stepcast::ingest::Link(*std::move(file->profiler),
                                             BuiltInRules(), diagnostics);
  const std::string wrong = stepcast::testing::FindBrokenLink(linked);
  CHECK(wrong.empty()) << wrong;
  for (const auto& diagnostic : diagnostics.list()) {
    CHECK(diagnostic.count > 0) << diagnostic.kind.name;
  }
  return 0;
}
