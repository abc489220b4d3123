// The functions of XGBoost, whose library is loaded when a fit first needs it:
// loading takes as long as a prediction, which needs none of it.
#ifndef STEPCAST_FIT_XGBOOST_LIBRARY_H_
#define STEPCAST_FIT_XGBOOST_LIBRARY_H_

#include <xgboost/c_api.h>

#include "base/result.h"

namespace stepcast::fit {

/// As c_api.h declares them, without "XG".
struct XgboostLibrary {
  decltype(&XGBGetLastError) get_last_error = nullptr;
  decltype(&XGDMatrixCreateFromMat) matrix_create = nullptr;
  decltype(&XGDMatrixFree) matrix_free = nullptr;
  decltype(&XGBoosterCreate) booster_create = nullptr;
  decltype(&XGBoosterFree) booster_free = nullptr;
  decltype(&XGBoosterSetParam) booster_set_param = nullptr;
  decltype(&XGBoosterBoostOneIter) booster_boost = nullptr;
  decltype(&XGBoosterPredict) booster_predict = nullptr;
  decltype(&XGBoosterDumpModelEx) booster_dump = nullptr;
};

/// The same for all threads; stays loaded.
Result<const XgboostLibrary*> LoadXgboost();

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_XGBOOST_LIBRARY_H_
