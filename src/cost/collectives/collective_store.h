// Where fitted collectives are found: directories of the user, then what is
// built in.
#ifndef STEPCAST_COST_COLLECTIVES_COLLECTIVE_STORE_H_
#define STEPCAST_COST_COLLECTIVES_COLLECTIVE_STORE_H_

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cost/collectives/constants.h"
#include "cost/collectives/curve.h"

namespace stepcast::cost {

/// A directory has collective_constants.toml and <gpu>/<system>.toml, as
/// `stepcast fit collectives` writes them. The first that has a file wins.
class CollectiveStore {
 public:
  explicit CollectiveStore(std::vector<std::filesystem::path> directories = {})
      : directories_(std::move(directories)) {}

  Result<CollectiveConstants> LoadConstants() const;
  /// The curves of a system ("h200-sxm-141gb/single-node"); null if there are
  /// none.
  Result<const CollectiveProfile*> Find(std::string_view system) const;

 private:
  std::vector<std::filesystem::path> directories_;
};

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_COLLECTIVES_COLLECTIVE_STORE_H_
