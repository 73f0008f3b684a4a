//===- MatrixUnits.h - permission to use AMX ------------------------------===//
//
// The tiles of AMX are 8 KB of a thread's state, so Linux denies them to a
// process until it asks (arch_prctl; Documentation/arch/x86/xstate.rst). From
// then on signal frames have room for them: a smaller alternate signal stack
// than AT_MINSIGSTKSZ can no longer be set up.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MATRIXUNITS_H
#define SINTER_RUNTIME_MATRIXUNITS_H

#include <string>

namespace sinter {

/// 0 if this process may use tiles, or else the system's error number: EINVAL
/// if it does not know them (Linux before 5.16), ENOSPC if a thread has an
/// alternate signal stack without room for them, ENOSYS if it is not Linux on
/// x86-64, or the error of a sandbox. The first call asks, for all present and
/// future threads of the process and for its children, and later calls return
/// the same.
int errorOfTilePermission();

/// The meaning of that number; empty for 0.
std::string whyNoTiles();

} // namespace sinter

#endif // SINTER_RUNTIME_MATRIXUNITS_H
