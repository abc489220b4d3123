// placement: tables in other memory.
#include "engine/place_tables.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

Status SetPlacement(const Change& change, engine::Request& request) {
  return engine::SetPlacement(change.value, request);
}

}  // namespace stepcast::whatif
