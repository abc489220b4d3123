// What every change does, each in a file of its own.
#ifndef STEPCAST_WHATIF_CHANGES_ALL_H_
#define STEPCAST_WHATIF_CHANGES_ALL_H_

#include "base/result.h"
#include "engine/predictor.h"
#include "whatif/change.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {

// Of requests: a model is predicted anew.
Status SetGpu(const Change& change, engine::Request& request);
Status SetBatch(const Change& change, engine::Request& request);
Status SetPrecision(const Change& change, engine::Request& request);
Status SetCudaGraphs(const Change& change, engine::Request& request);
Status SetGpus(const Change& change, engine::Request& request);
Status SetNodes(const Change& change, engine::Request& request);
Status SetPlatform(const Change& change, engine::Request& request);
Status SetImpl(const Change& change, engine::Request& request);
Status SetHost(const Change& change, engine::Request& request);
Status SetMlpSize(const Change& change, engine::Request& request);
Status SetTableSize(const Change& change, engine::Request& request);
Status SetPlacement(const Change& change, engine::Request& request);
Status SetDeal(const Change& change, engine::Request& request);
Status SetCommunication(const Change& change, engine::Request& request);
Status SetPinned(const Change& change, engine::Request& request);
Status SetFusedEmbeddings(const Change& change, engine::Request& request);
Status SetFusedOptimizer(const Change& change, engine::Request& request);

// Why the request that all changes make would not differ for this one.
Status CheckNodes(const Change& change, const engine::Request& request);
Status CheckPrecision(const Change& change, const engine::Request& request);
Status CheckCudaGraphs(const Change& change, const engine::Request& request);
Status CheckFusedOptimizer(const Change& change,
                           const engine::Request& request);

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
