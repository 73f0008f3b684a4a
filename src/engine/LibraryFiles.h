//===- LibraryFiles.h - finds Sinter's libraries --------------------------===//
//
// Part of libsinter-runtime.so, which loads the other libraries from its own
// folder. So programs and Python interpreters need not know it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_LIBRARYFILES_H
#define SINTER_ENGINE_LIBRARYFILES_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter {

/// The absolute path of \p name in the folder of libsinter-runtime.so.
std::string besideRuntime(std::string_view name);

/// The contract that libsinter-runtime.so was built for
/// (runtime/LibraryContract.h).
const char *runtimeContract();

/// A System error if \p theirs is another contract than ours; null: unknown. \p
/// file is the library, for the message.
Result<void> checkContract(const std::string &file, const char *theirs);

} // namespace sinter

#endif // SINTER_ENGINE_LIBRARYFILES_H
