#include "driver/Interrupt.h"

#include <atomic>
#include <csignal>

namespace sinter::driver {

static constexpr int interruptSignals[] = {SIGINT, SIGTERM};
static std::atomic<bool> isInterruptReady = false;
static std::atomic<int> interruptSignal = 0;
/// What the signals did before.
static struct sigaction interruptBefore[NSIG];

/// Calls only async-signal-safe functions.
static void onInterrupt(int signal) {
  if (isInterruptReady && interruptSignal.exchange(signal) == 0)
    return;
  ::sigaction(signal, &interruptBefore[signal], nullptr);
  ::raise(signal);
}

Interrupt::Interrupt() {
  isInterruptReady = false;
  interruptSignal = 0;
  for (const int signal : interruptSignals) {
    if (::sigaction(signal, nullptr, &interruptBefore[signal]) != 0 ||
        interruptBefore[signal].sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = onInterrupt;
    ::sigaction(signal, &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (const int signal : interruptSignals)
    if (interruptBefore[signal].sa_handler != SIG_IGN)
      ::sigaction(signal, &interruptBefore[signal], nullptr);
}

void Interrupt::ready() { isInterruptReady = true; }

bool Interrupt::isAsked() { return interruptSignal != 0; }

void Interrupt::end() {
  const int signal = interruptSignal;
  ::sigaction(signal, &interruptBefore[signal], nullptr);
  ::raise(signal);
}

} // namespace sinter::driver
