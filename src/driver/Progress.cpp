//===- Progress.cpp - progress on standard error --------------------------===//

#include "driver/Progress.h"

#include "driver/Text.h"
#include "runtime/Result.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sinter::driver {

using ProgressClock = std::chrono::steady_clock;

struct Activity::State {
  std::string what, things, detail;
  uint64_t done = 0, total = 0;
  ProgressClock::time_point begin = ProgressClock::now();
  /// Of the first count: what was done before that takes no time.
  uint64_t first = 0;
};

namespace {

/// The line and the thread that draws it, if standard error is a terminal.
class ProgressScreen {
public:
  /// Never destroyed: a child of fork() has no thread to end.
  static ProgressScreen &get() {
    static ProgressScreen &screen = *new ProgressScreen;
    return screen;
  }

  bool isShown() const { return isTerminal; }

  void add(std::shared_ptr<Activity::State> state) {
    const std::scoped_lock lock(mutex);
    if (!isTerminal)
      return;
    active.push_back(std::move(state));
    if (!drawer.joinable())
      drawer = std::thread([this] { drawAlways(); });
  }

  void remove(const std::shared_ptr<Activity::State> &state) {
    std::unique_lock lock(mutex);
    std::erase(active, state);
    if (!isTerminal || !active.empty() || !drawer.joinable())
      return;
    erase();
    isEnding = true;
    lock.unlock();
    wake.notify_all();
    drawer.join();
    lock.lock();
    drawer = std::thread();
    isEnding = false;
  }

  template <typename Change> void change(Change make) {
    const std::scoped_lock lock(mutex);
    make();
  }

  void makeRoom(const std::string &text) {
    const std::scoped_lock lock(mutex);
    erase();
    if (!text.empty())
      isMidLine = text.back() != '\n';
  }

private:
  ProgressScreen() : isTerminal(::isatty(STDERR_FILENO) != 0) {
    // A child has none of the threads, and leaves the line to its parent.
    if (isTerminal)
      ::pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                       [] {
                         get().isTerminal = false;
                         get().active.clear();
                         get().mutex.unlock();
                       });
  }

  void drawAlways() {
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, std::chrono::milliseconds(500),
                          [this] { return isEnding; }))
      if (ProgressClock::now() - begin >= std::chrono::seconds(1))
        draw();
  }

  void draw() {
    if (active.empty() || isMidLine)
      return;
    const Activity::State &state = *active.back();
    const std::chrono::duration<double> took =
        ProgressClock::now() - state.begin;
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
      size.ws_col = 80;
    const std::string line = progressText(
        state.what, state.done - state.first,
        state.total ? state.total - state.first : 0, state.things, state.detail,
        took.count(), size.ws_col - size_t(1), state.first);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
    isDrawn = true;
  }

  void erase() {
    if (!std::exchange(isDrawn, false))
      return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }

  bool isTerminal;
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::shared_ptr<Activity::State>> active;
  std::thread drawer;
  bool isEnding = false, isDrawn = false;
  /// Whether the last output did not end its line.
  bool isMidLine = false;
  ProgressClock::time_point begin = ProgressClock::now();
};

} // namespace

Activity::Activity(std::string_view what) {
  if (!ProgressScreen::get().isShown())
    return;
  state = std::make_shared<State>();
  state->what = oneLine(what);
  ProgressScreen::get().add(state);
}

Activity::~Activity() {
  if (state)
    ProgressScreen::get().remove(state);
}

void Activity::update(uint64_t done, uint64_t total, const std::string &things,
                      const std::string &detail) {
  if (!state)
    return;
  ProgressScreen::get().change([&] {
    if (state->total == 0) {
      state->first = done;
      state->begin = ProgressClock::now();
    }
    state->done = done;
    state->total = total;
    state->things = things;
    state->detail = oneLine(detail);
  });
}

std::function<void(unsigned, unsigned)> progressLine(std::string verb,
                                                     std::string things) {
  struct Line {
    std::mutex mutex;
    std::unique_ptr<Activity> activity;
  };
  if (!ProgressScreen::get().isShown())
    return [](unsigned, unsigned) {};
  return [line = std::make_shared<Line>(), verb = std::move(verb),
          things = std::move(things)](unsigned done, unsigned total) {
    const std::scoped_lock lock(line->mutex);
    if (done >= total) {
      line->activity.reset();
      return;
    }
    if (!line->activity)
      line->activity = std::make_unique<Activity>(verb);
    line->activity->update(done, total, things);
  };
}

void makeRoomFor(const std::string &text) {
  if (ProgressScreen::get().isShown())
    ProgressScreen::get().makeRoom(text);
}

/// "8.1/s", or "2.4 s each" for what takes longer than a second.
static std::string rateText(double done, double seconds) {
  const double rate = done / seconds;
  if (rate >= 10)
    return text("%.0f/s", rate);
  return rate >= 1 ? text("%.1f/s", rate) : text("%.1f s each", 1 / rate);
}

std::string progressText(const std::string &what, uint64_t done, uint64_t total,
                         const std::string &things, const std::string &detail,
                         double seconds, size_t width, uint64_t before) {
  std::string line = what;
  if (total == 0) {
    line += ", " + durationText(seconds);
  } else {
    constexpr size_t cells = 20;
    const auto all = static_cast<double>(before + total);
    const auto full = static_cast<size_t>(
        std::min(1.0, static_cast<double>(before + done) / all) * cells);
    line +=
        text(" %llu of %llu ", static_cast<unsigned long long>(before + done),
             static_cast<unsigned long long>(before + total)) +
        things + " [" + std::string(full, '#') +
        std::string(cells - full, '-') + "]";
    if (done == 0 || seconds <= 0)
      line += " " + durationText(seconds);
    else
      line += " " + rateText(static_cast<double>(done), seconds) + ", " +
              durationText(seconds / static_cast<double>(done) *
                           static_cast<double>(total - std::min(done, total))) +
              " left";
    // Behind the rest, which shows on narrow terminals, too.
    if (!detail.empty())
      line += "; " + detail;
  }
  // Where it is too long, what is in front stays.
  line.resize(std::min(line.size(), width));
  return line;
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
