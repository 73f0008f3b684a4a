//===- BundleCompiler.h - from a model to a bundle ------------------------===//
//
//     compile    the kernels, as the just-in-time compiler does, up to their
//                optimised LLVM IR (program/Compiler.h)
//     lay out    the memory of the program, which is the caller's
//     join       the kernels in one module
//     add        the functions for C, whose code is the steps
//     emit       one object, and from it an archive or a shared library
//
// The code generator works function by function, so kernels compute the same
// bits as those that are compiled one by one. Linking their IR, not their
// objects, needs no linker, gives assembly and IR as well, and works for every
// target of LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_BUNDLECOMPILER_H
#define SINTER_BACKEND_CPU_AHEAD_BUNDLECOMPILER_H

#include "backend/cpu/target/CpuOptions.h"
#include "graph/Model.h"
#include "runtime/Bundle.h"

namespace sinter::cpu {

/// Compiles \p model, of static shapes, to a bundle. Errors: those of
/// compileToObjects(); Unsupported for what needs the library at run time, all
/// of it listed, and for targets whose float mode is not known here; Usage if
/// the weights are too large to be in the code.
Result<Bundle> compileBundle(const Model &model, CpuOptions options,
                             const BundleOptions &bundle);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_BUNDLECOMPILER_H
