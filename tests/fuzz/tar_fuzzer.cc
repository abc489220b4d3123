// Any bytes as a tar archive.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/files/tar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Small enough to be reached, by gzip too.
  constexpr size_t kLimit = size_t{1} << 20;
  stepcast::SniffTar(bytes);
  const auto source = stepcast::OpenMemory(bytes);
  const auto members = stepcast::ReadTar(*source, kLimit);
  if (!members) {
    CHECK(!members.error().message.empty());
    return 0;
  }
  size_t total = 0;
  for (const stepcast::TarMember& member : *members) {
    total += member.bytes.size();
  }
  CHECK(total <= kLimit) << total;
  return 0;
}
