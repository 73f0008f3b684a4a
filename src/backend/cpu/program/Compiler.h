//===- Compiler.h - from a model to a program for the CPU -----------------===//
//
//     prepare       the passes of Passes.h: all is in kernels
//     emit, compile each distinct kernel once, several at a time
//     schedule      steps, memory, constants
//     link          the objects become one image
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_COMPILER_H
#define SINTER_BACKEND_CPU_PROGRAM_COMPILER_H

#include "backend/cpu/codegen/Codegen.h"
#include "backend/cpu/target/CpuOptions.h"
#include "graph/Model.h"
#include "runtime/Program.h"

#include <string>
#include <vector>

namespace sinter::cpu {

/// A program before its code is linked.
struct Compiled {
  /// All but the code; what its steps call are numbers in `names`.
  Program program;
  /// For program.triple. Each function of a kernel is a symbol of one of them,
  /// and none refers to another; all else they need is the C library's.
  std::vector<ObjectFile> objects;
  /// The symbols of the kernels' functions, as program.kernels has them: each
  /// is a KernelFunction of runtime/CodeImage.h.
  std::vector<std::string> names;
  /// What is nested in the program (Program::nested).
  std::vector<Compiled> nested;
};

/// Compiles \p model, and leaves it as it is. Where dimensions of its inputs
/// are unknown, the program is for all sizes (DynamicProgram.h). Errors:
/// Unsupported for sizes that do not follow from those of inputs, or that an
/// operation does not keep open, element types and operations that this backend
/// cannot compute; System if code generation fails.
Result<Compiled> compileToObjects(const Model &model,
                                  const CpuOptions &options = {});

/// The program with its code, which runs wherever it is loaded. Fails with a
/// System error if the objects do not fit together.
Result<Program> linkProgram(Compiled compiled);

/// The program that compileForCpu() gives, without any code: its steps, and the
/// memory that it needs.
Result<Program> planForCpu(const Model &model, const CpuOptions &options = {});

/// Both.
Result<Program> compileForCpu(const Model &model,
                              const CpuOptions &options = {});

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_COMPILER_H
