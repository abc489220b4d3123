// Ctrl-C as a wish to have what there is.
#ifndef STEPCAST_CLI_INTERRUPT_H_
#define STEPCAST_CLI_INTERRUPT_H_

namespace stepcast::cli {

/// While it lives the first Ctrl-C is only noted; the next one ends the program
/// as ever. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether there was one.
  static bool Noted();
};

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_INTERRUPT_H_
