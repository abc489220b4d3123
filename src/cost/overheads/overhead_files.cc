#include "cost/overheads/overhead_files.h"

#include <span>

#include "base/files/catalog.h"

namespace stepcast {

std::span<const EmbeddedFile> OverheadFileTexts();

namespace cost {
namespace {

const Catalog<OverheadData>& OverheadFiles() {
  static const Catalog<OverheadData> files(
      {.what = "overheads", .files = OverheadFileTexts()}, &ParseOverheads);
  return files;
}

}  // namespace

const std::vector<std::string>& OverheadNames() {
  return OverheadFiles().names();
}

Result<const OverheadData*> FindOwnOverheads(std::string_view name) {
  return OverheadFiles().Find(name);
}

Result<OverheadData> LoadOverheads(std::string_view name) {
  ASSIGN_OR_RETURN(const OverheadData* data, FindOwnOverheads(name));
  ASSIGN_OR_RETURN(const OverheadData* shared,
                   FindOwnOverheads(kSharedOverheads));
  return data == shared ? *data : Completed(*data, *shared);
}

}  // namespace cost
}  // namespace stepcast
