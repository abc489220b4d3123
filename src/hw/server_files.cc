#include "hw/server_files.h"

#include <span>

#include "base/embedded.h"
#include "hw/machine_files.h"
#include "hw/set_figures.h"

namespace stepcast {

std::span<const EmbeddedFile> ServerFileTexts();

namespace hw {

Result<std::vector<Server>> LoadServers() {
  return LoadMachines(ServerFileTexts(), &ParseServer);
}

Result<Server> FindServer(std::string_view text) {
  ASSIGN_OR_RETURN(Server server, FindMachine(NameBeforeFigures(text), "server",
                                              ServerFileTexts(), &ParseServer));
  RETURN_IF_ERROR(SetFigures(text, "server", ServerFields(), server));
  return server;
}

Result<Host> FindHost(std::string_view text) {
  ASSIGN_OR_RETURN(const Server server, FindServer(text));
  return MakeHost(server);
}

}  // namespace hw
}  // namespace stepcast
