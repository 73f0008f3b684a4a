//===- Isolation.cpp - work that may crash without taking others along ----===//

#include "driver/Isolation.h"

#include "driver/Text.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sinter::driver {

namespace {

using Clock = std::chrono::steady_clock;

/// In the new process: works, writes the answer, and is gone.
[[noreturn]] void doWork(const std::function<std::string()> &work, int pipe) {
  // It must not outlive a parent that is interrupted.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string answer;
  try {
    answer = work();
  } catch (const std::exception &) {
    ::_exit(1);
  }
  std::fflush(stdout);
  size_t written = 0;
  while (written < answer.size()) {
    const ssize_t count =
        ::write(pipe, answer.data() + written, answer.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      ::_exit(1);
    written += static_cast<size_t>(count);
  }
  ::_exit(0);
}

/// Reads until the other side closes; false when the time is over.
bool readUntil(int pipe, Clock::time_point deadline, std::string &answer) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    constexpr int64_t longestWait = 1000;
    pollfd readable{pipe, POLLIN, 0};
    if (::poll(&readable, 1,
               static_cast<int>(
                   std::min<int64_t>(left.count(), longestWait))) <= 0)
      continue;
    char buffer[4096];
    const ssize_t count = ::read(pipe, buffer, sizeof buffer);
    if (count == 0)
      return true;
    if (count > 0)
      answer.append(buffer, static_cast<size_t>(count));
    else if (errno != EINTR)
      return true;
  }
}

} // namespace

IsolatedResult isolated(const std::function<std::string()> &work,
                        double seconds) {
  IsolatedResult result;
  int ends[2];
  if (::pipe(ends) != 0) {
    result.problem = std::string("no pipe: ") + std::strerror(errno);
    return result;
  }
  std::fflush(stdout);
  std::fflush(stderr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    doWork(work, ends[1]);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    result.problem = std::string("no process: ") + std::strerror(errno);
    return result;
  }
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(seconds));
  const bool inTime = readUntil(ends[0], deadline, result.answer);
  ::close(ends[0]);
  if (!inTime)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!inTime)
    result.problem = text("no end after %g s", seconds);
  else if (WIFSIGNALED(status))
    result.problem =
        std::string("crashed (") + ::strsignal(WTERMSIG(status)) + ")";
  else if (WEXITSTATUS(status) != 0)
    result.problem = text("ended with exit code %d", WEXITSTATUS(status));
  result.finished = result.problem.empty();
  return result;
}

} // namespace sinter::driver
