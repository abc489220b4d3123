// Row ids of embedding lookups with controlled locality.
#ifndef STEPCAST_COLLECT_CUDA_IDS_H_
#define STEPCAST_COLLECT_CUDA_IDS_H_

#include <cstdint>
#include <vector>

#include "collect/cuda/random.h"

namespace stepcast::collect {

/// Draws 1 ... rows with probability in proportion to 1 / rank^alpha, by
/// rejection-inversion (Hoermann and Derflinger 1996): no table, so that ten
/// million rows cost nothing.
class Zipf {
 public:
  /// rows 1 or more; alpha above 0.
  Zipf(int64_t rows, double alpha);

  int64_t Draw(Random& random) const;

 private:
  double Integral(double x) const;
  double InverseIntegral(double y) const;

  int64_t rows_;
  double alpha_;
  double low_ = 0;      // Integral at 1/2, less the probability of rank 1.
  double high_ = 0;     // Integral at rows + 1/2.
  double squeeze_ = 0;  // Within this of the rank no test is needed.
};

/// `count` ids in [0, rows): uniform if alpha is 0, else by a power law whose
/// popular rows are spread over the table, as those of hashed ids are.
std::vector<int64_t> MakeIds(int64_t rows, int64_t count, double alpha,
                             uint64_t seed);

/// How many different ids there are.
int64_t UniqueCount(std::vector<int64_t> ids);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_IDS_H_
