// The built-in servers without GPUs, and what runs on them, for `stepcast
// list`.
#ifndef STEPCAST_CLI_LIST_SERVERS_H_
#define STEPCAST_CLI_LIST_SERVERS_H_

#include <span>
#include <string>

#include "base/json_write.h"
#include "base/result.h"
#include "hw/figures.h"

namespace stepcast::cli {

/// What is published of a machine, and what is not.
void WritePublished(JsonWriter& json, hw::MachineKind machine,
                    const hw::Figures& figures,
                    std::span<const std::string> derived);

Result<std::string> ServersText();
Result<std::string> ServersJson();

/// The figures of GPUs, platforms and servers that files say and
/// `NAME@KEY=VALUE` replaces.
Result<std::string> FiguresText();
Result<std::string> FiguresJson();

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_LIST_SERVERS_H_
