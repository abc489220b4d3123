// CHECK: states what must be true if our own code is right, in all builds.
#ifndef STEPCAST_BASE_CHECK_H_
#define STEPCAST_BASE_CHECK_H_

#include <sstream>

namespace stepcast::internal {

/// Collects the message of a failed CHECK and aborts when destroyed.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure();

  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

/// Makes both branches of CHECK's conditional void.
struct Voidify {
  void operator&(const std::ostream& /*unused*/) const {}
};

}  // namespace stepcast::internal

#define CHECK(condition)                                                       \
  (condition)                                                                  \
      ? static_cast<void>(0)                                                   \
      : ::stepcast::internal::Voidify() &                                      \
            ::stepcast::internal::CheckFailure(__FILE__, __LINE__, #condition) \
                .stream()

#endif  // STEPCAST_BASE_CHECK_H_
