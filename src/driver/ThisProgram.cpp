//===- ThisProgram.cpp - the file of the running program ------------------===//

#include "driver/ThisProgram.h"

#include <dlfcn.h>
#include <filesystem>
#include <sys/auxv.h>

namespace sinter::driver {

/// If the dynamic linker was started with the program as its argument,
/// /proc/self/exe is the linker. The kernel has loaded no other linker then,
/// and the linker knows the program by its argument.
std::string thisProgram() {
  Dl_info facts{};
  if (::getauxval(AT_BASE) != 0 ||
      ::dladdr(reinterpret_cast<const void *>(&thisProgram), &facts) == 0 ||
      !facts.dli_fname)
    return "/proc/self/exe";
  std::error_code failed;
  const auto file = std::filesystem::absolute(facts.dli_fname, failed);
  return failed ? facts.dli_fname : file.string();
}

} // namespace sinter::driver
