#include "trace/read/formats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "ir/text/graph_text.h"
#include "trace/read/chakra/read_chakra.h"
#include "trace/read/chakra/read_chakra_json.h"
#include "trace/read/kineto/read_kineto.h"
#include "trace/read/pftrace/read_pftrace.h"
#include "trace/read/torch_et/read_torch_et.h"

namespace stepcast::trace {
namespace {

// Reader for graphs in stepcast's own text form.

Result<TraceFile> ReadGraphText(ByteSource& source, Diagnostics& diagnostics);

// The first word of the file is the form's name.
bool SniffGraphText(std::string_view head) {
  return head.starts_with("stepcast-graph ");
}

Result<TraceFile> ReadGraphText(ByteSource& source,
                                Diagnostics& /*diagnostics*/) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(source));
  ASSIGN_OR_RETURN(ir::Graph graph, ir::ParseGraph(text));
  TraceFile file;
  file.graph = std::move(graph);
  return file;
}

constexpr std::array kFormats = {
    TraceFormat{.name = "graph",
                .description = "execution graph in stepcast's own text form",
                .sniff = SniffGraphText,
                .read = ReadGraphText},
    TraceFormat{.name = "torch-et",
                .description = "PyTorch execution trace, JSON, schema 1.x",
                .sniff = SniffTorchEt,
                .read = ReadTorchEt},
    TraceFormat{.name = "chakra-json",
                .description = "Chakra execution trace rendered as JSON",
                .sniff = SniffChakraJson,
                .read = ReadChakraJson},
    TraceFormat{.name = "kineto",
                .description = "PyTorch profiler trace (Kineto, Chrome JSON)",
                .sniff = SniffKineto,
                .read = ReadKineto},
    TraceFormat{.name = "pftrace",
                .description = "PyTorch profiler trace (Perfetto, .pftrace)",
                .sniff = SniffPftrace,
                .read = ReadPftrace},
    TraceFormat{.name = "chakra",
                .description = "Chakra execution trace, protobuf (.et)",
                .sniff = SniffChakra,
                .read = ReadChakra},
};

// Gives the bytes that were read ahead for sniffing, then the rest.
class RewoundSource : public ByteSource {
 public:
  RewoundSource(std::string_view head, ByteSource& rest)
      : head_(head), rest_(rest) {}

  Result<size_t> Read(std::span<char> buffer) override {
    if (head_.empty()) {
      return rest_.Read(buffer);
    }
    const size_t count = std::min(buffer.size(), head_.size());
    std::memcpy(buffer.data(), head_.data(), count);
    head_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view head_;
  ByteSource& rest_;
};

Result<std::string> ReadHead(ByteSource& source) {
  std::string head(kSniffBytes, '\0');
  size_t filled = 0;
  while (filled < head.size()) {
    ASSIGN_OR_RETURN(const size_t got,
                     source.Read(std::span(head).subspan(filled)));
    if (got == 0) {
      break;
    }
    filled += got;
  }
  head.resize(filled);
  return head;
}

void SetPath(TraceFile& file, std::string_view path) {
  if (file.profiler) {
    file.profiler->info.path = path;
  }
  if (file.execution) {
    file.execution->info.path = path;
  }
}

Result<TraceFile> ReadSource(ByteSource& source, Diagnostics& diagnostics) {
  ASSIGN_OR_RETURN(const std::string head, ReadHead(source));
  if (head.empty()) {
    return Fail(ErrorCode::kInvalidInput, "is empty; expected a trace");
  }
  for (const TraceFormat& format : kFormats) {
    if (format.sniff(head)) {
      RewoundSource whole(head, source);
      return format.read(whole, diagnostics);
    }
  }
  return Fail(ErrorCode::kUnsupported,
              "is not a trace; expected one of the formats that `stepcast list "
              "formats` names");
}

Result<TraceFile> Named(Result<TraceFile> file, std::string_view name) {
  if (!file) {
    return Prefixed(name, std::move(file).error());
  }
  SetPath(*file, name);
  return file;
}

}  // namespace

std::span<const TraceFormat> Formats() {
  return kFormats;
}

Result<TraceFile> ReadTrace(const std::filesystem::path& path,
                            Diagnostics& diagnostics) {
  ASSIGN_OR_RETURN(const auto source, OpenFile(path));
  return Named(ReadSource(*source, diagnostics), path.string());
}

Result<TraceFile> ReadTrace(std::string_view bytes, std::string_view name,
                            Diagnostics& diagnostics) {
  const auto source = OpenMemory(bytes);
  return Named(ReadSource(*source, diagnostics), name);
}

}  // namespace stepcast::trace
