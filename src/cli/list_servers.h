// The built-in servers without GPUs, and what runs on them, for `stepcast
// list`.
#ifndef STEPCAST_CLI_LIST_SERVERS_H_
#define STEPCAST_CLI_LIST_SERVERS_H_

#include <string>

#include "base/result.h"

namespace stepcast::cli {

Result<std::string> ServersText();
Result<std::string> ServersJson();

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_LIST_SERVERS_H_
