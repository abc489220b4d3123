// Any bytes as a Kineto trace, read and linked.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "tests/testing/check_linked.h"
#include "trace/link/link.h"
#include "trace/read/kineto/read_kineto.h"

namespace {

const stepcast::trace::Rules& BuiltInRules() {
  static const stepcast::trace::Rules rules =
      stepcast::trace::Rules::Load().value();
  return rules;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stepcast::trace::SniffKineto(bytes);
  stepcast::Diagnostics diagnostics;
  const auto source = stepcast::OpenMemory(bytes);
  auto file = stepcast::trace::ReadKineto(*source, diagnostics);
  if (!file) {
    CHECK(!file.error().message.empty());
    return 0;
  }
  const auto linked = stepcast::trace::Link(*std::move(file->profiler),
                                            BuiltInRules(), diagnostics);
  const std::string wrong = stepcast::testing::FindBrokenLink(linked);
  CHECK(wrong.empty()) << wrong;
  for (const auto& diagnostic : diagnostics.list()) {
    CHECK(diagnostic.count > 0) << diagnostic.kind.name;
  }
  return 0;
}
