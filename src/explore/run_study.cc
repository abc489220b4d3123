#include "explore/run_study.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/string_pool.h"
#include "base/text/text_table.h"
#include "explore/evaluate.h"

namespace stepcast::explore {
namespace {

constexpr std::string_view kBeat = ".\n";
constexpr size_t kChecksumDigits = 16;

std::string Checksum(std::string_view text) {
  return fmt::format("{:016x}", HashBytes(text));
}

// "<checksum> <number> <row>".
std::optional<std::pair<int64_t, Row>> ParseLine(std::string_view line) {
  if (line.size() <= kChecksumDigits || line[kChecksumDigits] != ' ' ||
      line.substr(0, kChecksumDigits) !=
          Checksum(line.substr(kChecksumDigits + 1))) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(kChecksumDigits + 1);
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || end == rest.data() + rest.size() || *end != ' ') {
    return std::nullopt;
  }
  auto row = ParseRow(rest.substr(static_cast<size_t>(end - rest.data()) + 1));
  if (!row) {
    return std::nullopt;
  }
  return std::pair{number, *std::move(row)};
}

// The process whose journal a file of that name is.
std::optional<int> ProcessOf(std::string_view name, std::string_view key) {
  const std::string front = fmt::format("journal-{}-", key);
  constexpr std::string_view kBack = ".txt";
  if (!name.starts_with(front) || !name.ends_with(kBack)) {
    return std::nullopt;
  }
  const std::string_view digits =
      name.substr(front.size(), name.size() - front.size() - kBack.size());
  int process = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), process);
  return error == std::errc() && end == digits.data() + digits.size()
             ? std::optional(process)
             : std::nullopt;
}

// What a file holds from `offset` on.
std::string ReadFrom(const std::filesystem::path& path, uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::filesystem::path JournalPath(const std::filesystem::path& directory,
                                  std::string_view key, int process) {
  return directory / fmt::format("journal-{}-{}.txt", key, process);
}

std::string JournalLine(int64_t number, const Row& row) {
  const std::string text = fmt::format("{} {}", number, RowText(row));
  return fmt::format("{} {}\n", Checksum(text), text);
}

JournalWriter::~JournalWriter() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status JournalWriter::Open(const std::filesystem::path& path) {
  path_ = path;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  descriptor_ =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: cannot write: {}", path.string(),
                            std::strerror(errno)));
  }
  // Ends a line that was cut off.
  return Write("\n");
}

Status JournalWriter::Write(std::string_view line) {
  while (!line.empty()) {
    const ssize_t put = ::write(descriptor_, line.data(), line.size());
    if (put < 0 && errno != EINTR) {
      return Fail(ErrorCode::kIo,
                  fmt::format("{}: cannot write: {}", path_.string(),
                              std::strerror(errno)));
    }
    line.remove_prefix(put > 0 ? static_cast<size_t>(put) : 0);
  }
  return {};
}

Status JournalWriter::Add(int64_t number, const Row& row) {
  return Write(JournalLine(number, row));
}

Status JournalWriter::Beat() {
  return Write(kBeat);
}

std::vector<std::pair<int64_t, Row>> JournalReader::TakeNew() {
  std::vector<std::pair<int64_t, Row>> rows;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory_, error)) {
    const auto process = ProcessOf(entry.path().filename().string(), key_);
    if (!process) {
      continue;
    }
    uint64_t& offset = offsets_[*process];
    const std::string text = ReadFrom(entry.path(), offset);
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      if (auto row =
              ParseLine(std::string_view(text).substr(begin, end - begin))) {
        rows.push_back(*std::move(row));
      }
      begin = end + 1;
    }
    offset += begin;
  }
  return rows;
}

namespace {

using Clock = std::chrono::steady_clock;

// Rows that a process takes in one go: neighbours share models and machines.
constexpr int64_t kStretch = 16;
// Far below any patience, far above what a write costs.
constexpr auto kBeatPeriod = std::chrono::seconds(1);
constexpr auto kPollPeriod = std::chrono::milliseconds(50);

class Runner {
 public:
  Runner(const Study& study, const RunOptions& options)
      : study_(study),
        options_(options),
        designer_(study),
        rows_(static_cast<size_t>(RowCount(study))),
        key_(JournalKey(study, options)),
        reader_(options.directory, key_) {}

  Result<std::vector<Row>> Run();

 private:
  bool keeps() const { return !options_.directory.empty(); }
  void FindOpen();
  void RunThreads();
  void RunOne();
  void Finish(int64_t number, Row row);
  void TakeJournals();
  Status AwaitOthers();
  Status StatusOfOthers(Clock::time_point now);
  void BeatUntil(const std::atomic<bool>& done);

