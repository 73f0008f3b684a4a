//===- Progress.cpp - a line that says how far things are -----------------===//

#include "driver/Progress.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace sinter::driver {

namespace {

class ProgressLine {
public:
  ProgressLine(std::string verb, std::string things)
      : verb(std::move(verb)), things(std::move(things)) {}

  void update(unsigned done, unsigned total) {
    const std::scoped_lock lock(mutex);
    if (Clock::now() - start < std::chrono::seconds(1))
      return;
    if (done >= total)
      std::fprintf(stderr, "\r\033[K");
    else
      std::fprintf(stderr, "\r\033[K%s %u of %u %s", verb.c_str(), done + 1,
                   total, things.c_str());
    std::fflush(stderr);
  }

private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex;
  std::string verb, things;
  Clock::time_point start = Clock::now();
};

} // namespace

std::function<void(unsigned, unsigned)> progressLine(std::string verb,
                                                     std::string things) {
  if (!::isatty(STDERR_FILENO))
    return [](unsigned, unsigned) {};
  auto line =
      std::make_shared<ProgressLine>(std::move(verb), std::move(things));
  return [line](unsigned done, unsigned total) { line->update(done, total); };
}

} // namespace sinter::driver
