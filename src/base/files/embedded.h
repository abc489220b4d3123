// Files of data/ that the build put into the binary (cmake/embed.cmake).
#ifndef STEPCAST_BASE_FILES_EMBEDDED_H_
#define STEPCAST_BASE_FILES_EMBEDDED_H_

#include <span>
#include <string_view>

namespace stepcast {

struct EmbeddedFile {
  std::string_view name;  // Relative to data/, as in "rules/kernels.toml".
  std::string_view text;
};

/// Its name without folder and extension: "kernels".
constexpr std::string_view StemOf(const EmbeddedFile& file) {
  const std::string_view name = file.name.substr(file.name.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_FILES_EMBEDDED_H_
