//===- OutOfMemory.cpp - lack of memory as an error -----------------------===//

#include "runtime/OutOfMemory.h"
#include "runtime/GuardedThread.h"

#include <mutex>

namespace sinter {

namespace {

thread_local unsigned catchers = 0;

/// The previous handler of `new`.
std::new_handler handlerBefore = nullptr;

bool mustStop() { return catchers == 0 && GuardedThread::isCurrent(); }

void onRefusedNew() {
  if (mustStop())
    GuardedThread::stop(systemError("not enough memory"));
  if (!handlerBefore)
    throw std::bad_alloc();
  handlerBefore();
}

std::string wantedText(std::optional<uint64_t> bytes) {
  return bytes ? std::to_string(*bytes) + " bytes were wanted"
               : "more bytes than can be counted were wanted";
}

} // namespace

CatchesOutOfMemory::CatchesOutOfMemory() { ++catchers; }
CatchesOutOfMemory::~CatchesOutOfMemory() { --catchers; }
bool CatchesOutOfMemory::isCurrent() { return catchers != 0; }

void refuseMemory(std::optional<uint64_t> bytes) {
  if (mustStop())
    GuardedThread::stop(systemError("not enough memory; " + wantedText(bytes)));
  throw OutOfMemory(bytes);
}

void stopThreadsWithoutMemory() {
  static std::once_flag once;
  std::call_once(once,
                 [] { handlerBefore = std::set_new_handler(onRefusedNew); });
}

Error outOfMemoryError(const std::bad_alloc &refused, std::string_view what) {
  std::string text = "not enough memory for ";
  text += what;
  if (const auto *known = dynamic_cast<const OutOfMemory *>(&refused))
    text += "; " + wantedText(known->bytes());
  return systemError(text);
}

} // namespace sinter
