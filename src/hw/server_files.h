// The servers that are built in, and servers from files of the user.
#ifndef STEPCAST_HW_SERVER_FILES_H_
#define STEPCAST_HW_SERVER_FILES_H_

#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/host.h"
#include "hw/server.h"

namespace stepcast::hw {

/// Every built-in server, by name.
Result<std::vector<Server>> LoadServers();

/// A server by what the user calls it: a built-in name ("2s-epyc-7742") or a
/// path ending in .toml. An unknown name lists the known ones. Figures behind
/// it replace its own: "2s-skylake@nic_gbs=12.5".
Result<Server> FindServer(std::string_view text);

/// The same with every number filled in.
Result<Host> FindHost(std::string_view text);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_SERVER_FILES_H_
