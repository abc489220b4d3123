#include "base/result.h"

#include <fmt/format.h>

namespace stepcast {

tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected(Error{.code = code, .message = std::move(message)});
}

tl::unexpected<Error> Prefixed(std::string_view prefix, Error error) {
  return Fail(error.code, fmt::format("{}: {}", prefix, error.message));
}

}  // namespace stepcast
