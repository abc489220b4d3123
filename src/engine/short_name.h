// Names of ops and kernels, short enough to read.
#ifndef STEPCAST_ENGINE_SHORT_NAME_H_
#define STEPCAST_ENGINE_SHORT_NAME_H_

#include <string>
#include <string_view>

namespace stepcast::engine {

/// "AddmmBackward0" for "autograd::engine::evaluate_function: AddmmBackward0";
/// other ops keep their name.
std::string ShortOpName(std::string_view name);

/// "CatArrayBatchedCopy" for "void at::native::(anonymous
/// namespace)::CatArrayBatchedCopy<float, ...>(...)": without what it returns
/// and takes, and without the spaces it is in. Copies keep their direction:
/// "Memcpy HtoD (Pageable -> Device)".
std::string ShortWorkName(std::string_view name);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_SHORT_NAME_H_
