#include "cli/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "base/files/file.h"
#include "base/text/join.h"
#include "base/text/nearest.h"
#include "base/text/text_table.h"
#include "ir/text/graph_text.h"
#include "trace/read/chakra/write_chakra.h"
#include "view/timelines/perfetto.h"

namespace stepcast::cli {
namespace {

Result<std::string> WriteGraphText(const OutputStep& step) {
  return ir::GraphText(step.graph);
}

Result<std::string> WriteChakraEt(const OutputStep& step) {
  return trace::WriteChakra(step.graph, step.rank);
}

Result<std::string> WritePerfetto(const OutputStep& step) {
  return view::PerfettoJson(step.graph, step.number);
}

constexpr std::array kFormats = {
    OutputFormat{.name = "graph",
                 .extensions = ".graph .txt",
                 .description = "execution graph in stepcast's own text form",
                 .write = WriteGraphText},
    OutputFormat{.name = "chakra",
                 .extensions = ".et",
                 .description =
                     "Chakra execution trace, protobuf, one file per "
                     "rank",
                 .one_rank = true,
                 .write = WriteChakraEt},
    OutputFormat{.name = "perfetto",
                 .extensions = ".json",
                 .description = "timeline for Perfetto and chrome://tracing, "
                                "Kineto-like JSON",
                 .write = WritePerfetto},
};

bool HasExtension(const OutputFormat& format, std::string_view extension) {
  return !extension.empty() &&
         fmt::format(" {} ", format.extensions)
                 .find(fmt::format(" {} ", extension)) != std::string::npos;
}

}  // namespace

std::span<const OutputFormat> OutputFormats() {
  return kFormats;
}

bool IsGzipPath(const std::filesystem::path& path) {
  return path.extension() == ".gz";
}

Result<const OutputFormat*> FindOutputFormat(
    std::string_view name, const std::filesystem::path& path) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> extensions;
  for (const OutputFormat& format : kFormats) {
    names.push_back(format.name);
    extensions.push_back(format.extensions);
    const auto plain = IsGzipPath(path) ? path.stem() : path;
    if (name.empty() ? HasExtension(format, plain.extension().string())
                     : format.name == name) {
      return &format;
    }
  }
  if (!name.empty()) {
    return Fail(ErrorCode::kInvalidInput, Unknown("format", name, names));
  }
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}: the format cannot be inferred from the name; "
                          "expected an extension ({}) or --to {}",
                          path.string(), Join(extensions, " "), OneOf(names)));
}

Status CheckExtraFile(std::string_view option, const std::string& path,
                      const std::vector<std::string>& inputs) {
  if (path == "-") {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is '-'; expected a file, standard output has "
                            "the report",
                            option));
  }
  return path.empty() ? Status() : CheckNotInput(path, inputs);
}

Status WriteExtraFile(const std::string& path, std::string_view text) {
  if (!IsGzipPath(path)) {
    return WriteOutput(path, text);
  }
  ASSIGN_OR_RETURN(const std::string compressed, Gzip(text));
  return WriteOutput(path, compressed);
}

Status WriteExtraFiles(std::span<const ExtraFile> files) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].path.empty()) {
      continue;
    }
    Status status = WriteExtraFile(files[i].path, files[i].text);
    if (status) {
      continue;
    }
    for (const ExtraFile& written : files.first(i)) {
      std::error_code error;
      // Not what was there for others to read from, as a pipe.
      if (std::filesystem::is_regular_file(written.path, error)) {
        std::filesystem::remove(written.path, error);
      }
    }
    return status;
  }
  return {};
}

namespace {

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

Status WriteTo(std::FILE* file, std::string_view bytes, std::string_view name) {
  errno = 0;
  const size_t written = std::fwrite(bytes.data(), 1, bytes.size(), file);
  if (written != bytes.size() || std::fflush(file) != 0) {
    const int error = errno;
    return Fail(ErrorCode::kIo, error == EPIPE
                                    ? ""
                                    : fmt::format("{}: cannot write: {}", name,
                                                  ErrorText(error)));
  }
  return {};
}

Status WriteEach(std::FILE* file, const WriteChunks& write,
                 std::string_view name) {
  Status status;
  write([&](std::string_view chunk) {
    if (status) {
      status = WriteTo(file, chunk, name);
    }
  });
  return status;
}

Status WriteDirectly(const std::filesystem::path& path,
                     const WriteChunks& write) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return Fail(ErrorCode::kIo, fmt::format("{}: cannot open: {}",
                                            path.string(), ErrorText(errno)));
  }
  Status status = WriteEach(file, write, path.string());
  if (std::fclose(file) != 0 && status) {
    return Fail(ErrorCode::kIo, fmt::format("{}: cannot write: {}",
                                            path.string(), ErrorText(errno)));
  }
  return status;
}

}  // namespace

Status Print(std::string_view text) {
  return WriteTo(stdout, text, "standard output");
}

Status PrintChunks(const WriteChunks& write) {
  return WriteEach(stdout, write, "standard output");
}

void Complain(std::string_view message) {
  fmt::print(stderr, "stepcast: {}\n", Printable(message));
}

Status WriteOutput(const std::filesystem::path& path, std::string_view bytes) {
  if (path == "-") {
    return Print(bytes);
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{}: is a directory; expected a file", path.string()));
  }
  if (std::filesystem::exists(status) &&
      !std::filesystem::is_regular_file(status)) {
    return WriteDirectly(path, [&](const auto& sink) { sink(bytes); });
  }
  // A link stays a link: what it points to is replaced.
  const bool is_link =
      std::filesystem::is_symlink(std::filesystem::symlink_status(path, error));
  const auto target =
      is_link ? std::filesystem::weakly_canonical(path, error) : path;
  return WriteFile(error || target.empty() ? path : target, bytes);
}

Status WriteOutputChunks(const std::filesystem::path& path,
                         const WriteChunks& write) {
  const std::filesystem::path unfinished = path.string() + ".part";
  std::error_code error;
  Status status = WriteDirectly(unfinished, write);
  if (status) {
    std::filesystem::rename(unfinished, path, error);
    if (!error) {
      return {};
    }
    status = Fail(ErrorCode::kIo, fmt::format("{}: cannot write: {}",
                                              path.string(), error.message()));
  }
  std::filesystem::remove(unfinished, error);
  return status;
}

Status CheckNotInput(const std::filesystem::path& path,
                     const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(path, input, error)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is an input; expected another file to write",
                              path.string()));
    }
  }
  return {};
}

Result<std::string> Gzip(std::string_view bytes) {
  constexpr int kGzipWindow = 15 + 16;  // The largest window; 16: gzip header.
  constexpr int kMemoryLevel = 8;       // zlib's default.
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow,
                   kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Fail(ErrorCode::kIo, "cannot start gzip: out of memory");
  }
  std::string out;
  std::string block(size_t{1} << 18, '\0');
  int code = Z_OK;
  while (code == Z_OK) {
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    const size_t take = std::min(bytes.size(), kMost);
    // zlib does not write to its input; its interface predates const.
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT
    stream.avail_in = static_cast<uInt>(take);
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    code = deflate(&stream, take == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(take - stream.avail_in);
    out.append(block, 0, block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (code != Z_STREAM_END) {
    return Fail(ErrorCode::kIo, "gzip failed");
  }
  return out;
}

}  // namespace stepcast::cli
