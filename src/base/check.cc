#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace stepcast::internal {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  stream_ << file << ":" << line << ": check failed: " << condition << " ";
}

CheckFailure::~CheckFailure() {
  const std::string message = stream_.str();
  static_cast<void>(std::fprintf(stderr, "%s\n", message.c_str()));
  std::abort();
}

}  // namespace stepcast::internal
