// The table "Measured facts" of the README next to the recorded traces.
#ifndef STEPCAST_TESTS_SHARED_README_FACTS_H_
#define STEPCAST_TESTS_SHARED_README_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::view {

inline constexpr int64_t kNotGiven = -1;
/// External id repeats the correlation and links nothing.
inline constexpr int64_t kCorrelation = -2;

/// One row; times in milliseconds, rounded to 0.01.
struct ReadmeFact {
  std::string path{};
  std::string gpu{};
  int64_t rank = kNotGiven;
  int64_t world = kNotGiven;
  std::vector<double> steps_ms{};  // Empty where nothing marks them.
  int64_t ops = 0;
  int64_t ops_with_shapes = 0;
  int64_t threads = 0;
  int64_t runtime_calls = 0;
  int64_t kernels = 0;
  int64_t copies = 0;
  int64_t streams = 0;
  double busy_ms = 0;
  double span_ms = 0;
  double collectives_ms = 0;
  int64_t orphans = 0;
  int64_t linked_by_external_id = 0;
};

// clang-format off
inline const ReadmeFact kFacts[] = {
    // path, GPU,
    // rank, world, steps, ops, with shapes, threads, runtime calls,
    // kernels, copies, streams, busy, span, collectives, orphans, linked
    {"dlrm_hta_V100_rank1of2/rank1.json.gz", "Tesla V100-SXM2-16GB",
     1, 2, {100.3, 122.15, 166.4, 81.97, 107.23, 166.35}, 31236, 28818, 2, 21167,
     9876, 5756, 4, 717.94, 745.24, 251.34, 614, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank0.json.gz", "Tesla V100-SXM2-32GB",
     0, 8, {14.46}, 1633, 1579, 2, 525,
     245, 16, 4, 6.59, 13.01, 5.8, 0, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank1.json.gz", "Tesla V100-SXM2-32GB",
     1, 8, {19.9}, 1633, 1579, 2, 527,
     310, 16, 4, 12.32, 18.75, 11.34, 64, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank2.json.gz", "Tesla V100-SXM2-32GB",
     2, 8, {13.02}, 1633, 1579, 2, 513,
     246, 16, 4, 4.3, 11.35, 3.49, 0, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank3.json.gz", "Tesla V100-SXM2-32GB",
     3, 8, {19.31}, 1633, 1579, 2, 541,
     315, 22, 4, 10.71, 18.85, 9.77, 64, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank4.json.gz", "Tesla V100-SXM2-32GB",
     4, 8, {17.98}, 1633, 1579, 2, 523,
     251, 22, 4, 7.7, 16.59, 6.59, 0, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank5.json.gz", "Tesla V100-SXM2-32GB",
     5, 8, {17.8}, 1633, 1579, 2, 505,
     245, 16, 4, 7.27, 16.39, 6.25, 0, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank6.json.gz", "Tesla V100-SXM2-32GB",
     6, 8, {13.09}, 1633, 1579, 2, 515,
     246, 16, 4, 4.36, 11.41, 3.56, 0, kCorrelation},
    {"dlrm_param_8xV100/kineto/rank7.json.gz", "Tesla V100-SXM2-32GB",
     7, 8, {12.51}, 1633, 1579, 2, 504,
     246, 16, 4, 2.66, 10.97, 1.75, 0, kCorrelation},
    {"dlrm_torchrec_4xV100/run3/rank0.json.gz", "Tesla V100-SXM2-16GB",
     0, 4, {378.4, 134.19, 155.42}, 4335, 0, 2, 1634,
     616, 101, 6, 510.84, 743.21, 261.52, 93, kCorrelation},
    {"dlrm_torchrec_4xV100/run3/rank1.json.gz", "Tesla V100-SXM2-16GB",
     1, 4, {379.34, 134.61, 155.87}, 4335, 0, 2, 1634,
     615, 101, 6, 508.68, 739.26, 250.31, 92, kCorrelation},
    {"dlrm_torchrec_4xV100/run3/rank2.json.gz", "Tesla V100-SXM2-16GB",
     2, 4, {369.05, 142.84, 157.21}, 4335, 0, 2, 1630,
     599, 99, 6, 439.59, 714.59, 108.38, 74, kCorrelation},
    {"dlrm_torchrec_4xV100/run3/rank3.json.gz", "Tesla V100-SXM2-16GB",
     3, 4, {378.21, 135.19, 155.23}, 4335, 0, 2, 1634,
     616, 101, 6, 510.43, 743.19, 251.92, 93, kCorrelation},
    {"dlrm_torchrec_4xV100/straggler_1s/rank0.json.gz", "Tesla V100-SXM2-16GB",
     0, 4, {1346.96, 1108.24, 1132.81}, 4335, 0, 2, 1626,
     617, 101, 6, 3461.8, 3667.68, 3223.53, 94, kCorrelation},
    {"dlrm_torchrec_4xV100/straggler_1s/rank1.json.gz", "Tesla V100-SXM2-16GB",
     1, 4, {1343.23, 1110.68, 1132.79}, 4335, 0, 2, 1626,
     617, 101, 6, 3463.9, 3667.88, 3234.63, 94, kCorrelation},
    {"dlrm_torchrec_4xV100/straggler_1s/rank2.json.gz", "Tesla V100-SXM2-16GB",
     2, 4, {1329.55, 1123.94, 1135.16}, 4335, 0, 2, 1606,
     615, 101, 6, 458.05, 3654.1, 109.96, 92, kCorrelation},
    {"dlrm_torchrec_4xV100/straggler_1s/rank3.json.gz", "Tesla V100-SXM2-16GB",
     3, 4, {1343.3, 1110.81, 1132.61}, 4335, 0, 2, 1626,
     617, 101, 6, 3463.81, 3667.91, 3231.96, 94, kCorrelation},
    {"linear_param_2080Ti/kineto.json.gz", "NVIDIA GeForce RTX 2080 Ti",
     kNotGiven, kNotGiven, {}, 36998, 0, 2, 14515,
     8716, 1640, 1, 370.98, 1008.57, 0.0, 0, kCorrelation},
    {"resnet18_param_2080Ti/kineto.json.gz", "NVIDIA GeForce RTX 2080 Ti",
     kNotGiven, kNotGiven, {}, 39416, 0, 2, 25928,
     9628, 485, 3, 4733.82, 14522.91, 0.0, 0, kCorrelation},
    {"resnet50_hta_ddp_A100/rank0.json.gz", "NVIDIA A100-PG509-200",
     0, 2, {222.44, 219.73, 224.94}, 14346, 0, 2, 8740,
     2700, 1074, 2, 157.5, 660.55, 46.88, 0, 3774},
    {"resnet50_kineto_V100/kineto.json.gz", "Tesla V100-DGXS-32GB",
     kNotGiven, kNotGiven, {159.36, 149.05, 148.66, 151.73, 153.21, 155.72}, 23646, 23622, 2, 11923,
     8772, 324, 1, 602.14, 876.07, 0.0, 0, 9096},
    {"small/hta_cuda_event_sync.json.gz", "NVIDIA A100-PG509-200",
     0, kNotGiven, {3.15}, 10, 0, 1, 12,
     4, 1, 1, 0.05, 0.26, 0.0, 0, kCorrelation},
    {"small/hta_cuda_event_sync_multi_stream.json.gz", "NVIDIA A100-PG509-200",
     0, kNotGiven, {}, 6, 0, 1, 39,
     3, 3, 3, 0.37, 19.51, 0.0, 0, 6},
    {"small/hta_dlrm_sampled_rank0of128.json.gz", "",
     0, 128, {607.31, 622.93}, 2329, 2011, 2, 1204,
     1154, 50, 5, 547.66, 1222.85, 396.2, 0, kCorrelation},
    {"small/hta_mi250_minitoy_train.json.gz", "AMD Radeon Graphics",
     kNotGiven, kNotGiven, {9.29, 0.05}, 70, 64, 2, 21,
     14, 2, 1, 0.15, 8.91, 0.0, 0, 16},
    {"small/hta_simple_add_kineto.json.gz", "NVIDIA A100-PG509-200",
     0, kNotGiven, {}, 28, 0, 1, 15,
     4, 0, 1, 0.02, 108.92, 0.0, 0, kCorrelation},
    {"small/hta_triton_example.json.gz", "NVIDIA A100-PG509-200",
     kNotGiven, kNotGiven, {13336.32}, 3, 1, 1, 2,
     1, 0, 1, 0.0, 0.0, 0.0, 0, 1},
    {"small/tracelens_h100_bert_small_inference.json.gz", "NVIDIA H100 80GB HBM3",
     kNotGiven, kNotGiven, {4.43}, 479, 479, 1, 132,
     60, 1, 1, 0.31, 3.91, 0.0, 0, 61},
    {"small/tracelens_mi210_gpu_only.json.gz", "AMD Instinct MI210",
     kNotGiven, kNotGiven, {}, 0, 0, 0, 631,
     562, 0, 1, 5.34, 5.98, 0.0, 0, 0},
    {"small/tracelens_mi300_bert_small_inference.json.gz", "AMD Instinct MI300X VF",
     kNotGiven, kNotGiven, {4.01}, 519, 519, 1, 161,
     60, 1, 1, 0.39, 3.5, 0.0, 0, 61},
};
// clang-format on

}  // namespace stepcast::view

#endif  // STEPCAST_TESTS_SHARED_README_FACTS_H_
