//===- LibraryFiles.cpp - finds Sinter's libraries ------------------------===//

#include "engine/LibraryFiles.h"

#include "runtime/LibraryContract.h"

#include <dlfcn.h>
#include <filesystem>

namespace sinter {

namespace fs = std::filesystem;

/// The folder of the library with this code.
static std::string ownFolder() {
  static const char here = 0;
  Dl_info facts{};
  if (::dladdr(&here, &facts) == 0 || !facts.dli_fname)
    return "";
  std::error_code failed;
  const fs::path file = fs::absolute(facts.dli_fname, failed);
  return (failed ? fs::path(facts.dli_fname) : file)
      .lexically_normal()
      .parent_path()
      .string();
}

/// Determined when the library is loaded: its name may be relative, and the
/// program may change its folder. Never destroyed, as threads may outlive main.
static const std::string &folder = *new std::string(ownFolder());

std::string besideRuntime(std::string_view name) {
  return (fs::path(folder) / name).string();
}

const char *runtimeContract() { return libraryContract; }

Result<void> checkContract(const std::string &file, const char *theirs) {
  const std::string other =
      theirs ? theirs : "another version, which does not say which";
  if (other == libraryContract)
    return {};
  return systemError("'" + file + "' is of " + other + ", '" +
                     besideRuntime("libsinter-runtime.so") + "' of " +
                     libraryContract + "; both must come from one build");
}

} // namespace sinter
