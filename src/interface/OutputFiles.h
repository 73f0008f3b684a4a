//===- OutputFiles.h - checks where results are written -------------------===//
//
// Reports files that cannot be written before the work starts, not after.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_OUTPUTFILES_H
#define SINTER_INTERFACE_OUTPUTFILES_H

#include "runtime/Result.h"

#include <string>

namespace sinter {

/// Creates the folder and its parents, unless \p folder is empty. System error
/// if that fails, or the folder is not writable; \p flag is the option. Removes
/// incomplete files of processes that have ended (runtime/ TemporaryFiles.h).
Result<void> prepareFolder(const char *flag, const std::string &folder);

/// Checks that the file \p path can be created, unless it is empty: its folder
/// exists and is writable, and it is neither a folder nor the model at \p model
/// (a Usage error). Removes incomplete files of it.
Result<void> checkOutputFile(const char *flag, const std::string &path,
                             const std::string &model);

} // namespace sinter

#endif // SINTER_INTERFACE_OUTPUTFILES_H
