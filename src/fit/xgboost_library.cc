#include "fit/xgboost_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace stepcast::fit {
namespace {

// What the linker would have noted: the name that the ABI has.
constexpr const char* kFile = STEPCAST_XGBOOST_SONAME;

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<XgboostLibrary> Load() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} cannot be loaded; expected XGBoost to be "
                            "installed, which fits trees",
                            kFile));
  }
  XgboostLibrary found;
  const bool all =
      Find(library, "XGBGetLastError", found.get_last_error) &&
      Find(library, "XGDMatrixCreateFromMat", found.matrix_create) &&
      Find(library, "XGDMatrixFree", found.matrix_free) &&
      Find(library, "XGBoosterCreate", found.booster_create) &&
      Find(library, "XGBoosterFree", found.booster_free) &&
      Find(library, "XGBoosterSetParam", found.booster_set_param) &&
      Find(library, "XGBoosterBoostOneIter", found.booster_boost) &&
      Find(library, "XGBoosterPredict", found.booster_predict) &&
      Find(library, "XGBoosterDumpModelEx", found.booster_dump);
  if (!all) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} lacks functions; expected version 1.6", kFile));
  }
  return found;
}

}  // namespace

Result<const XgboostLibrary*> LoadXgboost() {
  static const Result<XgboostLibrary> kLibrary = Load();
  if (!kLibrary) {
    return tl::unexpected(kLibrary.error());
  }
  return &*kLibrary;
}

}  // namespace stepcast::fit
