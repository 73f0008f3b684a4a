//===- MatrixUnits.h - permission to use the processor's matrix units -----===//
//
// The tiles of AMX are 8 KB of a thread's state, so Linux keeps them from a
// process until it asks (arch_prctl; Documentation/arch/x86/xstate.rst). From
// then on signal frames have room for them: an alternate signal stack that is
// too small for it (AT_MINSIGSTKSZ says what is needed) cannot be set up any
// more.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MATRIXUNITS_H
#define SINTER_RUNTIME_MATRIXUNITS_H

#include <string>

namespace sinter {

/// 0 if this process may use tiles, or else the system's error number: EINVAL
/// where it knows nothing of them (Linux before 5.16), ENOSPC where a thread
/// has an alternate signal stack without room for them, ENOSYS where it is not
/// Linux on x86-64, and what a sandbox answers in its place. Asks the first
/// time, for all threads of the process there are and will be and for the
/// children that it forks, and gives the same answer from then on.
int errorOfTilePermission();

/// What that number means, in words; empty for 0.
std::string whyNoTiles();

} // namespace sinter

#endif // SINTER_RUNTIME_MATRIXUNITS_H
