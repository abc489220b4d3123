// stepcast eval: predicted against measured.
#include <array>

#include "cli/commands.h"
#include "cli/eval_commands.h"
#include "cli/kinds.h"

namespace stepcast::cli {

Status RunEval(const Words& words) {
  constexpr std::array kKinds = {
      Kind{"kernels", "kernel times and collectives, by op, GPU and type",
           EvalKernels},
      Kind{"overheads", "steps of a run from the overheads of its other steps",
           EvalOverheads},
      Kind{"steps", "published step times of models on GPUs", EvalSteps},
  };
  return RunKind("eval", "Compares what is predicted with what was measured.",
                 kKinds, words);
}

}  // namespace stepcast::cli
