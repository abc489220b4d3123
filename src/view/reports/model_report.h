// The report of a step that was predicted from a model.
#ifndef STEPCAST_VIEW_REPORTS_MODEL_REPORT_H_
#define STEPCAST_VIEW_REPORTS_MODEL_REPORT_H_

#include "engine/run/predict_model.h"
#include "view/reports/prediction.h"

namespace stepcast::view {

/// With its memory, and with what would help if that does not fit. `result`
/// is that of `predicted`, or what changes have made of it.
PredictionReport ReportModel(const engine::Request& request,
                             const engine::ModelPrediction& predicted,
                             const engine::StepResult& result,
                             const sim::TaskTimes* times = nullptr);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_MODEL_REPORT_H_
