#include "hw/server_files.h"

#include <span>

#include "base/catalog.h"
#include "hw/set_figures.h"

namespace stepcast {

std::span<const EmbeddedFile> ServerFileTexts();

namespace hw {

namespace {

const Catalog<Server>& Servers() {
  static const Catalog<Server> servers(
      {.what = "server", .files = ServerFileTexts()}, &ParseServer);
  return servers;
}

}  // namespace

Result<std::vector<Server>> LoadServers() {
  ASSIGN_OR_RETURN(const auto all, Servers().All());
  std::vector<Server> servers;
  for (const Server* server : all) {
    servers.push_back(*server);
  }
  return servers;
}

Result<Server> FindServer(std::string_view text) {
  ASSIGN_OR_RETURN(const Server* found,
                   Servers().Find(NameBeforeFigures(text)));
  Server server = *found;
  RETURN_IF_ERROR(SetFigures(text, "server", ServerFields(), server));
  return server;
}

Result<Host> FindHost(std::string_view text) {
  ASSIGN_OR_RETURN(const Server server, FindServer(text));
  return MakeHost(server);
}

}  // namespace hw
}  // namespace stepcast
