// A GPU as the sweep sees it.
#ifndef STEPCAST_COLLECT_CUDA_CUDA_DEVICE_H_
#define STEPCAST_COLLECT_CUDA_CUDA_DEVICE_H_

#include <memory>
#include <string>

#include "collect/cuda/device.h"

namespace stepcast::collect {

/// The GPU's properties by the driver; false and `why` if there is none.
bool ReadFacts(int number, DeviceFacts& facts, std::string& why);

/// Null and `why` if there is none.
std::unique_ptr<Device> OpenCudaDevice(int number, std::string& why);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_CUDA_DEVICE_H_
