#include "base/files/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace stepcast {
namespace {

constexpr size_t kCompressedChunk = size_t{1} << 16;

std::string ErrnoText() {
  return std::strerror(errno);
}

class DescriptorSource : public ByteSource {
 public:
  explicit DescriptorSource(int descriptor) : descriptor_(descriptor) {}
  DescriptorSource(const DescriptorSource&) = delete;
  DescriptorSource& operator=(const DescriptorSource&) = delete;
  ~DescriptorSource() override { ::close(descriptor_); }

  Result<size_t> Read(std::span<char> buffer) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
      if (got >= 0) {
        return static_cast<size_t>(got);
      }
      if (errno != EINTR) {
        return Fail(ErrorCode::kIo,
                    fmt::format("cannot read: {}", ErrnoText()));
      }
    }
  }

 private:
  int descriptor_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : left_(bytes) {}

  Result<size_t> Read(std::span<char> buffer) override {
    const size_t count = std::min(buffer.size(), left_.size());
    std::copy_n(left_.data(), count, buffer.data());
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
};

// Undoes gzip when the bytes begin with its magic number, and otherwise hands
// the bytes through.
class GunzipSource : public ByteSource {
 public:
  explicit GunzipSource(std::unique_ptr<ByteSource> inner)
      : inner_(std::move(inner)), input_(kCompressedChunk) {}
  GunzipSource(const GunzipSource&) = delete;
  GunzipSource& operator=(const GunzipSource&) = delete;
  ~GunzipSource() override {
    if (mode_ == Mode::kGzip) {
      inflateEnd(&stream_);
    }
  }

  Result<size_t> Read(std::span<char> buffer) override {
    if (mode_ == Mode::kUnknown) {
      RETURN_IF_ERROR(Sniff());
    }
    if (mode_ == Mode::kPlain) {
      if (!pending_.empty()) {
        const size_t count = std::min(buffer.size(), pending_.size());
        std::copy_n(pending_.data(), count, buffer.data());
        pending_.remove_prefix(count);
        return count;
      }
      return inner_->Read(buffer);
    }
    return Inflate(buffer);
  }

 private:
  enum class Mode { kUnknown, kPlain, kGzip };

  Status Sniff() {
    size_t filled = 0;
    while (filled < 2) {
      ASSIGN_OR_RETURN(const size_t got,
                       inner_->Read(std::span(input_).subspan(filled)));
      if (got == 0) {
        break;
      }
      filled += got;
    }
    pending_ = std::string_view(input_.data(), filled);
    mode_ = pending_.starts_with("\x1f\x8b") ? Mode::kGzip : Mode::kPlain;
    if (mode_ == Mode::kGzip) {
      // 16 + 15: a gzip wrapper with the largest window.
      if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) {
        mode_ = Mode::kPlain;
        return Fail(ErrorCode::kIo, "cannot start zlib");
      }
      SetInput();
    }
    return {};
  }

  void SetInput() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(pending_.size());
  }

  // Has compressed bytes ready for inflate; false at the end of the data.
  Result<bool> PrepareInput() {
    if (stream_.avail_in == 0) {
      ASSIGN_OR_RETURN(const size_t got, inner_->Read(input_));
      if (got == 0 && !at_member_end_) {
        return Fail(ErrorCode::kInvalidInput,
                    "gzip data is cut off; expected more bytes");
      }
      if (got == 0) {
        return false;
      }
      pending_ = std::string_view(input_.data(), got);
      SetInput();
    }
    if (at_member_end_) {
      // Members may follow each other; anything else after the last one
      // (padding zeros) ends the data, as in gzip itself.
      if (*stream_.next_in != 0x1f) {
        return false;
      }
      inflateReset(&stream_);
      at_member_end_ = false;
    }
    return true;
  }

  Result<size_t> Inflate(std::span<char> buffer) {
    constexpr size_t kMostAtOnce = size_t{1} << 30;  // avail_out is 32 bits.
    buffer = buffer.first(std::min(buffer.size(), kMostAtOnce));
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    while (stream_.avail_out == buffer.size() && !buffer.empty()) {
      ASSIGN_OR_RETURN(const bool has_input, PrepareInput());
      if (!has_input) {
        return 0;
      }
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        at_member_end_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Fail(ErrorCode::kInvalidInput,
                    fmt::format("gzip data is corrupt ({})",
                                stream_.msg != nullptr ? stream_.msg : "zlib"));
      }
    }
    return buffer.size() - stream_.avail_out;
  }

  std::unique_ptr<ByteSource> inner_;
  std::vector<char> input_;
  std::string_view pending_;
  Mode mode_ = Mode::kUnknown;
  z_stream stream_{};
  bool at_member_end_ = false;
};

