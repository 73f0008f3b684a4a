//===- MatrixUnits.cpp - permission to use AMX ----------------------------===//

#include "runtime/MatrixUnits.h"

#include <cerrno>
#include <cstring>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sinter {

namespace {

int askForTiles() {
#if defined(__x86_64__) && defined(__linux__)
  // Linux, arch/x86/include/uapi/asm/prctl.h and asm/fpu/types.h.
  constexpr long requestPermission = 0x1023, tileData = 18;
  if (::syscall(SYS_arch_prctl, requestPermission, tileData) == 0)
    return 0;
  return errno;
#else
  return ENOSYS;
#endif
}

} // namespace

int errorOfTilePermission() {
  static const int error = askForTiles();
  return error;
}

std::string whyNoTiles() {
  switch (const int error = errorOfTilePermission()) {
  case 0:
    return "";
  case ENOSPC:
    return "a thread has an alternate signal stack that is too small for them";
  case EINVAL:
    return "this Linux knows nothing of them";
  default:
    return std::strerror(error);
  }
}

} // namespace sinter
