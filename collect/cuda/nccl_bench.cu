// Measures NCCL's collectives on the GPUs of this server, all in one process.
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nccl.h>
#include <unistd.h>

#include "collect/cuda/cuda_device.h"
#include "collect/cuda/cuda_memory.h"
#include "collect/cuda/program.h"

namespace stepcast::collect {
namespace {

constexpr int64_t kNumberBytes = 4;  // All is FP32.

// One GPU's part in a collective.
struct Rank {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float* send = nullptr;
  float* receive = nullptr;
};

// Ranks that talk to each other; kept from point to point.
struct Clique {
  std::vector<ncclComm_t> comms{};
  std::vector<cudaStream_t> streams{};
};

// All of a rank's messages to everybody, itself included.
ncclResult_t AllToAll(const Rank& rank, size_t each, int ranks) {
  for (int other = 0; other < ranks; ++other) {
    const size_t place = static_cast<size_t>(other) * each;
    ncclResult_t result = ncclSend(rank.send + place, each, ncclFloat, other,
                                   rank.comm, rank.stream);
    if (result == ncclSuccess) {
      result = ncclRecv(rank.receive + place, each, ncclFloat, other, rank.comm,
                        rank.stream);
    }
    if (result != ncclSuccess) {
      return result;
    }
  }
  return ncclSuccess;
}

// To the next rank and from the one before, as nccl-tests does.
ncclResult_t SendReceive(const Rank& rank, size_t count, int self, int ranks) {
  const ncclResult_t result = ncclSend(
      rank.send, count, ncclFloat, (self + 1) % ranks, rank.comm, rank.stream);
  return result != ncclSuccess
             ? result
             : ncclRecv(rank.receive, count, ncclFloat,
                        (self + ranks - 1) % ranks, rank.comm, rank.stream);
}

// Bytes are counted as nccl-tests does: docs/formats/kernel_csv.md.
ncclResult_t Enqueue(const Point& point, const Rank& rank, int self) {
  const auto ranks = static_cast<int>(point.ranks);
  const auto count = static_cast<size_t>(point.bytes / kNumberBytes);
  const size_t each = count / static_cast<size_t>(ranks);
  if (point.op == "all_reduce") {
    return ncclAllReduce(rank.send, rank.receive, count, ncclFloat, ncclSum,
                         rank.comm, rank.stream);
  }
  if (point.op == "all_gather") {
    return ncclAllGather(rank.send, rank.receive, each, ncclFloat, rank.comm,
                         rank.stream);
  }
  if (point.op == "reduce_scatter") {
    return ncclReduceScatter(rank.send, rank.receive, each, ncclFloat, ncclSum,
                             rank.comm, rank.stream);
  }
  if (point.op == "broadcast") {
    return ncclBroadcast(rank.send, rank.receive, count, ncclFloat, 0,
                         rank.comm, rank.stream);
  }
  return point.op == "alltoall" ? AllToAll(rank, each, ranks)
                                : SendReceive(rank, count, self, ranks);
}

class NcclPrepared : public Prepared {
 public:
  NcclPrepared(Point point, std::vector<Rank> ranks, std::vector<Memory> kept)
      : point_(std::move(point)),
        ranks_(std::move(ranks)),
        kept_(std::move(kept)) {}

  int64_t calls() const override { return 1; }
  std::string timing() const override { return "loop"; }

  double RunUs(int64_t rounds) override {
    using HostClock = std::chrono::steady_clock;
    if (!Wait()) {
      return -1;
    }
    const auto start = HostClock::now();
    for (int64_t i = 0; i < rounds; ++i) {
      if (!Together()) {
        return -1;
      }
    }
    if (!Wait()) {
      return -1;
    }
    return std::chrono::duration<double, std::micro>(HostClock::now() - start)
        .count();
  }

 private:
  bool Together() {
    bool is_good = ncclGroupStart() == ncclSuccess;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      is_good = is_good &&
                Enqueue(point_, ranks_[i], static_cast<int>(i)) == ncclSuccess;
    }
    return ncclGroupEnd() == ncclSuccess && is_good;
  }

