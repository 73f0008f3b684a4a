//===- TemporaryFiles.cpp - files before they get their name --------------===//

#include "runtime/TemporaryFiles.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sinter {

namespace fs = std::filesystem;

/// A name that a signal handler can read at any moment: it is never moved, and
/// complete while its process is not 0.
struct Slot {
  std::atomic<bool> isTaken = false;
  std::atomic<pid_t> process = 0;
  char name[PATH_MAX];
};

namespace {

constexpr std::string_view mark = ".tmp-";

/// Threads that write at the same time, and files that are written together.
Slot slots[64];

Slot *enter(const std::string &name) {
  if (name.size() >= sizeof(Slot::name))
    return nullptr;
  for (Slot &slot : slots) {
    if (slot.isTaken.exchange(true))
      continue;
    std::memcpy(slot.name, name.c_str(), name.size() + 1);
    slot.process = ::getpid();
    return &slot;
  }
  return nullptr;
}

void leave(Slot *&slot) {
  if (!slot)
    return;
  slot->process = 0;
  slot->isTaken = false;
  slot = nullptr;
}

/// The previous actions of the signals.
struct sigaction before[NSIG];

/// Calls only async-signal-safe functions. A forked child has its parent's
/// names, which are not its own.
void removeAndEnd(int signal) {
  const int error = errno;
  for (const Slot &slot : slots)
    if (slot.process == ::getpid())
      ::unlink(slot.name);
  errno = error;
  // Now it does what it would have done.
  ::sigaction(signal, &before[signal], nullptr);
  ::raise(signal);
}

} // namespace

void removeTemporaryFilesOnSignals() {
  // A second time would take our own handler for what was there before.
  static std::atomic<bool> areCaught = false;
  if (areCaught.exchange(true))
    return;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (::sigaction(signal, nullptr, &before[signal]) != 0 ||
        before[signal].sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = removeAndEnd;
    ::sigaction(signal, &action, nullptr);
  }
}

namespace {

/// The process in "NAME.tmp-PROCESS-NUMBER".
std::optional<pid_t> processIn(std::string_view name) {
  const size_t at = name.rfind(mark);
  if (at == std::string_view::npos)
    return std::nullopt;
  const char *end = name.data() + name.size();
  pid_t process = 0;
  unsigned number = 0;
  const auto first =
      std::from_chars(name.data() + at + mark.size(), end, process);
  if (first.ec != std::errc() || process <= 0 || first.ptr == end ||
      *first.ptr != '-')
    return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, number);
  if (second.ec != std::errc() || second.ptr != end)
    return std::nullopt;
  return process;
}

/// Whether no process writes \p path any more. A process of another machine or
/// container is not visible here, but its lock is.
bool isLeft(const std::string &path, pid_t process) {
  if (::kill(process, 0) == 0 || errno != ESRCH)
    return false;
  const int file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0)
    return false;
  struct stat status;
  const bool isFree = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return isFree;
}

} // namespace

TemporaryFile::TemporaryFile(std::string target, mode_t mode)
    : target(std::move(target)) {
  static std::atomic<unsigned> counter;
  // A process that had this one's number may have left some.
  constexpr unsigned mostLeft = 1000;
  for (unsigned i = 0; i < mostLeft && file < 0; ++i) {
    name = this->target + std::string(mark) + std::to_string(::getpid()) + "-" +
           std::to_string(counter.fetch_add(1));
    slot = enter(name);
    file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0)
      break;
    leave(slot);
    if (errno != EEXIST)
      return;
  }
  // If locks are not supported, only the process is checked.
  if (file >= 0)
    static_cast<void>(::flock(file, LOCK_EX | LOCK_NB));
}

bool TemporaryFile::replaceTarget() {
  if (::rename(name.c_str(), target.c_str()) != 0)
    return false;
  leave(slot);
  return ::close(std::exchange(file, -1)) == 0;
}

TemporaryFile::~TemporaryFile() {
  if (file < 0)
    return;
  ::unlink(name.c_str());
  leave(slot);
  ::close(file);
}

void removeLeftovers(const std::string &folder, const std::string &prefix) {
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end;
       file.increment(failed)) {
    const std::string name = file->path().filename().string();
    if (!name.starts_with(prefix))
      continue;
    if (const std::optional<pid_t> process = processIn(name);
        process && isLeft(file->path().string(), *process))
      ::unlink(file->path().c_str());
  }
}

} // namespace sinter
