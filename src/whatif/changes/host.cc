// host: another host, by its set of overheads.
#include "cost/overheads/overhead_files.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

Status SetHost(const Change& change, engine::Request& request) {
  ASSIGN_OR_RETURN(const cost::OverheadData data,
                   cost::LoadOverheads(change.value));
  request.overheads = change.value;
  return {};
}

}  // namespace stepcast::whatif