  const Study& study_;
  const RunOptions& options_;
  const Designer designer_;
  std::vector<std::optional<Row>> rows_;
  const std::string key_;
  JournalReader reader_;
  JournalWriter writer_;
  std::vector<int64_t> open_;  // Of this process, to be predicted.
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  Status status_;
  int64_t done_ = 0;
  // When another process's journal last grew, and to what size.
  struct Seen {
    uint64_t bytes = 0;
    Clock::time_point when{};
  };
  std::map<int, Seen> seen_;
};

void Runner::TakeJournals() {
  const Clock::time_point now = Clock::now();
  const auto sizes = reader_.ReadNew([&](int64_t number, Row row) {
    if (number >= 0 && number < std::ssize(rows_)) {
      rows_[static_cast<size_t>(number)] = std::move(row);
    }
  });
  for (const auto& [process, bytes] : sizes) {
    Seen& seen = seen_[process];
    if (bytes != seen.bytes) {
      seen = {.bytes = bytes, .when = now};
    }
  }
}

void Runner::FindOpen() {
  for (int64_t i = 0; i < std::ssize(rows_); ++i) {
    const bool mine =
        (i / kStretch) % options_.process.count == options_.process.number;
    if (mine && !rows_[static_cast<size_t>(i)]) {
      open_.push_back(i);
    }
  }
}

void Runner::Finish(int64_t number, Row row) {
  const std::lock_guard lock(mutex_);
  if (keeps() && status_) {
    status_ = writer_.Add(number, row);
    stopped_ = stopped_ || !status_;
  }
  rows_[static_cast<size_t>(number)] = std::move(row);
  ++done_;
  if (options_.progress && !options_.progress(done_, std::ssize(open_))) {
    stopped_ = true;
  }
}

void Runner::RunOne() {
  Evaluator evaluator({.profiles = options_.profiles,
                       .samples = study_.samples,
                       .seed = study_.seed});
  for (size_t i = next_++; i < open_.size() && !stopped_; i = next_++) {
    const std::vector<Setting> settings = designer_.SettingsOf(open_[i]);
    Finish(open_[i], evaluator.Evaluate(settings));
  }
}

void Runner::RunThreads() {
  size_t threads = options_.threads;
  if (threads == 0) {
    threads = std::max<size_t>(1, std::thread::hardware_concurrency());
  }
  threads = std::min(threads, open_.size());
  std::vector<std::jthread> pool;
  for (size_t i = 1; i < threads; ++i) {
    pool.emplace_back([this] { RunOne(); });
  }
  RunOne();
}

void Runner::BeatUntil(const std::atomic<bool>& done) {
  Clock::time_point last = Clock::now();
  while (!done) {
    std::this_thread::sleep_for(kPollPeriod);
    const Clock::time_point now = Clock::now();
    if (now - last >= kBeatPeriod) {
      const std::lock_guard lock(mutex_);
      last = now;
      // If the disk is full, the next row says so.
      static_cast<void>(writer_.Beat());
    }
  }
}

// Processes that still have rows to predict are alive while their journals
// grow.
Status Runner::StatusOfOthers(Clock::time_point now) {
  for (int64_t i = 0; i < std::ssize(rows_); ++i) {
    const auto process =
        static_cast<int>((i / kStretch) % options_.process.count);
    if (!rows_[static_cast<size_t>(i)] &&
        now - seen_[process].when > options_.patience) {
      return Fail(
          ErrorCode::kIo,
          fmt::format("nothing was heard of process {} of {} for {} s; "
                      "expected its rows in {}; run again to go on",
                      process, options_.process.count,
                      options_.patience.count() / 1000,
                      JournalPath(options_.directory, key_, process).string()));
    }
  }
  return {};
}

Status Runner::AwaitOthers() {
  const Clock::time_point start = Clock::now();
  for (int process = 1; process < options_.process.count; ++process) {
    Seen& seen = seen_[process];
    seen.when = std::max(seen.when, start);
  }
  while (true) {
    TakeJournals();
    const bool all = std::ranges::all_of(
        rows_, [](const std::optional<Row>& row) { return row.has_value(); });
    if (all) {
      return {};
    }
    RETURN_IF_ERROR(StatusOfOthers(Clock::now()));
    std::this_thread::sleep_for(kPollPeriod);
  }
}

Result<std::vector<Row>> Runner::Run() {
  if (keeps()) {
    TakeJournals();
    RETURN_IF_ERROR(writer_.Open(
        JournalPath(options_.directory, key_, options_.process.number)));
  }
  FindOpen();
  {
    std::atomic<bool> done = false;
    std::jthread beat;
    if (options_.process.count > 1) {
      beat = std::jthread([&] { BeatUntil(done); });
    }
    RunThreads();
    done = true;
  }
  RETURN_IF_ERROR(status_);
  if (stopped_) {
    return Fail(
        ErrorCode::kIo,
        fmt::format("stopped after {} of {} rows{}", WithThousands(done_),
                    WithThousands(std::ssize(open_)),
                    keeps() ? "; run again to go on" : ""));
  }
  if (options_.process.number > 0) {
    return std::vector<Row>();
  }
  if (options_.process.count > 1) {
    RETURN_IF_ERROR(AwaitOthers());
  }
  std::vector<Row> rows;
  rows.reserve(rows_.size());
  for (std::optional<Row>& row : rows_) {
    rows.push_back(*std::move(row));
  }
  return rows;
}

// Of all files of the directories, by name.
uint64_t ContentOf(const std::vector<std::filesystem::path>& directories) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& directory : directories) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(directory, error)) {
      if (entry.is_regular_file(error)) {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  std::string all;
  for (const std::filesystem::path& file : files) {
    all += file.string() + ReadFile(file).value_or("");
  }
  return HashBytes(all);
}

}  // namespace

std::string JournalKey(const Study& study, const RunOptions& options) {
  return fmt::format(
      "{:016x}",
      HashBytes(fmt::format("{:016x} {:016x} {} {} {} {}", study.fingerprint,
                            ContentOf(options.profiles), options.version,
                            RowCount(study), study.samples, study.seed)));
}

Result<std::vector<Row>> RunStudy(const Study& study,
                                  const RunOptions& options) {
  return Runner(study, options).Run();
}

}  // namespace stepcast::explore
