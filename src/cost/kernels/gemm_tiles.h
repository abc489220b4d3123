// The thread-block tiles that a GEMM library chooses from.
//
// One block makes one tile of the output. How many tiles there are for each SM
// decides how well the GPU is filled: the last wave of them may be half empty,
// and the tiles at the border stick out.
#ifndef STEPCAST_COST_KERNELS_GEMM_TILES_H_
#define STEPCAST_COST_KERNELS_GEMM_TILES_H_

#include <span>

#include "cost/machine.h"
#include "ir/dtype.h"

namespace stepcast::cost {

struct GemmTile {
  double n = 0;  // Columns of the output: what cuBLAS names first.
  double m = 0;  // Rows.
  /// Elements loaded for each product, over those of the best tile in its list.
  double reread = 0;
  /// How much of an SM is idle if the tile is alone on it: warps that are
  /// missing for full rate, over those of the tile.
  double lone = 0;
  double log2_results = 0;  // Of a tile.
};

/// Whether matrix units multiply this type, or the vector lanes.
bool OnMatrixUnits(ir::DType dtype, const Machine& machine);

/// What the library has for this kind of GEMM; never empty.
std::span<const GemmTile> GemmTiles(bool matrix_units, bool batched,
                                    hw::Generation generation);

/// The tiles that a learned correction looks at, six of them.
std::span<const GemmTile> GemmFeatureTiles(bool matrix_units);

/// Tiles for each SM, with borders filled up. Pascal's 128-lane SMs count
/// twice: each half has its own scheduler and registers for a tile.
double TilesPerSm(double batch, double m, double n, const GemmTile& tile,
                  double sms);
double GemmSms(const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_GEMM_TILES_H_
