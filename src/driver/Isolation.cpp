#include "driver/Isolation.h"

#include "driver/Text.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sinter::driver {

namespace {

using Clock = std::chrono::steady_clock;

/// Reads or writes all bytes; false if the other end is closed.
bool writeAll(int pipe, const char *data, size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(pipe, data, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    data += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool readAll(int pipe, char *data, size_t size) {
  while (size > 0) {
    const ssize_t count = ::read(pipe, data, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    data += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

/// A request to a worker.
struct Order {
  uint64_t unit, first;
};

/// The kinds of messages of a worker; E and B are IsolatedReport's.
constexpr char unitDone = 'U';

void sendMessage(int pipe, char kind, const std::string &text) {
  std::string message(1, kind);
  const auto size = static_cast<uint32_t>(text.size());
  message.append(reinterpret_cast<const char *>(&size), sizeof size);
  message += text;
  if (!writeAll(pipe, message.data(), message.size()))
    ::_exit(1);
}

/// In the worker process: serves requests until there are no more.
[[noreturn]] void serve(const IsolatedWork &work, int orders, int answers) {
  // It must not outlive an interrupted parent.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  IsolatedReport report(answers);
  Order order;
  while (readAll(orders, reinterpret_cast<char *>(&order), sizeof order)) {
    try {
      work.work(order.unit, order.first, report);
    } catch (const std::exception &) {
      ::_exit(1);
    }
    std::fflush(stdout);
    sendMessage(answers, unitDone, "");
  }
  ::_exit(0);
}

/// A process, and its unit.
class Worker {
public:
  explicit Worker(const IsolatedWork &work) : work(work) {}
  ~Worker() { stop(); }
  Worker(const Worker &) = delete;

  bool isBusy() const { return unit.has_value(); }
  int pipe() const { return answers; }
  Clock::time_point deadline() const {
    return heard + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(work.seconds));
  }

  void start(size_t nextUnit) {
    unit = nextUnit;
    first = 0;
    order();
  }

  /// Its pipe is readable.
  void receive() {
    char buffer[65536];
    const ssize_t count = ::read(answers, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      return;
    if (count <= 0)
      return lost("");
    heard = Clock::now();
    received.append(buffer, static_cast<size_t>(count));
    while (isBusy() && takeMessage()) {
    }
  }

  void giveUp() {
    ::kill(process, SIGKILL);
    lost(text("no end after %g s", work.seconds));
  }

private:
  void order() {
    if (process < 0 && !fork())
      return;
    heard = Clock::now();
    const Order wanted{*unit, first};
    if (!writeAll(orders, reinterpret_cast<const char *>(&wanted),
                  sizeof wanted))
      lost("");
  }

  bool fork() {
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    if (::pipe(down) != 0 || ::pipe(up) != 0)
      return fail(std::string("no pipe: ") + std::strerror(errno));
    std::fflush(stdout);
    std::fflush(stderr);
    process = ::fork();
    if (process == 0) {
      ::close(down[1]);
      ::close(up[0]);
      serve(work, down[0], up[1]);
    }
    ::close(down[0]);
    ::close(up[1]);
    orders = down[1];
    answers = up[0];
    received.clear();
    if (process < 0)
      return fail(std::string("no process: ") + std::strerror(errno));
    return true;
  }

  /// If no process can be started, the unit ends here.
  bool fail(std::string problem) {
    IsolatedResult result;
    result.problem = std::move(problem);
    endUnit(&result);
    return false;
  }

  bool takeMessage() {
    constexpr size_t header = 1 + sizeof(uint32_t);
    uint32_t size;
    if (received.size() < header)
      return false;
    std::memcpy(&size, received.data() + 1, sizeof size);
    if (received.size() < header + size)
      return false;
    const char kind = received[0];
    std::string body = received.substr(header, size);
    received.erase(0, header + size);
    if (kind == unitDone) {
      endUnit(nullptr);
    } else if (kind == 'B') {
      current = std::move(body);
    } else {
      IsolatedResult result;
      result.name = current.value_or("");
      result.finished = true;
      result.answer = std::move(body);
      endCase(result);
    }
    return true;
  }

  void endCase(const IsolatedResult &result) {
    work.done(*unit, result);
    current.reset();
    ++first;
  }

  void endUnit(const IsolatedResult *result) {
    const size_t ended = *unit;
    if (result)
      work.done(ended, *result);
    current.reset();
    unit.reset();
    work.finished(ended);
  }

  /// The process has ended. Its present case failed; later ones continue.
  void lost(const std::string &why) {
    IsolatedResult result;
    result.problem = why.empty() ? reap() : why;
    stop();
    if (!current)
      return endUnit(&result);
    result.name = *current;
    endCase(result);
    order();
  }

  /// How the process ended.
  std::string reap() {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    process = -1;
    if (WIFSIGNALED(status))
      return std::string("crashed (") + ::strsignal(WTERMSIG(status)) + ")";
    return text("ended with exit code %d", WEXITSTATUS(status));
  }

  void stop() {
    for (int *end : {&orders, &answers})
      if (*end >= 0) {
        ::close(*end);
        *end = -1;
      }
    // It waits for requests; others may hold its pipe open, too.
    if (process > 0) {
      ::kill(process, SIGKILL);
      reap();
    }
  }

  const IsolatedWork &work;
  pid_t process = -1;
  int orders = -1, answers = -1;
  std::string received;
  Clock::time_point heard;
  std::optional<size_t> unit;
  /// The completed cases of the unit, and the present one.
  size_t first = 0;
  std::optional<std::string> current;
};

/// Waits until a worker has a message, or its time is over.
void waitFor(const std::vector<std::unique_ptr<Worker>> &workers) {
  std::vector<pollfd> pipes;
  std::vector<Worker *> busy;
  Clock::time_point deadline = Clock::now() + std::chrono::seconds(1);
  for (const auto &worker : workers)
    if (worker->isBusy()) {
      pipes.push_back({worker->pipe(), POLLIN, 0});
      busy.push_back(worker.get());
      deadline = std::min(deadline, worker->deadline());
    }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - Clock::now());
  ::poll(pipes.data(), pipes.size(),
         static_cast<int>(std::max<int64_t>(left.count() + 1, 0)));
  for (size_t i = 0; i < busy.size(); ++i)
    if (pipes[i].revents != 0)
      busy[i]->receive();
    else if (Clock::now() >= busy[i]->deadline())
      busy[i]->giveUp();
}

} // namespace

void IsolatedReport::send(char kind, const std::string &text) {
  sendMessage(pipe, kind, text);
}

void runIsolated(const IsolatedWork &work) {
  // Writing to a dead worker must not kill this process.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < std::max(1u, work.processes); ++i)
    workers.push_back(std::make_unique<Worker>(work));
  size_t next = 0;
  bool anyBusy = true;
  while (anyBusy) {
    for (const auto &worker : workers)
      while (!worker->isBusy() && next < work.units)
        worker->start(next++);
    waitFor(workers);
    anyBusy = next < work.units;
    for (const auto &worker : workers)
      anyBusy |= worker->isBusy();
  }
  workers.clear();
  std::signal(SIGPIPE, before);
}

} // namespace sinter::driver
