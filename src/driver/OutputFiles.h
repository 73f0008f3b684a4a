//===- OutputFiles.h - where results go -----------------------------------===//
//
// What cannot be written is said before the work is done, not after.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_OUTPUTFILES_H
#define SINTER_DRIVER_OUTPUTFILES_H

#include "runtime/Result.h"

#include <set>
#include <string>

namespace sinter::driver {

/// Makes the folder and those above it, unless \p folder is empty. System error
/// where that fails, or nothing can be written into it; \p flag is the option.
Result<void> prepareFolder(const char *flag, const std::string &folder);

/// Whether the file \p path can be made, unless it is empty: its folder is
/// there and can be written to, and it is no folder itself and not the model at
/// \p model (a Usage error).
Result<void> checkOutputFile(const char *flag, const std::string &path,
                             const std::string &model);

/// A tensor's name as a file's, without an extension: names come from
/// strangers. No two of a set \p used are the same.
std::string fileName(std::string name, std::set<std::string> &used);

} // namespace sinter::driver

#endif // SINTER_DRIVER_OUTPUTFILES_H
