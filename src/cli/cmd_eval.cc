// stepcast eval: predicted against measured.
#include <array>

#include "cli/ask_command.h"
#include "cli/commands.h"
#include "cli/kinds.h"

namespace stepcast::cli {
namespace {

template <const char* kVerb>
Status Eval(const Words& words) {
  const Result<Outcome> outcome = AskCommand(kVerb, words);
  return outcome ? Status() : Status(tl::unexpected(outcome.error()));
}

constexpr char kKernels[] = "eval kernels";
constexpr char kOverheads[] = "eval overheads";
constexpr char kSteps[] = "eval steps";

}  // namespace

Status RunEval(const Words& words) {
  constexpr std::array kKinds = {
      Kind{"kernels", "kernel times and collectives, by op, GPU and type",
           Eval<kKernels>},
      Kind{"overheads", "steps of a run from the overheads of its other steps",
           Eval<kOverheads>},
      Kind{"steps", "published step times of models on GPUs", Eval<kSteps>},
  };
  return RunKind("eval", "Compares what is predicted with what was measured.",
                 kKinds, words);
}

}  // namespace stepcast::cli
