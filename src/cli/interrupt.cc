#include "cli/interrupt.h"

#include <csignal>

namespace stepcast::cli {
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
