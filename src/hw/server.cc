#include "hw/server.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/toml_read.h"
#include "hw/read_figure.h"

namespace stepcast::hw {
namespace {

constexpr std::array kServerFields = {
    ServerField{"sockets", &Server::sockets, 1, 64, ""},
    ServerField{"cores_per_socket", &Server::cores_per_socket, 1, 1024, ""},
    ServerField{"base_ghz", &Server::base_ghz, 0.5, 10, "GHz"},
    ServerField{"turbo_ghz", &Server::turbo_ghz, 0.5, 10, "GHz"},
    ServerField{"vector_ghz", &Server::vector_ghz, 0.5, 10, "GHz"},
    ServerField{"fp32_flops_per_clock", &Server::fp32_flops_per_clock, 2, 4096,
                "FLOP"},
    ServerField{"bf16_flops_per_clock", &Server::bf16_flops_per_clock, 2, 65536,
                "FLOP"},
    ServerField{"cache_mb", &Server::cache_mb, 0.5, 10000, "MB"},
    ServerField{"memory_gb", &Server::memory_gb, 1, 1e6, "GB"},
    ServerField{"memory_gbs", &Server::memory_gbs, 1, 1e5, "GB/s"},
    ServerField{"socket_link_gbs", &Server::socket_link_gbs, 1, 5000, "GB/s"},
    ServerField{"nic_gbs", &Server::nic_gbs, 0.05, 2000, "GB/s"},
    ServerField{"tdp_w", &Server::tdp_w, 5, 2000, "W"},
    ServerField{"power_w", &Server::power_w, 10, 1e5, "W"},
    ServerField{"price_usd", &Server::price_usd, 100, 1e8, "USD"},
};

// What no rule can guess.
constexpr std::array<std::string_view, 6> kRequired = {
    "sockets",   "cores_per_socket", "base_ghz", "fp32_flops_per_clock",
    "memory_gb", "memory_gbs"};

}  // namespace

std::span<const ServerField> ServerFields() {
  return kServerFields;
}

Result<Server> ParseServer(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  std::vector<std::string_view> keys = {"name", "title", "notes"};
  for (const ServerField& field : kServerFields) {
    keys.push_back(field.key);
  }
  RETURN_IF_ERROR(CheckKeys(table, keys));
  Server server;
  ASSIGN_OR_RETURN(server.name, GetString(table, "name"));
  ASSIGN_OR_RETURN(server.title, GetString(table, "title"));
  ASSIGN_OR_RETURN(server.notes, GetOptionalString(table, "notes"));
  for (const ServerField& field : kServerFields) {
    if (const toml::node* node = table.get(field.key)) {
      ASSIGN_OR_RETURN(server.*field.member,
                       ReadFigure(*node, {.key = field.key,
                                          .low = field.low,
                                          .high = field.high,
                                          .unit = field.unit}));
    }
  }
  for (const std::string_view key : kRequired) {
    if (!table.contains(key)) {
      return FailAt(table, fmt::format("no '{}'; expected {{ value = ..., "
                                       "source = \"...\" }}",
                                       key));
    }
  }
  return server;
}

}  // namespace stepcast::hw
