// Results that are either a value or an error the user can act on.
#ifndef STEPCAST_BASE_RESULT_H_
#define STEPCAST_BASE_RESULT_H_

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace stepcast {

enum class ErrorCode { kNotFound, kInvalidInput, kUnsupported, kIo };

/// What went wrong, where, and what was expected, in one line.
struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

tl::unexpected<Error> Fail(ErrorCode code, std::string message);

/// The same error with `prefix` in front of its message, as in "file.json:
/// ...".
tl::unexpected<Error> Prefixed(std::string_view prefix, Error error);

}  // namespace stepcast

#define STEPCAST_CONCAT_INNER(a, b) a##b
#define STEPCAST_CONCAT(a, b) STEPCAST_CONCAT_INNER(a, b)

/// ASSIGN_OR_RETURN(const Foo foo, MakeFoo()): the value, or return its error.
#define ASSIGN_OR_RETURN(declaration, expression)                            \
  STEPCAST_ASSIGN_OR_RETURN(STEPCAST_CONCAT(result_, __LINE__), declaration, \
                            expression)
#define STEPCAST_ASSIGN_OR_RETURN(temporary, declaration, expression) \
  auto temporary = (expression);                                      \
  if (!temporary) {                                                   \
    return tl::unexpected(std::move(temporary).error());              \
  }                                                                   \
  declaration = *std::move(temporary)

/// RETURN_IF_ERROR(DoIt()): go on, or return its error.
#define RETURN_IF_ERROR(expression)                   \
  if (auto status = (expression); !status) {          \
    return tl::unexpected(std::move(status).error()); \
  }                                                   \
  static_assert(true, "require a semicolon")

#endif  // STEPCAST_BASE_RESULT_H_