  bool Wait() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (cudaSetDevice(static_cast<int>(i)) != cudaSuccess ||
          cudaStreamSynchronize(ranks_[i].stream) != cudaSuccess) {
        return false;
      }
    }
    return true;
  }

  Point point_;
  std::vector<Rank> ranks_;
  std::vector<Memory> kept_;
};

class NcclDevice : public Device {
 public:
  explicit NcclDevice(DeviceFacts facts) : facts_(std::move(facts)) {}
  ~NcclDevice() override {
    for (auto& [ranks, clique] : cliques_) {
      for (size_t i = 0; i < clique.comms.size(); ++i) {
        cudaSetDevice(static_cast<int>(i));
        ncclCommDestroy(clique.comms[i]);
        cudaStreamDestroy(clique.streams[i]);
      }
    }
  }
  NcclDevice(const NcclDevice&) = delete;
  NcclDevice& operator=(const NcclDevice&) = delete;

  const DeviceFacts& facts() const override { return facts_; }

  std::unique_ptr<Prepared> Prepare(const Point& point, int64_t /*copies*/,
                                    std::string& why) override {
    const Clique* clique = FindClique(static_cast<int>(point.ranks), why);
    if (clique == nullptr) {
      return nullptr;
    }
    std::vector<Rank> ranks;
    std::vector<Memory> kept;
    for (size_t i = 0; i < clique->comms.size(); ++i) {
      if (!Succeeded(cudaSetDevice(static_cast<int>(i)), why)) {
        return nullptr;
      }
      const Memory send = AllocateDevice(point.bytes, why);
      const Memory receive = AllocateDevice(point.bytes, why);
      if (send == nullptr || receive == nullptr ||
          !Succeeded(FillRandom(send.get(), point.bytes / kNumberBytes, "fp32",
                                clique->streams[i]),
                     why)) {
        return nullptr;
      }
      Rank rank;
      rank.comm = clique->comms[i];
      rank.stream = clique->streams[i];
      rank.send = static_cast<float*>(send.get());
      rank.receive = static_cast<float*>(receive.get());
      ranks.push_back(rank);
      kept.push_back(send);
      kept.push_back(receive);
    }
    return std::make_unique<NcclPrepared>(point, std::move(ranks),
                                          std::move(kept));
  }

 private:
  // The first `ranks` GPUs; made when they are first asked for.
  const Clique* FindClique(int ranks, std::string& why) {
    const auto found = cliques_.find(ranks);
    if (found != cliques_.end()) {
      return &found->second;
    }
    Clique clique;
    clique.comms.resize(static_cast<size_t>(ranks));
    clique.streams.resize(static_cast<size_t>(ranks));
    const ncclResult_t result =
        ncclCommInitAll(clique.comms.data(), ranks, nullptr);
    if (result != ncclSuccess) {
      why = ncclGetErrorString(result);
      return nullptr;
    }
    for (int i = 0; i < ranks; ++i) {
      if (!Succeeded(cudaSetDevice(i), why) ||
          !Succeeded(
              cudaStreamCreateWithFlags(&clique.streams[static_cast<size_t>(i)],
                                        cudaStreamNonBlocking),
              why)) {
        return nullptr;
      }
    }
    return &cliques_.emplace(ranks, std::move(clique)).first->second;
  }

  DeviceFacts facts_;
  std::map<int, Clique> cliques_{};
};

std::unique_ptr<Device> OpenNcclDevice(int /*number*/, std::string& why) {
  DeviceFacts facts;
  if (!ReadFacts(0, facts, why)) {
    return nullptr;
  }
  if (facts.gpus < 2) {
    why = "there is one GPU; expected two or more for collectives";
    return nullptr;
  }
  return std::make_unique<NcclDevice>(std::move(facts));
}

}  // namespace
}  // namespace stepcast::collect

int main(int count, char** words) {
  namespace collect = stepcast::collect;
  return collect::RunProgram(collect::NcclBenchText(),
                             std::vector<std::string>(words + 1, words + count),
                             collect::OpenNcclDevice,
                             {std::cout, std::cerr, isatty(STDERR_FILENO) != 0,
                              collect::SteadyClock()});
}
