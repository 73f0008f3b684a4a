//===- Progress.cpp - progress on standard error --------------------------===//

#include "driver/Progress.h"

#include "driver/Text.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

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

std::function<void(const std::string &)> statusLine() {
  if (!::isatty(STDERR_FILENO))
    return [](const std::string &) {};
  using Clock = std::chrono::steady_clock;
  bool isShown = false;
  Clock::time_point next = Clock::now() + std::chrono::seconds(1);
  return [=](const std::string &text) mutable {
    if (text.empty()) {
      if (std::exchange(isShown, false))
        std::fprintf(stderr, "\r\033[K");
    } else if (Clock::now() >= next) {
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
      isShown = true;
      next = Clock::now() + std::chrono::milliseconds(200);
    }
    std::fflush(stderr);
  };
}

std::string durationText(double seconds) {
  struct Unit {
    double seconds;
    const char *name, *rest;
    double restSeconds;
  };
  static constexpr Unit units[] = {
      {86400, "d", "h", 3600}, {3600, "h", "min", 60}, {60, "min", "s", 1}};
  for (const Unit &unit : units)
    if (seconds >= unit.seconds) {
      const double whole = std::floor(seconds / unit.seconds);
      return text(
          "%.0f %s %.0f %s", whole, unit.name,
          std::floor((seconds - whole * unit.seconds) / unit.restSeconds),
          unit.rest);
    }
  return text("%.0f s", std::floor(seconds));
}

} // namespace sinter::driver
