//===- SharedLibrary.cpp - a shared library of one object -----------------===//

#include "backend/cpu/ahead/SharedLibrary.h"

#include "backend/cpu/target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A folder for what the linker reads and writes.
class LinkFolder {
public:
  static Result<std::unique_ptr<LinkFolder>> make() {
    auto folder = std::make_unique<LinkFolder>();
    if (std::error_code failed =
            llvm::sys::fs::createUniqueDirectory("sinter-link", folder->path))
      return systemError("cannot make a temporary folder: " + failed.message());
    return folder;
  }
  ~LinkFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }

  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> whole = path;
    llvm::sys::path::append(whole, name);
    return whole.str().str();
  }

private:
  llvm::SmallString<128> path;
};

Result<void> writeTo(const std::string &path, llvm::ArrayRef<char> bytes) {
  std::error_code failed;
  llvm::raw_fd_ostream stream(path, failed);
  if (!failed) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    failed = stream.error();
    stream.clear_error();
  }
  if (failed)
    return systemError("cannot write '" + path + "': " + failed.message());
  return {};
}

/// How GNU's tools call a machine: the linker, and `-m`.
struct Linking {
  const char *linker, *emulation;
};

Linking linkingOf(const llvm::Triple &triple) {
  if (triple.isAArch64())
    return {"aarch64-linux-gnu-ld", "aarch64linux"};
  if (isArm32(triple))
    return {"arm-linux-gnueabihf-ld", "armelf_linux_eabi"};
  if (triple.isRISCV())
    return {"riscv64-linux-gnu-ld", "elf64lriscv"};
  return {"x86_64-linux-gnu-ld", "elf_x86_64"};
}

/// The linker for \p triple, as a path.
Result<std::string> findLinker(const llvm::Triple &triple) {
  std::vector<std::string> names = {"ld.lld-19", "ld.lld",
                                    linkingOf(triple).linker};
  if (triple.getArch() == llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    names.emplace_back("ld");
  for (const std::string &name : names)
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return withHint("install lld or binutils, or write FILE.o",
                  systemError("there is no linker to make a shared library "
                              "for '" +
                              triple.str() + "'"));
}

/// Runs \p linker in \p folder.
Result<void> runLinker(const std::string &linker, const LinkFolder &folder,
                       const std::vector<std::string> &arguments) {
  const std::string output = folder.file("messages");
  std::vector<llvm::StringRef> words = {linker};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string problem;
  const int code = llvm::sys::ExecuteAndWait(
      linker, words, std::nullopt,
      {"", llvm::StringRef(output), llvm::StringRef(output)}, 0, 0, &problem);
  if (code == 0)
    return {};
  if (problem.empty())
    if (llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> messages =
            llvm::MemoryBuffer::getFile(output))
      problem = (*messages)->getBuffer().rtrim().str();
  return systemError("the linker '" + linker + "' failed: " + problem);
}

/// The libraries that have \p undefined symbols, by the names that glibc's
/// loader knows: the mathematics of C, and the compiler's conversions.
std::vector<llvm::StringRef>
librariesOf(const llvm::Triple &triple, llvm::ArrayRef<std::string> undefined) {
  if (!triple.isGNUEnvironment())
    return {};
  std::vector<llvm::StringRef> libraries;
  const auto isHelper = [](llvm::StringRef symbol) {
    return symbol.starts_with("__");
  };
  if (llvm::any_of(undefined, [&](llvm::StringRef symbol) {
        return !isHelper(symbol) && !symbol.starts_with("sinter_");
      }))
    libraries.push_back("libm.so.6");
  if (llvm::any_of(undefined, isHelper))
    libraries.push_back("libgcc_s.so.1");
  if (llvm::is_contained(undefined, "sinter_call_runtime"))
    libraries.push_back("libsinter.so.0");
  return libraries;
}

/// Makes the ELF file \p path say what \p object says of the calling
/// convention: files that differ in it are not linked.
Result<void> takeFlags(const std::string &path, llvm::ArrayRef<char> object) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path);
  if (!file)
    return systemError("cannot read '" + path +
                       "': " + file.getError().message());
  const llvm::StringRef before = (*file)->getBuffer();
  const bool is64 = object[llvm::ELF::EI_CLASS] == llvm::ELF::ELFCLASS64;
  const size_t at = is64 ? offsetof(llvm::ELF::Elf64_Ehdr, e_flags)
                         : offsetof(llvm::ELF::Elf32_Ehdr, e_flags);
  constexpr size_t bytes = sizeof(llvm::ELF::Elf32_Word);
  if (before.size() < at + bytes || object.size() < at + bytes)
    return systemError("'" + path + "' is no ELF object");
  std::vector<char> after(before.begin(), before.end());
  std::copy_n(object.data() + at, bytes, after.data() + at);
  return writeTo(path, after);
}

/// Makes a library \p name without symbols in \p folder, for \p object: linking
/// with it is enough to need the one of that name.
Result<void> makeStub(const std::string &linker, const LinkFolder &folder,
                      const char *emulation, llvm::ArrayRef<char> object,
                      llvm::StringRef name) {
  if (Result<void> written = writeTo(folder.file("byte"), {'\0'}); !written)
    return written;
  // GNU's ld names a library only if an ELF object is in it.
  if (Result<void> made =
          runLinker(linker, folder,
                    {"-m", emulation, "-r", "-o", folder.file("byte.o"), "-b",
                     "binary", folder.file("byte")});
      !made)
    return made;
  if (Result<void> taken = takeFlags(folder.file("byte.o"), object); !taken)
    return taken;
  return runLinker(linker, folder,
                   {"-m", emulation, "-shared", "-soname", name.str(), "-o",
                    folder.file(name), folder.file("byte.o")});
}

} // namespace

Result<std::vector<char>>
cpu::linkSharedLibrary(llvm::ArrayRef<char> object, llvm::StringRef triple,
                       llvm::StringRef name,
                       llvm::ArrayRef<std::string> undefined) {
  const llvm::Triple target(triple);
  if (target.getOS() == llvm::Triple::UnknownOS)
    return withHint(
        "write FILE.o or FILE.a",
        unsupported("there are no shared libraries on '" + triple.str() + "'"));
  Result<std::string> linker = findLinker(target);
  if (!linker)
    return linker.takeError();
  Result<std::unique_ptr<LinkFolder>> folder = LinkFolder::make();
  if (!folder)
    return folder.takeError();
  const std::string in = (*folder)->file("object.o"),
                    out = (*folder)->file("library.so");
  if (Result<void> written = writeTo(in, object); !written)
    return written.takeError();
  const char *emulation = linkingOf(target).emulation;
  std::vector<std::string> arguments = {"-m",
                                        emulation,
                                        "-shared",
                                        "-soname",
                                        name.str(),
                                        "-z",
                                        "noexecstack",
                                        "--hash-style=gnu",
                                        "--no-as-needed",
                                        "-o",
                                        out,
                                        in};
  for (llvm::StringRef library : librariesOf(target, undefined)) {
    if (Result<void> made =
            makeStub(*linker, **folder, emulation, object, library);
        !made)
      return made.takeError();
    arguments.push_back((*folder)->file(library));
  }
  if (Result<void> linked = runLinker(*linker, **folder, arguments); !linked)
    return linked.takeError();
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> library =
      llvm::MemoryBuffer::getFile(out);
  if (!library)
    return systemError("cannot read '" + out +
                       "': " + library.getError().message());
  return std::vector<char>((*library)->getBufferStart(),
                           (*library)->getBufferEnd());
}
