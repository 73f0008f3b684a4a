//===- CompilerLibrary.cpp - loads the compiler when it is needed ---------===//

#include "engine/CompilerLibrary.h"

#include "engine/CompilerContract.h"

#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <sys/stat.h>

namespace sinter {

namespace fs = std::filesystem;

static std::string libraryPath() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return (program.parent_path().parent_path() / "lib" / "libsinter-compiler.so")
      .string();
}

/// A library of another build may have other virtual functions in the places of
/// those that are called here.
static Result<void> checkContract(const std::string &path, void *library) {
  void *entry = ::dlsym(library, compilerContractEntry);
  const std::string theirs =
      entry ? reinterpret_cast<CompilerContractEntry *>(entry)()
            : "another version, which does not say which";
  if (theirs == compilerContract)
    return {};
  return systemError("'" + path + "' is of " + theirs + ", this program of " +
                     compilerContract + "; both must come from one build");
}

Result<Compiler *> loadCompiler() {
  static std::mutex mutex;
  static Compiler *compiler = nullptr;
  const std::lock_guard lock(mutex);
  if (compiler)
    return compiler;
  const std::string path = libraryPath();
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return systemError(std::string("the compiler cannot be loaded: ") +
                       ::dlerror());
  // It is never unloaded: executors and programs have code in it.
  void *entry = ::dlsym(library, compilerEntry);
  if (!entry)
    return systemError("'" + path + "' is not Sinter's compiler");
  if (Result<void> fits = checkContract(path, library); !fits)
    return fits.takeError();
  compiler = reinterpret_cast<CompilerEntry *>(entry)();
  return compiler;
}

std::string compilerIdentity() {
  struct stat facts{};
  if (::stat(libraryPath().c_str(), &facts) != 0)
    return "";
  return std::to_string(facts.st_size) + ":" +
         std::to_string(facts.st_mtim.tv_sec) + "." +
         std::to_string(facts.st_mtim.tv_nsec);
}

} // namespace sinter
