// Where a table lives: in the GPU's memory or further away.
#ifndef STEPCAST_MODEL_TABLES_PLACEMENT_H_
#define STEPCAST_MODEL_TABLES_PLACEMENT_H_

#include <string_view>

#include "base/result.h"

namespace stepcast::model {

enum class Placement {
  kHbm,        // The GPU's memory.
  kUvm,        // Host memory, rows read by the GPU over PCIe.
  kUvmCache,   // The same after a cache of rows in the GPU's memory.
  kHostCache,  // The same, but the host gathers and copies missing rows.
  kHost,       // Host memory, looked up by the host, vectors copied.
  kRemote,     // Parameter servers, vectors sent over the network and copied.
};

/// "hbm", "uvm", "uvm-cache", "host-cache", "host", "remote": as in files and
/// options.
std::string_view Name(Placement placement);
/// The error lists what is known.
Result<Placement> ParsePlacement(std::string_view text);

/// Whether some rows are on the GPU.
inline bool IsCached(Placement placement) {
  return placement == Placement::kUvmCache ||
         placement == Placement::kHostCache;
}

/// Of caches: the share of the rows that the GPU holds if nobody says
/// otherwise. TorchRec's default load factor.
inline constexpr double kUsualCache = 0.2;

struct Model;

/// Places all tables of the model ("host", "uvm-cache", "uvm-cache:0.05" with
/// the share of rows that is cached), or as a file says.
Status PlaceTables(std::string_view word_or_file, Model& model);

/// The same from the text of a file: what tables that are not listed have, and
/// sections with the numbers of tables, in the model's order from 0.
///   placement = "hbm"
///   [[tables]]
///   numbers = [0, 9]
///   placement = "uvm-cache"
///   cache = 0.1
Status PlaceTablesByText(std::string_view text, std::string_view source,
                         Model& model);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_TABLES_PLACEMENT_H_
