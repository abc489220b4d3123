// Which of several processes this one is, as a launcher says in the
// environment.
#ifndef STEPCAST_CLI_ENV_PROCESS_H_
#define STEPCAST_CLI_ENV_PROCESS_H_

#include "base/result.h"
#include "explore/run_study.h"

namespace stepcast::cli {

/// As Open MPI, MPICH and its kin, or Slurm number them; alone if none of them
/// started it. Fails where they contradict themselves.
Result<explore::Process> EnvProcess();

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_ENV_PROCESS_H_
