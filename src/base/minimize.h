// Finding the least value of a function of a few numbers, without derivatives.
#ifndef STEPCAST_BASE_MINIMIZE_H_
#define STEPCAST_BASE_MINIMIZE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace stepcast {

struct MinimizeOptions {
  size_t evaluations = 400;
  double first_step = 0.1;  // Relative to each number; absolute if it is 0.
};

/// The simplex method of Nelder and Mead (1965) from `start`: the best point
/// found. Deterministic.
std::vector<double> Minimize(
    const std::function<double(std::span<const double>)>& function,
    std::vector<double> start, const MinimizeOptions& options = {});

}  // namespace stepcast

#endif  // STEPCAST_BASE_MINIMIZE_H_
