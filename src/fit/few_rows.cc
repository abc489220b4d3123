#include "fit/few_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace stepcast::fit {
namespace {

// What is expected of a formula on a new GPU, in logarithms of time: a common
// factor, one that changes over so many powers of two of the sizes, and what a
// single row is off by for reasons of its own.
constexpr double kCommon = 0.1;
constexpr double kBySize = 0.15;
constexpr double kSizeScale = 3;
constexpr double kOwn = 0.1;
// Constants differ from GPU to GPU by so much of their range.
constexpr double kConstantShare = 0.1;
// Sizes are the first features of every family.
constexpr size_t kSizes = 4;
// Rows further off than this many of kOwn count less and less: the library took
// another kernel for them.
constexpr double kFarOff = 1;
constexpr int kReweightings = 3;

// Solves A x = b for a positive definite A, by Cholesky's method in place.
std::vector<double> Solve(std::vector<double> a, std::vector<double> b) {
  const size_t n = b.size();
  CHECK(a.size() == n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) {
        sum -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  return b;
}

}  // namespace

FewRows::FewRows(const TrainingRows& rows, const RowGroup& group,
                 const cost::Machine& machine,
                 std::span<const ConstantGroup> constants)
    : rows_(rows) {
  // Far enough to see past roundings to whole tiles.
  constexpr double kStep = 0.05;
  std::vector<std::vector<double>> columns;
  for (const ConstantGroup& one : constants) {
    for (const cost::Constant id : one.constants) {
      const cost::ConstantInfo& info =
          cost::ConstantInfos()[static_cast<size_t>(id)];
      const double place = PlaceInRange(info, machine[id]);
      cost::Machine less = machine;
      cost::Machine more = machine;
      less.constants.Set(id, ValueAtPlace(info, place - kStep));
      more.constants.Set(id, ValueAtPlace(info, place + kStep));
      const double width =
          PlaceInRange(info, more[id]) - PlaceInRange(info, less[id]);
      std::vector<double> column;
      for (const TrainingRow& row : rows.rows) {
        const ir::KernelShape& shape = row.row->shape;
        column.push_back(std::log(group.family->base(shape, more).time_us /
                                  group.family->base(shape, less).time_us) /
                         width);
      }
      columns.push_back(std::move(column));
    }
  }
  slope_count_ = columns.size();
  slopes_.resize(rows.rows.size() * slope_count_);
  for (size_t c = 0; c < slope_count_; ++c) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      slopes_[i * slope_count_ + c] = columns[c][i];
    }
  }
}

double FewRows::Covariance(size_t a, size_t b) const {
  const auto features_a = rows_.FeaturesOf(a);
  const auto features_b = rows_.FeaturesOf(b);
  double distance = 0;
  for (size_t i = 0; i < std::min(kSizes, rows_.feature_count); ++i) {
    const double d = (static_cast<double>(features_a[i]) -
                      static_cast<double>(features_b[i])) /
                     kSizeScale;
    distance += d * d;
  }
  double slopes = 0;
  for (size_t i = 0; i < slope_count_; ++i) {
    slopes += slopes_[a * slope_count_ + i] * slopes_[b * slope_count_ + i];
  }
  return kCommon * kCommon + kBySize * kBySize * std::exp(-distance / 2) +
         kConstantShare * kConstantShare * slopes;
}

std::vector<double> FewRows::Correct(std::span<const size_t> known,
                                     std::span<const size_t> asked) const {
  const size_t n = known.size();
  std::vector<double> covariances(n * n);
  std::vector<double> residuals(n);
  std::vector<double> noise(n);
  for (size_t i = 0; i < n; ++i) {
    const TrainingRow& row = rows_.rows[known[i]];
    const double kernel =
        std::max(row.row->time_us - row.lead_us, 0.01 * row.row->time_us);
    residuals[i] = std::log(kernel / row.base_us);
    // The launch hides a part of what a row knows.
    noise[i] = kOwn * row.row->time_us / kernel;
    for (size_t j = 0; j < n; ++j) {
      covariances[i * n + j] = Covariance(known[i], known[j]);
    }
  }
  std::vector<double> weights(n, 1.0);
  std::vector<double> solution;
  for (int round = 0; round <= kReweightings; ++round) {
    std::vector<double> matrix = covariances;
    for (size_t i = 0; i < n; ++i) {
      matrix[i * n + i] += noise[i] * noise[i] / weights[i];
    }
    solution = Solve(std::move(matrix), residuals);
    for (size_t i = 0; i < n; ++i) {
      double mean = 0;
      for (size_t j = 0; j < n; ++j) {
        mean += covariances[i * n + j] * solution[j];
      }
      const double off = (residuals[i] - mean) / (kFarOff * noise[i]);
      weights[i] = 1 / (1 + off * off);
    }
  }
  std::vector<double> kernel_us;
  for (const size_t place : asked) {
    double mean = 0;
    for (size_t j = 0; j < n; ++j) {
      mean += Covariance(place, known[j]) * solution[j];
    }
    kernel_us.push_back(rows_.rows[place].base_us * std::exp(mean));
  }
  return kernel_us;
}

}  // namespace stepcast::fit
