// Bytes that arrive a few at a time, for tests.
#ifndef STEPCAST_BASE_DRIP_SOURCE_TESTING_H_
#define STEPCAST_BASE_DRIP_SOURCE_TESTING_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"

namespace stepcast {

/// Gives at most `step` bytes at a time, then the end or an error.
class DripSource : public ByteSource {
 public:
  DripSource(std::string_view bytes, size_t step, bool fails = false)
      : left_(bytes), step_(step), fails_(fails) {}

  Result<size_t> Read(std::span<char> buffer) override {
    const size_t count = std::min({buffer.size(), left_.size(), step_});
    if (count == 0 && fails_) {
      return Fail(ErrorCode::kIo, "the disk is gone");
    }
    std::copy_n(left_.data(), count, buffer.data());
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
  size_t step_;
  bool fails_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_DRIP_SOURCE_TESTING_H_
