// Published figures of machines: one table of all there are, and reading them
// from files and from what follows a name.
#ifndef STEPCAST_HW_FIGURES_H_
#define STEPCAST_HW_FIGURES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/toml_read.h"
#include "base/result.h"

namespace stepcast::hw {

/// One published number and where it was found.
struct Figure {
  double value = 0;
  std::string source;
};

/// By key: "dram_gbs". What nobody published is absent.
using Figures = std::map<std::string, Figure, std::less<>>;
std::optional<double> ValueOf(const Figures& figures, std::string_view key);

/// What has figures, as a bit: a GPU, a node with GPUs ("platform") and one
/// whose processors compute ("server").
enum class MachineKind : uint8_t { kGpu = 1, kPlatform = 2, kServer = 4 };
/// The word for it in messages.
std::string_view Name(MachineKind machine);

/// A figure, the range in which it makes sense (outside it the unit is wrong)
/// and what it says. Rates are GB/s (1e9), in one direction unless said.
struct FigureField {
  std::string_view key;
  uint8_t of = 0;  // Bits of MachineKind.
  double low = 0;
  double high = 0;
  std::string_view unit;
  std::string_view help;
  /// The least of a processor that is described as a GPU.
  std::optional<double> cpu_low{};
};
/// All of them, in the order in which they are listed.
std::span<const FigureField> FigureFields();

bool IsOf(const FigureField& field, MachineKind machine);

/// Fails at keys of `table` that are neither in `names` nor figures of such a
/// machine.
Status CheckMachineKeys(const toml::table& table, MachineKind machine,
                        std::vector<std::string_view> names);
/// The figures of a file, each { value = 1.5, source = "datasheet" }.
/// `is_cpu`: of a processor that is described as a GPU.
Result<Figures> ReadFigures(const toml::table& table, MachineKind machine,
                            bool is_cpu = false);

/// The source of figures that a user wants to try.
inline constexpr std::string_view kAskedFor = "as asked for";
/// "nic_gbs=6", "nic_gbs=400Gb/s": that figure, as if the file said so.
Status SetFigure(std::string_view text, MachineKind machine, Figures& figures);
/// All that follow a name: "zion@host_memory_gbs=500,nic_gbs=6".
Status SetFigures(std::string_view text, MachineKind machine, Figures& figures);
/// The name before them.
inline std::string_view NameBeforeFigures(std::string_view text) {
  return text.substr(0, text.find('@'));
}

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_FIGURES_H_
