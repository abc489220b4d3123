// The program: runs a command, turns its errors into one line and an exit
// status.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/files/toml_read.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace stepcast::cli {
namespace {

constexpr int kDone = 0;
constexpr int kCheckFailed = 1;
constexpr int kWrong = 2;

// Libraries throw; our own code returns results.
Result<Outcome> RunGuarded(const Words& words) {
  try {
    return RunCommandLine(words);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kIo, "out of memory");
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kIo, error.what());
  }
}

// For whoever wants to know which files an answer is made of.
void ShowRead(std::string_view source) {
  fmt::print(stderr, "read {}\n", source);
}

int Main(int argc, char** argv) {
  if (std::getenv("STEPCAST_SHOW_READS") !=
      nullptr) {  // NOLINT(concurrency-mt-unsafe)
    ObserveToml(&ShowRead);
  }
  // A reader that goes away shows up as a failed write instead.
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c)
  const Result<Outcome> outcome =
      RunGuarded(Words(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (outcome) {
    return *outcome == Outcome::kDone ? kDone : kCheckFailed;
  }
  if (!outcome.error().message.empty()) {
    Complain(outcome.error().message);
  }
  return kWrong;
}

}  // namespace
}  // namespace stepcast::cli

int main(int argc, char** argv) {
  return stepcast::cli::Main(argc, argv);
}
