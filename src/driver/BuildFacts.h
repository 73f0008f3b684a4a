//===- BuildFacts.h - of what this program was built ----------------------===//
//
// Defined in a file of the build folder (cmake/BuildFacts.cmake), so that a new
// commit compiles that file alone.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_BUILDFACTS_H
#define SINTER_DRIVER_BUILDFACTS_H

namespace sinter::driver {

/// The commit, with "-dirty" behind it if files differed; "unknown" without
/// git.
extern const char *const buildCommit;
/// The version of LLVM and MLIR.
extern const char *const buildLlvm;

} // namespace sinter::driver

#endif // SINTER_DRIVER_BUILDFACTS_H
