//===- SharedLibrary.h - a shared library of one object -------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SHAREDLIBRARY_H
#define SINTER_BACKEND_CPU_AHEAD_SHAREDLIBRARY_H

#include "runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace sinter::cpu {

/// Links the ELF \p object for \p triple to a shared library that calls itself
/// \p name, by the system's linker: the first of ld.lld-19, ld.lld and GNU's ld
/// for the target that the PATH has. Of the \p undefined symbols those that the
/// C library's mathematics has make it name that library (glibc's libm.so.6) as
/// one that it needs; all others are for the loader to find. System error if
/// there is no linker, or it fails, or a temporary file cannot be written.
Result<std::vector<char>>
linkSharedLibrary(llvm::ArrayRef<char> object, llvm::StringRef triple,
                  llvm::StringRef name, llvm::ArrayRef<std::string> undefined);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SHAREDLIBRARY_H
