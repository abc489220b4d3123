// What is published about a server without GPUs: data/servers/<name>.toml.
#ifndef STEPCAST_HW_SERVER_H_
#define STEPCAST_HW_SERVER_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hw/gpu.h"

namespace stepcast::hw {

/// What is known of a server whose processors do the work, and nothing that is
/// not. Host (host.h) fills the gaps by rule. Rates are GB/s (1e9) in one
/// direction.
struct Server {
  std::string name;   // "2s-epyc-7742", also the file's name.
  std::string title;  // What people call it.
  std::string notes;

  std::optional<Figure> sockets;
  std::optional<Figure> cores_per_socket;      // That are ours, of a slice.
  std::optional<Figure> base_ghz;              // What the vendor promises.
  std::optional<Figure> turbo_ghz;             // Of one core alone.
  std::optional<Figure> vector_ghz;            // All cores, vector units busy.
  std::optional<Figure> fp32_flops_per_clock;  // Of a core.
  std::optional<Figure> bf16_flops_per_clock;  // Absent: no such unit.
  std::optional<Figure> cache_mb;              // The last level, a socket.
  std::optional<Figure> memory_gb;             // Of the server.
  std::optional<Figure> memory_gbs;            // Of the server.
  std::optional<Figure> socket_link_gbs;       // All links of a socket.
  std::optional<Figure> nic_gbs;               // All adapters.
  std::optional<Figure> tdp_w;                 // Of a socket.
  std::optional<Figure> power_w;               // Of the server, busy.
  std::optional<Figure> price_usd;             // Of the server.
};

/// A figure of a Server by its key, with the range in which it makes sense.
struct ServerField {
  std::string_view key;
  std::optional<Figure> Server::*member = nullptr;
  double low = 0;
  double high = 0;
  std::string_view unit;
};
std::span<const ServerField> ServerFields();

/// Reads a server file. `source` is its name in messages.
Result<Server> ParseServer(std::string_view text, std::string_view source);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_SERVER_H_
