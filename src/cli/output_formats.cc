#include "cli/output_formats.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/join.h"
#include "base/nearest.h"
#include "ingest/chakra/write_chakra.h"
#include "ir/graph_text.h"
#include "report/perfetto.h"

namespace stepcast::cli {
namespace {

Result<std::string> WriteGraphText(const OutputStep& step) {
  return ir::GraphText(step.graph);
}

Result<std::string> WriteChakraEt(const OutputStep& step) {
  return ingest::WriteChakra(step.graph, step.rank);
}

Result<std::string> WritePerfetto(const OutputStep& step) {
  return report::PerfettoJson(step.graph, step.number);
}

constexpr std::array kFormats = {
    OutputFormat{.name = "graph",
                 .extensions = ".graph .txt",
                 .description = "execution graph in stepcast's own text form",
                 .write = WriteGraphText},
    OutputFormat{.name = "chakra",
                 .extensions = ".et",
                 .description = "Chakra execution trace, protobuf, one file a "
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
              fmt::format("{}: the name does not tell the format; expected an "
                          "extension ({}) or --to {}",
                          path.string(), Join(extensions, " "), OneOf(names)));
}

}  // namespace stepcast::cli
