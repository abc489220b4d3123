// gpus, nodes, platform: other servers, or more of them.
#include <charconv>

#include <fmt/format.h>

#include "hw/platform_files.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

Result<int> ParseCount(const Change& change) {
  // Far beyond any cluster.
  constexpr int kMost = 1'048'576;
  int count = 0;
  const char* const end = change.value.data() + change.value.size();
  const auto [stop, error] = std::from_chars(change.value.data(), end, count);
  if (error != std::errc() || stop != end || count < 1 || count > kMost) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} is '{}'; expected a whole number, 1 or "
                            "more",
                            change.kind->name, change.value));
  }
  return count;
}

}  // namespace

Status SetGpus(const Change& change, engine::Request& request) {
  ASSIGN_OR_RETURN(request.gpus, ParseCount(change));
  return {};
}

Status SetNodes(const Change& change, engine::Request& request) {
  ASSIGN_OR_RETURN(request.nodes, ParseCount(change));
  return {};
}

Status CheckNodes(const Change& change, const engine::Request& request) {
  if (request.server.empty() && request.gpus < request.nodes) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("change {} does not apply: {} GPU{} cannot be in "
                    "{} servers; expected gpus={} or more",
                    change.text, request.gpus, request.gpus == 1 ? "" : "s",
                    request.nodes, request.nodes));
  }
  return {};
}

// The GPU becomes the platform's own.
Status SetPlatform(const Change& change, engine::Request& request) {
  ASSIGN_OR_RETURN(const hw::Platform platform, hw::FindPlatform(change.value));
  request.platform = change.value;
  request.gpu.clear();
  // A step on processors moves.
  request.server.clear();
  request.runtime.clear();
  return {};
}

}  // namespace stepcast::whatif
