//===- CompilerLibrary.cpp - loads the compiler on demand -----------------===//

#include "engine/CompilerLibrary.h"

#include "engine/LibraryFiles.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <sys/stat.h>

namespace sinter {

namespace fs = std::filesystem;

/// dlopen() would search other folders for a bare name, and the program may
/// change its folder. Unchanged if it has no absolute path.
static std::string absolutePath(const std::string &path) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(path, failed);
  return failed ? path : absolute.string();
}

namespace {

/// The process's state of the library.
struct CompilerLibrary {
  std::mutex mutex;
  /// Empty: not set.
  std::string chosen;
  /// Null until it is loaded, from `file`.
  Compiler *compiler = nullptr;
  std::string file;

  static CompilerLibrary &ofProcess() {
    static CompilerLibrary library;
    return library;
  }

  /// The file that is, or would be, loaded.
  std::string path() const {
    if (compiler)
      return file;
    if (!chosen.empty())
      return chosen;
    // Programs with elevated rights do not load a library that the environment
    // names.
    const char *named = ::secure_getenv("SINTER_COMPILER_LIBRARY");
    return named && *named ? absolutePath(named)
                           : besideRuntime("libsinter-compiler.so");
  }
};

} // namespace

/// A library of another build may have another layout of virtual functions.
static Result<Compiler *> load(const std::string &path) {
  // It is never unloaded: executors and programs have code in it.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return systemError(std::string("the compiler cannot be loaded: ") +
                       ::dlerror());
  void *entry = ::dlsym(library, compilerEntry);
  if (!entry)
    return systemError("'" + path + "' is not Sinter's compiler");
  void *contract = ::dlsym(library, compilerContractEntry);
  if (Result<void> fits = checkContract(
          path, contract ? reinterpret_cast<CompilerContractEntry *>(contract)()
                         : nullptr);
      !fits)
    return fits.takeError();
  return reinterpret_cast<CompilerEntry *>(entry)();
}

Result<Compiler *> loadCompiler() {
  CompilerLibrary &library = CompilerLibrary::ofProcess();
  const std::lock_guard lock(library.mutex);
  if (library.compiler)
    return library.compiler;
  const std::string path = library.path();
  Result<Compiler *> compiler = load(path);
  if (!compiler)
    return compiler;
  library.file = path;
  library.compiler = *compiler;
  return compiler;
}

Result<void> setCompilerLibrary(const std::string &path) {
  CompilerLibrary &library = CompilerLibrary::ofProcess();
  const std::lock_guard lock(library.mutex);
  const std::string chosen = path.empty() ? "" : absolutePath(path);
  if (library.compiler && !chosen.empty() && library.file != chosen)
    return usageError("the compiler cannot be '" + chosen + "': '" +
                      library.file + "' is loaded already");
  library.chosen = chosen;
  return {};
}

Result<std::string> compilerIdentity() {
  CompilerLibrary &library = CompilerLibrary::ofProcess();
  const std::lock_guard lock(library.mutex);
  const std::string path = library.path();
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0)
    return systemError("the compiler cannot be found: '" + path +
                       "': " + std::strerror(errno));
  return std::to_string(facts.st_size) + ":" +
         std::to_string(facts.st_mtim.tv_sec) + "." +
         std::to_string(facts.st_mtim.tv_nsec);
}

} // namespace sinter
