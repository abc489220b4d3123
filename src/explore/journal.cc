#include "explore/journal.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/string_pool.h"

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

}  // namespace stepcast::explore
