// toml++ itself, compiled here alone.
#define TOML_IMPLEMENTATION
// toml++ 3.3 asserts on some malformed headers ("[ = 2 }") that it then reports
// as errors.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include "base/files/toml_read.h"
