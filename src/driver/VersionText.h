//===- VersionText.h - what `sinter --version` prints ---------------------===//

#ifndef SINTER_DRIVER_VERSIONTEXT_H
#define SINTER_DRIVER_VERSIONTEXT_H

#include <string>

namespace sinter::driver {

/// "sinter VERSION", then what a report of a defect needs: commit, LLVM, CPU
/// with its instruction sets, and the folder of compiled programs.
std::string versionText();

} // namespace sinter::driver

#endif // SINTER_DRIVER_VERSIONTEXT_H
