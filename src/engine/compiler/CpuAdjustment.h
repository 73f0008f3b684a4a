//===- CpuAdjustment.h - target options for tests -------------------------===//
//
// A build of the compiler for tests links a function that changes the target,
// so that every command can compile for a machine that is not available.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_CPUADJUSTMENT_H
#define SINTER_ENGINE_COMPILER_CPUADJUSTMENT_H

#include "backend/cpu/program/Compiler.h"

namespace sinter {

/// Called with the options of each program that this process compiles, on any
/// thread.
using CpuAdjustment = void (*)(cpu::CpuOptions &);

/// The adjustment, or null. Set before anything is compiled.
CpuAdjustment &cpuAdjustment();

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_CPUADJUSTMENT_H
