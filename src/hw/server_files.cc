#include "hw/server_files.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"
#include "hw/set_figures.h"

namespace stepcast {

std::span<const EmbeddedFile> ServerFileTexts();

namespace hw {
namespace {

// A file is called as its server.
std::string_view NameOf(const EmbeddedFile& file) {
  const std::string_view name = file.name.substr(file.name.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

Result<Server> ParseFile(const EmbeddedFile& file) {
  ASSIGN_OR_RETURN(Server server, ParseServer(file.text, file.name));
  CHECK(server.name == NameOf(file)) << file.name;
  return server;
}

Result<Server> FindNamed(std::string_view text) {
  if (text.ends_with(".toml")) {
    const std::filesystem::path path(text);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    return ParseServer(content, path.string());
  }
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : ServerFileTexts()) {
    if (NameOf(file) == text) {
      return ParseFile(file);
    }
    names.push_back(NameOf(file));
  }
  std::ranges::sort(names);
  const auto nearest = Nearest(text, names);
  return Fail(ErrorCode::kNotFound,
              nearest ? fmt::format("unknown server '{}'; did you mean {}?",
                                    text, *nearest)
                      : fmt::format("unknown server '{}'; expected a .toml "
                                    "file or one of: {}",
                                    text, fmt::join(names, ", ")));
}

}  // namespace

Result<std::vector<Server>> LoadServers() {
  std::vector<Server> servers;
  for (const EmbeddedFile& file : ServerFileTexts()) {
    ASSIGN_OR_RETURN(Server server, ParseFile(file));
    servers.push_back(std::move(server));
  }
  std::ranges::sort(servers, {}, &Server::name);
  return servers;
}

Result<Server> FindServer(std::string_view text) {
  ASSIGN_OR_RETURN(Server server, FindNamed(NameBeforeFigures(text)));
  RETURN_IF_ERROR(SetFigures(text, "server", ServerFields(), server));
  return server;
}

Result<Host> FindHost(std::string_view text) {
  ASSIGN_OR_RETURN(const Server server, FindServer(text));
  return MakeHost(server);
}

}  // namespace hw
}  // namespace stepcast
