#include "ir/verify.h"

#include "ir/verify_parts.h"

namespace stepcast::ir {

Status Verify(const GraphData& data) {
  RETURN_IF_ERROR(VerifyIds(data));
  RETURN_IF_ERROR(VerifyHost(data));
  RETURN_IF_ERROR(VerifyDevice(data));
  return VerifyWaits(data);
}

}  // namespace stepcast::ir
