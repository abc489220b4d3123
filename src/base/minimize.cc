#include "base/minimize.h"

#include <algorithm>
#include <utility>

namespace stepcast {
namespace {

struct Vertex {
  std::vector<double> point;
  double value = 0;
};

// The simplex and the moves of its worst corner.
class Simplex {
 public:
  Simplex(const std::function<double(std::span<const double>)>& function,
          std::vector<double> start, double first_step)
      : function_(function) {
    Add(start);
    for (size_t i = 0; i < start.size(); ++i) {
      std::vector<double> moved = start;
      moved[i] += moved[i] != 0 ? first_step * moved[i] : first_step;
      Add(std::move(moved));
    }
    Sort();
  }

  size_t evaluations() const { return evaluations_; }
  const Vertex& best() const { return corners_.front(); }

  void Step() {
    const Vertex reflected = Along(-1);
    if (reflected.value < corners_.front().value) {
      const Vertex expanded = Along(-2);
      Replace(expanded.value < reflected.value ? expanded : reflected);
    } else if (reflected.value < corners_[corners_.size() - 2].value) {
      Replace(reflected);
    } else {
      const bool outside = reflected.value < corners_.back().value;
      const Vertex contracted = Along(outside ? -0.5 : 0.5);
      if (contracted.value < std::min(reflected.value, corners_.back().value)) {
        Replace(contracted);
      } else {
        Shrink();
      }
    }
    Sort();
  }

 private:
  double Evaluate(std::span<const double> point) {
    ++evaluations_;
    return function_(point);
  }

  void Add(std::vector<double> point) {
    const double value = Evaluate(point);
    corners_.push_back({.point = std::move(point), .value = value});
  }

  // From the middle of the others through the worst, `t` times as far.
  Vertex Along(double t) {
    const size_t size = corners_.front().point.size();
    std::vector<double> point(size);
    for (size_t i = 0; i < size; ++i) {
      double middle = 0;
      for (size_t c = 0; c + 1 < corners_.size(); ++c) {
        middle += corners_[c].point[i];
      }
      middle /= static_cast<double>(size);
      point[i] = middle + t * (corners_.back().point[i] - middle);
    }
    const double value = Evaluate(point);
    return {.point = std::move(point), .value = value};
  }

  void Replace(const Vertex& vertex) { corners_.back() = vertex; }

  void Shrink() {
    for (size_t c = 1; c < corners_.size(); ++c) {
      for (size_t i = 0; i < corners_[c].point.size(); ++i) {
        corners_[c].point[i] =
            (corners_[c].point[i] + corners_.front().point[i]) / 2;
      }
      corners_[c].value = Evaluate(corners_[c].point);
    }
  }

  void Sort() { std::ranges::stable_sort(corners_, {}, &Vertex::value); }

  const std::function<double(std::span<const double>)>& function_;
  std::vector<Vertex> corners_;
  size_t evaluations_ = 0;
};

}  // namespace

std::vector<double> Minimize(
    const std::function<double(std::span<const double>)>& function,
    std::vector<double> start, const MinimizeOptions& options) {
  if (start.empty()) {
    return start;
  }
  Simplex simplex(function, std::move(start), options.first_step);
  while (simplex.evaluations() < options.evaluations) {
    simplex.Step();
  }
  return simplex.best().point;
}

}  // namespace stepcast
