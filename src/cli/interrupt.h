// Ctrl-C as a request to stop and report the results so far.
#ifndef STEPCAST_CLI_INTERRUPT_H_
#define STEPCAST_CLI_INTERRUPT_H_

#include "base/result.h"
#include "explore/run_study.h"

namespace stepcast::cli {

// Which of several processes this one is, as a launcher says in the
// environment.

/// As Open MPI, MPICH and its kin, or Slurm number them; alone if none of them
/// started it. Fails where they contradict themselves.
Result<explore::Process> EnvProcess();

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
