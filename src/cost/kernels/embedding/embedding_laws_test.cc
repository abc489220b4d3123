// Laws of the embedding formulas, on many shapes and GPUs.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cost/kernels/embedding/embedding.h"
#include "cost/kernels/embedding/embedding_testing.h"
#include "cost/machine_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::BagKernel;
using ir::BagPart;
using ir::EmbeddingBag;
using ir::Pass;
using ir::Update;

// 8 tables of a million rows, 100 random ids per bag, with FBGEMM's kernel.
EmbeddingBag RandomBag() {
  EmbeddingBag bag = RandomDlrm();
  bag.kernel = EmbeddingBag{}.kernel;
  return bag;
}

std::vector<EmbeddingBag> ManyBags() {
  std::vector<EmbeddingBag> bags;
  for (const int64_t tables : {1, 8, 40}) {
    for (const int64_t rows : {100, 20'000, 3'000'000}) {
      for (const int64_t dim : {16, 100, 256}) {
        for (const int64_t batch : {64, 2048}) {
          for (const double alpha : {0.0, 1.05}) {
            bags.push_back({.tables = tables,
                            .rows = rows * tables,
                            .dim = dim,
                            .batch = batch,
                            .lookups = 4 * batch * tables,
                            .dtype = ir::DType::kFp32,
                            .index_alpha = alpha,
                            .longest_bag = 4});
          }
        }
      }
    }
  }
  return bags;
}

const std::vector<EmbeddingBag> kBagKinds = {
    {.pass = Pass::kForward},
    {.pass = Pass::kBackward, .update = Update::kSgd},
    {.pass = Pass::kBackward, .update = Update::kRowwiseAdagrad},
    {.pass = Pass::kBackward,
     .update = Update::kSgd,
     .kernel = BagKernel::kAtomic},
};

template <typename Function>
void ForEveryBag(const Function& check) {
  for (const std::string_view gpu : {"v100-sxm-16gb", "t4", "b200-sxm-180gb"}) {
    const Machine machine = On(gpu);
    for (EmbeddingBag bag : ManyBags()) {
      for (const EmbeddingBag& kind : kBagKinds) {
        bag.pass = kind.pass;
        bag.update = kind.update;
        bag.kernel = kind.kernel;
        check(bag, machine);
      }
    }
  }
}

TEST(EmbeddingLaws, IsNeverBelowTheRooflineNorItsOwnParts) {
  ForEveryBag([](const EmbeddingBag& bag, const Machine& machine) {
    const Base base = EmbeddingBase(bag, machine);
    EXPECT_GE(base.time_us, base.roofline_us) << ir::ShapeText(bag);
    EXPECT_GE(base.time_us, base.memory_us) << ir::ShapeText(bag);
    EXPECT_GE(base.time_us, base.compute_us) << ir::ShapeText(bag);
    EXPECT_GE(base.time_us, 2) << ir::ShapeText(bag);
  });
}

TEST(EmbeddingLaws, GrowsWithEveryDimension) {
  ForEveryBag([](const EmbeddingBag& bag, const Machine& machine) {
    const double time_us = TimeUs(bag, machine) * (1 - 1e-6);
    EmbeddingBag more = bag;
    more.rows *= 2;
    // Where the ids are sorted, fewer of more rows have so many lookups that a
    // thread block takes care of them.
    EXPECT_GE(TimeUs(more, machine), 0.94 * time_us) << ir::ShapeText(more);
    if (bag.pass == Pass::kForward || bag.kernel == BagKernel::kAtomic) {
      EXPECT_GE(TimeUs(more, machine), time_us) << ir::ShapeText(more);
    }
    more = bag;
    more.dim *= 2;
    EXPECT_GE(TimeUs(more, machine), time_us) << ir::ShapeText(more);
    more = bag;
    more.batch *= 2;
    more.lookups *= 2;
    EXPECT_GE(TimeUs(more, machine), time_us) << ir::ShapeText(more);
    more = bag;
    more.lookups *= 2;
    more.longest_bag *= 2;
    EXPECT_GE(TimeUs(more, machine), time_us) << ir::ShapeText(more);
    more = bag;
    more.tables *= 2;
    more.rows *= 2;
    more.lookups *= 2;
    EXPECT_GE(TimeUs(more, machine), time_us) << ir::ShapeText(more);
  });
}

TEST(EmbeddingLaws, HasNoJumps) {
  const Machine v100 = On("v100-sxm-16gb");
  for (EmbeddingBag bag : {RandomBag(), Backward(RandomBag(), Update::kSgd)}) {
    for (const BagKernel kernel :
         {BagKernel::kAtomic, BagKernel::kTableBatched}) {
      bag.kernel = kernel;
      bag.part =
          kernel == BagKernel::kAtomic ? BagPart::kWhole : BagPart::kShortRuns;
      double before = 0;
      for (double batch = 16; batch < 1e6; batch *= 1.02) {
        bag.batch = static_cast<int64_t>(batch);
        bag.lookups = bag.batch * 800;
        const double now = TimeUs(bag, v100);
        if (before > 0) {
          EXPECT_LT(now / before, 1.15) << batch;
        }
        before = now;
      }
    }
  }
}

TEST(EmbeddingLaws, OfUnequalTablesIsTheSumOfTheirTraffic) {
  // Half of the tables tiny: their rows stay in L2, the others' do not.
  EmbeddingBag bag = RandomBag();
  bag.table_rows = {1'999'900, 100, 1'999'900, 100,
                    1'999'900, 100, 1'999'900, 100};
  EXPECT_LT(TimeUs(bag, On("v100-sxm-16gb")),
            0.75 * TimeUs(RandomBag(), On("v100-sxm-16gb")));
}

TEST(EmbeddingLaws, MoreOptimizerStateTakesLonger) {
  const Machine h100 = On("h100-sxm-80gb");
  const EmbeddingBag bag = PublishedLookup();
  double before = 0;
  for (const Update update :
       {Update::kNone, Update::kSgd, Update::kRowwiseAdagrad, Update::kAdagrad,
        Update::kAdam}) {
    const double now = TimeUs(Backward(bag, update), h100);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GT(TimeUs(Backward(bag, Update::kAdam), h100),
            1.4 * TimeUs(Backward(bag, Update::kSgd), h100));
}

TEST(EmbeddingLaws, GivesEveryGpuASaneTime) {
  const std::vector<std::string> names = hw::GpuNames();
  for (const std::string& name : names) {
    const Machine machine = On(name);
    for (const EmbeddingBag& bag :
         {RandomBag(), Backward(RandomBag(), Update::kRowwiseAdagrad)}) {
      const Base base = EmbeddingBase(bag, machine);
      EXPECT_GT(base.time_us, base.roofline_us) << name;
      EXPECT_LT(base.time_us, 12 * base.roofline_us) << name;
    }
    EmbeddingBag tiny = RandomBag();
    tiny.batch = 1;
    tiny.lookups = 8;
    tiny.longest_bag = 1;
    EXPECT_GT(TimeUs(tiny, machine), 2) << name;
    EXPECT_LT(TimeUs(tiny, machine), 10) << name;
  }
}

}  // namespace
}  // namespace stepcast::cost
