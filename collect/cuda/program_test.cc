#include "collect/cuda/program.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/cuda/fake_device.h"

namespace stepcast::collect {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    out_ = fs::path(testing::TempDir()) /
           (std::string("collect_cuda_program_") + test->name());
    fs::remove_all(out_);
  }

  int Run(const ProgramText& program, std::vector<std::string> words) {
    words.insert(words.end(), {"--out", out_.string()});
    err_.str("");
    return RunProgram(
        program, words,
        [](int number, std::string& why) -> std::unique_ptr<Device> {
          if (number > 0) {
            why = "no GPU 1; expected below 1, the number of GPUs";
            return nullptr;
          }
          auto device = std::make_unique<FakeDevice>();
          return device;
        },
        {stdout_, err_, false, SteadyClock()});
  }

  std::string Read(const fs::path& name) const {
    std::ifstream file(out_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path out_;
  std::ostringstream stdout_;
  std::ostringstream err_;
};

TEST_F(ProgramTest, WritesTablesADeviceFileAndAJournal) {
  EXPECT_EQ(Run(KernelBenchText(), {"--only", "launch,bandwidth"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("done in all"));
  EXPECT_THAT(Read("launch/tesla-v100-sxm2-16gb.csv"),
              HasSubstr("tesla-v100-sxm2-16gb,graph_100,"));
  EXPECT_THAT(Read("bandwidth/tesla-v100-sxm2-16gb.csv"), HasSubstr(",read,"));
  EXPECT_THAT(Read("device.toml"), HasSubstr("fp16_tflops"));
}

TEST_F(ProgramTest, ASecondRunWithTheSameWordsAddsNothing) {
  ASSERT_EQ(Run(KernelBenchText(), {"--only", "launch"}), 0);
  const std::string first = Read("launch/tesla-v100-sxm2-16gb.csv");
  // Tables are made from the journal.
  fs::remove_all(out_ / "launch");
  ASSERT_EQ(Run(KernelBenchText(), {"--only", "launch"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("bench: 0 points measured in this run"));
  EXPECT_EQ(Read("launch/tesla-v100-sxm2-16gb.csv"), first);
}

TEST_F(ProgramTest, AnotherSweepDoesNotGoIntoTheSameDirectory) {
  ASSERT_EQ(Run(KernelBenchText(), {"--only", "launch"}), 0);
  EXPECT_EQ(Run(KernelBenchText(), {"--only", "launch", "--seed", "2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected the same, or another directory"));
}

TEST_F(ProgramTest, BothProgramsMayShareADirectory) {
  ASSERT_EQ(Run(KernelBenchText(), {"--only", "launch", "--gpu", "v100"}), 0);
  EXPECT_EQ(Run(NcclBenchText(),
                {"--only", "send_recv", "--gpu", "v100", "--system", "dgx1"}),
            0);
  EXPECT_THAT(Read("collective/v100.csv"),
              HasSubstr("v100,dgx1,send_recv,nccl,fp32,2,1,2,1024,"));
}

TEST_F(ProgramTest, MistakesAreOneLineAndStatusTwo) {
  EXPECT_EQ(Run(KernelBenchText(), {"--device", "1"}), 2);
  EXPECT_EQ(err_.str(),
            "error: no GPU 1; expected below 1, the number of GPUs\n");
  EXPECT_EQ(Run(KernelBenchText(), {"--minutes", "x"}), 2);
  EXPECT_EQ(err_.str(), "error: --minutes is 'x'; expected a number above 0\n");
}

TEST_F(ProgramTest, HelpNeedsNoDevice) {
  EXPECT_EQ(Run(KernelBenchText(), {"--device", "1", "--help"}), 0);
  EXPECT_THAT(stdout_.str(), HasSubstr("Usage: kernel_bench"));
}

}  // namespace
}  // namespace stepcast::collect
