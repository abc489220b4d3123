// The report of a step that was predicted from a model.
#ifndef STEPCAST_REPORT_MODEL_REPORT_H_
#define STEPCAST_REPORT_MODEL_REPORT_H_

#include "engine/predict_model.h"
#include "report/prediction.h"

namespace stepcast::report {

/// With its memory, and with what would help if that does not fit. `result`
/// is that of `predicted`, or what changes have made of it.
PredictionReport ReportModel(const engine::Request& request,
                             const engine::ModelPrediction& predicted,
                             const engine::StepResult& result);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_MODEL_REPORT_H_
