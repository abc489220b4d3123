#include "cli/interrupt.h"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace stepcast::cli {
namespace {

struct Launcher {
  const char* number = nullptr;
  const char* count = nullptr;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

std::optional<int> ParseCount(const char* text) {
  const std::string_view digits = text;
  int number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size()
             ? std::optional(number)
             : std::nullopt;
}

}  // namespace

Result<explore::Process> EnvProcess() {
  for (const Launcher& launcher : kLaunchers) {
    // Nothing of the program writes the environment.
    const char* const number =
        std::getenv(launcher.number);  // NOLINT(concurrency-mt-unsafe)
    const char* const count =
        std::getenv(launcher.count);  // NOLINT(concurrency-mt-unsafe)
    if (number == nullptr || count == nullptr) {
      continue;
    }
    const auto own = ParseCount(number);
    const auto all = ParseCount(count);
    if (!own || !all || *own < 0 || *own >= *all) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is '{}' and {} is '{}'; expected a process "
                              "and how many there are",
                              launcher.number, number, launcher.count, count));
    }
    return explore::Process{.number = *own, .count = *all};
  }
  return explore::Process();
}

namespace {

// Signals have nowhere else to leave a word.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted = 0;

void Note(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // NOLINT(cert-err33-c)
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = 0;
  std::signal(SIGINT, Note);  // NOLINT(cert-err33-c)
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);  // NOLINT(cert-err33-c)
}

bool InterruptGuard::Noted() {
  return interrupted != 0;
}

}  // namespace stepcast::cli
