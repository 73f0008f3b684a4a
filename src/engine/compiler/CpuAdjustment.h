//===- CpuAdjustment.h - what tests change of how programs are compiled ---===//
//
// A build of the compiler for tests lets every command compile for a machine
// that is not at hand: it is linked with what says so here.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_CPUADJUSTMENT_H
#define SINTER_ENGINE_COMPILER_CPUADJUSTMENT_H

#include "backend/cpu/Compiler.h"

namespace sinter {

/// Is called with the options of each program that this process compiles, on
/// any thread.
using CpuAdjustment = void (*)(cpu::CpuOptions &);

/// The adjustment, or null. Set before anything is compiled.
CpuAdjustment &cpuAdjustment();

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_CPUADJUSTMENT_H
