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

#include "backend/cpu/program/Compiler.h"
#include "backend/cpu/target/CpuOptions.h"
#include "graph/Model.h"
#include "runtime/Bundle.h"

namespace sinter::cpu {

/// An entry point: what a model was compiled to, and what the names of its
/// functions begin with.
struct BundlePart {
  std::string name;
  Compiled compiled;
};

/// Compiles \p model for a bundle, which may call functions of the runtime
/// library or not. Errors: those of compileToObjects();
/// Unsupported for what needs the library at run time, all of it listed, and
/// for targets whose float mode is not known here.
Result<BundlePart> compilePart(const std::string &name, const Model &model,
                               CpuOptions options, bool mayCallRuntime = false);

/// Makes one bundle of \p parts, at least one, which were all compiled with \p
/// options. Errors: Usage if the weights are too large to be in the code, or
/// sizes are beyond what the model can have; Unsupported if the states of parts
/// differ, the memory is too large for the target's pointers, or it has no
/// shared libraries; System if a linker is needed and fails.
Result<Bundle> makeBundle(std::vector<BundlePart> parts,
                          const CpuOptions &options,
                          const BundleOptions &bundle);

/// Checks that there is code without a runtime library for \p triple: an
/// Unsupported error otherwise.
Result<void> checkBundleTarget(const std::string &triple);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_BUNDLECOMPILER_H
