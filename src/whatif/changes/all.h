// What every change does, each in a file of its own.
#ifndef STEPCAST_WHATIF_CHANGES_ALL_H_
#define STEPCAST_WHATIF_CHANGES_ALL_H_

#include <string_view>

#include "base/result.h"
#include "scenario/job.h"
#include "whatif/change.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {

// Of requests: a model is predicted anew.
Status SetTableSize(const Change& change, scenario::Job& job);
Status SetCommunication(const Change& change, scenario::Job& job);
Status SetPinned(const Change& change, scenario::Job& job);
Status SetFusedEmbeddings(const Change& change, scenario::Job& job);
Status SetFusedOptimizer(const Change& change, scenario::Job& job);

/// Gives a setting a value, for changes that are more than one setting. Fails
/// where it has no effect.
Status SetNamed(const Change& change, std::string_view setting,
                std::string_view value, scenario::Job& job);

/// Whether overlap-comm is asked for what a model can be run with.
bool SetsCommunication(const Change& change);

// Of steps: their times are edited.
Status EditGpu(const Change& change, StepEditor& editor);
Status EditPrecision(const Change& change, StepEditor& editor);
Status EditCudaGraphs(const Change& change, StepEditor& editor);
Status ScaleOp(const Change& change, StepEditor& editor);
Status DropOp(const Change& change, StepEditor& editor);
Status ScaleOverhead(const Change& change, StepEditor& editor);
Status RemoveSync(const Change& change, StepEditor& editor);
Status EditPinned(const Change& change, StepEditor& editor);
Status FuseEmbeddings(const Change& change, StepEditor& editor);
Status FuseElementwise(const Change& change, StepEditor& editor);
Status FuseOptimizer(const Change& change, StepEditor& editor);
Status Fp16Comm(const Change& change, StepEditor& editor);
Status OverlapComm(const Change& change, StepEditor& editor);
Status RemoveStraggler(const Change& change, StepEditor& editor);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_CHANGES_ALL_H_
