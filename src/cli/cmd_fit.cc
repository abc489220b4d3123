// stepcast fit: from measurements to a profile.
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/fit_commands.h"
#include "cli/kinds.h"
#include "cli/output.h"

namespace stepcast::cli {

Status RunFit(const Words& words) {
  constexpr std::array kKinds = {
      Kind{"kernels", "kernel models of a GPU, from measured times",
           FitKernels},
      Kind{"profile", "a whole machine, from its own measurements", FitProfile},
      Kind{"overheads", "the host's time for ops and calls, from traces",
           FitOverheads},
      Kind{"collectives", "collectives of a platform, from measured times",
           FitCollectives},
  };
  return RunKind("fit", "Turns measurements into files for predictions.",
                 kKinds, words);
}

Status WriteProfile(const std::vector<fit::ProfileFile>& files,
                    const std::filesystem::path& directory) {
  for (const fit::ProfileFile& file : files) {
    const std::filesystem::path path = directory / file.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot make {}: {}", path.parent_path().string(),
                              error.message()));
    }
    RETURN_IF_ERROR(WriteOutput(path, file.text));
  }
  return {};
}

}  // namespace stepcast::cli