Status WriteWhole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) {
      return Fail(ErrorCode::kIo, ErrnoText());
    }
    if (put > 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }
  return {};
}

Status WriteInPlace(const std::filesystem::path& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Fail(ErrorCode::kIo, ErrnoText());
  }
  auto status = WriteWhole(descriptor, bytes);
  if (::close(descriptor) != 0 && status) {
    status = Fail(ErrorCode::kIo, ErrnoText());
  }
  return status;
}

Status WriteAndRename(const std::filesystem::path& path,
                      std::string_view bytes) {
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) {
    return Fail(ErrorCode::kIo, ErrnoText());
  }
  // mkostemp makes the file private; give it what a plain open would.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  auto status = WriteWhole(descriptor, bytes);
  if (status && ::fchmod(descriptor, 0666 & ~mask) != 0) {
    status = Fail(ErrorCode::kIo, ErrnoText());
  }
  if (::close(descriptor) != 0 && status) {
    status = Fail(ErrorCode::kIo, ErrnoText());
  }
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = Fail(ErrorCode::kIo, ErrnoText());
  }
  if (!status) {
    ::unlink(temporary.c_str());
  }
  return status;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenFile(
    const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    return Fail(code,
                fmt::format("{}: cannot open: {}", path.string(), ErrnoText()));
  }
  auto file = std::make_unique<DescriptorSource>(descriptor);
  struct stat info = {};
  if (::fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{}: is a directory; expected a file", path.string()));
  }
  return std::make_unique<GunzipSource>(std::move(file));
}

std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes) {
  return std::make_unique<GunzipSource>(std::make_unique<MemorySource>(bytes));
}

Result<std::string> ReadAll(ByteSource& source, size_t limit) {
  constexpr size_t kStep = size_t{1} << 20;
  std::string bytes;
  size_t size = 0;  // Of what was read; `bytes` is larger by the room for more.
  while (true) {
    if (bytes.size() - size < kStep) {
      bytes.resize(size + std::max(kStep, size / 2));
    }
    ASSIGN_OR_RETURN(const size_t got,
                     source.Read(std::span(bytes).subspan(size)));
    size += got;
    if (size > limit) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("holds more than {} bytes", limit));
    }
    if (got == 0) {
      bytes.resize(size);
      return bytes;
    }
  }
}

Result<std::string> ReadFile(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const auto source, OpenFile(path));
  auto bytes = ReadAll(*source);
  if (!bytes) {
    return Prefixed(path.string(), std::move(bytes).error());
  }
  return bytes;
}

Status WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  // Through links, to the file itself. What exists and is no plain file
  // (/dev/stdout, a pipe) must not be replaced by one.
  std::error_code ignored;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  const auto status =
      std::filesystem::exists(path, ignored) &&
              !std::filesystem::is_regular_file(path, ignored)
          ? WriteInPlace(path, bytes)
          : WriteAndRename(target.empty() ? path : target, bytes);
  if (!status) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: cannot write: {}", path.string(),
                            status.error().message));
  }
  return {};
}

}  // namespace stepcast
