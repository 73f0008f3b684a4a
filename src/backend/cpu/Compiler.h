//===- Compiler.h - from a model to a program for the CPU -----------------===//
//
//     prepare       nn operations become stablehlo ones, constants fold
//     form kernels  which operations are computed together
//     emit, compile each distinct kernel once, several at a time
//     schedule      steps, memory, constants
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COMPILER_H
#define SINTER_BACKEND_CPU_COMPILER_H

#include "backend/cpu/codegen/Target.h"
#include "graph/Model.h"
#include "runtime/Program.h"

#include <functional>
#include <optional>
#include <string>

namespace sinter::cpu {

struct CpuOptions {
  /// Threads to compile with; 0 is one a processor.
  unsigned threads = 0;
  /// The machine to compile for; the one we run on if there is none.
  std::optional<Target> target;
  /// Whether 3x3 convolutions may be computed by Winograd's method, whose
  /// results differ by about 1e-5 of the greatest one.
  bool fastConvolution = true;
  /// Called after each kernel with how many are done and how many there are;
  /// from any thread, never from two at once.
  std::function<void(size_t done, size_t total)> progress;
  /// Gets the model's text after the stage of this name: "prepare",
  /// "form-kernels".
  std::function<void(const char *stage, mlir::ModuleOp module)> onStage;
  /// A folder that gets every kernel's MLIR, LLVM IR and assembly; none if
  /// empty.
  std::string dumpFolder;
};

/// Compiles \p model, whose shapes are all known, and leaves it as it is.
/// Errors: Unsupported for shapes that are not known, element types and
/// operations that this backend cannot compute; System if code generation
/// fails.
Result<Program> compileForCpu(const Model &model,
                              const CpuOptions &options = {});

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COMPILER_H
