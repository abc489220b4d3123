#include "cost/collectives/collective_store.h"

#include <span>

#include "base/files/catalog.h"

namespace stepcast {

std::span<const EmbeddedFile> CollectiveFileTexts();

namespace cost {

Result<CollectiveConstants> CollectiveStore::LoadConstants() const {
  static const Catalog<CollectiveConstants> files(
      {.what = "constants", .files = CollectiveFileTexts()},
      &ParseCollectiveConstants);
  ASSIGN_OR_RETURN(const CollectiveConstants* constants,
                   files.FindIn(directories_, "collective_constants"));
  return constants == nullptr ? CollectiveConstants() : *constants;
}

Result<const CollectiveProfile*> CollectiveStore::Find(
    std::string_view system) const {
  static const Catalog<CollectiveProfile> files(
      {.what = "measured system", .files = CollectiveFileTexts()},
      &ParseCollectiveProfile);
  return files.FindIn(directories_, system);
}

}  // namespace cost
}  // namespace stepcast
