// Files of data/ that the build put into the binary (cmake/embed.cmake).
#ifndef STEPCAST_BASE_EMBEDDED_H_
#define STEPCAST_BASE_EMBEDDED_H_

#include <span>
#include <string_view>

namespace stepcast {

struct EmbeddedFile {
  std::string_view name;  // Relative to data/, as in "rules/kernels.toml".
  std::string_view text;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_EMBEDDED_H_
