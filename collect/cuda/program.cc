#include "collect/cuda/program.h"

#include <filesystem>
#include <fstream>
#include <ostream>

#include "collect/cuda/bench.h"
#include "collect/cuda/device_file.h"
#include "collect/cuda/journal.h"
#include "collect/cuda/sweep.h"
#include "collect/cuda/table.h"

namespace stepcast::collect {
namespace {

constexpr const char* kNcclBench = "nccl_bench";

bool IsNccl(const ProgramText& program) {
  return program.name == kNcclBench;
}

Point KernelReference() {
  // Long enough to need full clocks: 2 GFLOP, 0.1 ms to 1 ms.
  Point point;
  point.op = "nn";
  point.dtype = "fp32";
  point.m = point.n = point.k = 1024;
  return point;
}

Point CollectiveReference() {
  Point point;
  point.kind = Kind::kCollective;
  point.op = "all_reduce";
  point.dtype = "fp32";
  point.ranks = 2;
  point.bytes = 16 << 20;
  return point;
}

// What must be the same for a sweep to go on, in one cell of the journal.
std::string SettingsText(const ProgramText& program, const Options& options,
                         const std::string& gpu, const DeviceFacts& facts) {
  std::string text = program.name + " gpu=" + gpu +
                     " seed=" + std::to_string(options.seed) +
                     " gpus=" + std::to_string(facts.gpus) +
                     " system=" + options.system + " only=";
  for (const std::string& group : options.only) {
    text += group + ";";
  }
  for (char& letter : text) {
    letter = letter == '\t' || letter == '\n' ? ' ' : letter;
  }
  return text;
}

// Both programs may share --out: each has a journal of its own.
std::string JournalFolder(const ProgramText& program, const Options& options) {
  return (std::filesystem::path(options.out) / program.name).string();
}

bool WriteDeviceFile(const std::string& out, const std::string& name,
                     Device& device, const Clock& clock) {
  const std::filesystem::path path = std::filesystem::path(out) / "device.toml";
  if (std::filesystem::exists(path)) {
    return true;
  }
  const std::string text =
      DeviceFile(name, device.facts(), MeasurePeaks(device, clock));
  const std::filesystem::path scratch = path.string() + ".tmp";
  std::ofstream file(scratch, std::ios::binary);
  file << text;
  file.close();
  std::error_code failed;
  std::filesystem::rename(scratch, path, failed);
  return file && !failed;
}

int Report(const std::string& message, int status, const Surroundings& around) {
  around.err << "error: " << message << "\n";
  return status;
}

std::vector<Point> SweepOf(const ProgramText& program, const Options& options,
                           const DeviceFacts& facts) {
  return IsNccl(program)
             ? MakeCollectiveSweep(options.seed, options.only, facts.gpus)
             : MakeSweep(options.seed, options.only, facts.dtypes);
}

// What is left to say once a run is over.
int Finish(Bench::End end, const Bench& bench, const Journal& journal,
           const Budget& budget, const Surroundings& around) {
  around.err << "bench: " << bench.measured()
             << " points measured in this run, " << journal.Done().size()
             << " done in all, " << ClockText(budget.Spent()) << " spent"
             << (end == Bench::End::kBudget ? "; --minutes more to go on" : "");
  if (bench.throttled() > 0) {
    around.err << "; the GPU was slow " << bench.throttled() << " times";
  }
  around.err << "\n";
  if (end == Bench::End::kDeviceFailed) {
    return Report(
        "the GPU failed at a point, which is left out from now on; "
        "start again to continue after it",
        1, around);
  }
  return end == Bench::End::kDiskFull
             ? Report("the journal cannot be written; is the disk full?", 1,
                      around)
             : 0;
}

}  // namespace

ProgramText KernelBenchText() {
  ProgramText text;
  text.name = "kernel_bench";
  text.what =
      "Measures a GPU's products, lookups, copies, bandwidths and launches: "
      "CSV "
      "files for stepcast.";
  text.groups = GroupNames();
  return text;
}

ProgramText NcclBenchText() {
  ProgramText text;
  text.name = kNcclBench;
  text.what =
      "Measures NCCL's collectives on the GPUs of this server: CSV files for "
      "stepcast.";
  text.groups = CollectiveNames();
  return text;
}

int RunProgram(const ProgramText& program,
               const std::vector<std::string>& words, const DeviceOpener& open,
               const Surroundings& around) {
  const ParsedOptions parsed = ParseOptions(words, program);
  const Options& options = parsed.options;
  if (options.help) {
    around.out << HelpText(program);
    return 0;
  }
  if (!parsed.wrong.empty()) {
    return Report(parsed.wrong, 2, around);
  }
  std::string wrong;
  const std::unique_ptr<Device> device = open(options.device, wrong);
  if (device == nullptr) {
    return Report(wrong, 2, around);
  }
  const std::string gpu =
      options.gpu.empty() ? NameOf(device->facts().title) : options.gpu;
  const std::unique_ptr<Journal> journal =
      Journal::Open(JournalFolder(program, options), wrong);
  if (journal == nullptr) {
    return Report(wrong, 2, around);
  }
  const std::string settings =
      SettingsText(program, options, gpu, device->facts());
  if (journal->Settings().empty()) {
    journal->Add({"start", {settings}});
  } else if (journal->Settings() != settings) {
    return Report("--out has the sweep '" + journal->Settings() + "', not '" +
                      settings + "'; expected the same, or another directory",
                  2, around);
  }
  // What a kill may have left out.
  wrong = WriteTables(options.out, gpu, journal->Rows());
  if (!wrong.empty()) {
    return Report(wrong, 2, around);
  }
  const Budget budget(60 * options.minutes, journal->SpentSeconds(),
                      around.clock);
  if (!IsNccl(program) &&
      !WriteDeviceFile(options.out, gpu, *device, around.clock)) {
    return Report(options.out + "/device.toml: cannot be written", 2, around);
  }
  const std::vector<Point> sweep = SweepOf(program, options, device->facts());
  Progress progress(static_cast<int64_t>(sweep.size()), around.err,
                    around.is_terminal);
  BenchSettings bench_settings;
  bench_settings.context.gpu = gpu;
  bench_settings.context.system =
      options.system.empty() ? "single-node" : options.system;
  bench_settings.reference =
      IsNccl(program) ? CollectiveReference() : KernelReference();
  bench_settings.longest_us = 1e3 * options.longest_ms;
  Bench bench({*device, *journal, budget, progress, around.clock},
              bench_settings);
  const Bench::End end = bench.Run(sweep);
  progress.End();
  wrong = WriteTables(options.out, gpu, journal->Rows());
  return wrong.empty() ? Finish(end, bench, *journal, budget, around)
                       : Report(wrong, 1, around);
}

}  // namespace stepcast::collect
