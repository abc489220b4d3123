// Reads and links one trace file and prints the process's peak memory against
// the size of the uncompressed text.
#include <cstdio>
#include <utility>

#include <sys/resource.h>

#include "base/files/file.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/read/kineto/read_kineto.h"

int main(int argc, char** argv) {
  using namespace stepcast;  // NOLINT(google-build-using-namespace)
  if (argc != 2) {
    static_cast<void>(std::fprintf(stderr, "usage: read_trace_memory FILE\n"));
    return 2;
  }
  Diagnostics diagnostics;
  const auto source = OpenFile(argv[1]);
  const auto rules = trace::Rules::Load();
  if (!source || !rules) {
    return 2;
  }
  auto file = trace::ReadKineto(**source, diagnostics);
  if (!file) {
    static_cast<void>(
        std::fprintf(stderr, "%s\n", file.error().message.c_str()));
    return 2;
  }
  const trace::LinkedTrace linked =
      trace::Link(*std::move(file->profiler), *rules, diagnostics);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  // ru_maxrss is in KiB.
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024;
  const auto text = static_cast<double>(linked.trace.info.text_bytes);
  std::printf("text %.0f MB, peak %.0f MB, ratio %.2f, %zu device events\n",
              text / 1e6, peak / 1e6, peak / text,
              linked.trace.device_events.size());
  return 0;
}
