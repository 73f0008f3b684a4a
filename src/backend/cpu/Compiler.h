//===- Compiler.h - from a model to a program for the CPU -----------------===//
//
//     prepare       the passes of Passes.h: all is in kernels
//     emit, compile each distinct kernel once, several at a time
//     schedule      steps, memory, constants
//     link          the objects become one image
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COMPILER_H
#define SINTER_BACKEND_CPU_COMPILER_H

#include "backend/cpu/codegen/Codegen.h"
#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/kernels/Estimates.h"
#include "graph/Model.h"
#include "passes/Pipelines.h"
#include "runtime/CompileStage.h"
#include "runtime/FloatMode.h"
#include "runtime/MachineCeilings.h"
#include "runtime/Precision.h"
#include "runtime/Program.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter::cpu {

struct CpuOptions {
  /// Threads to compile with; 0 is one a processor.
  unsigned threads = 0;
  /// The machine to compile for; the one we run on if there is none.
  std::optional<Target> target;
  /// What products of f32 values may be computed with, where the model does not
  /// say.
  Precision precision = Precision::Default;
  /// Whether the program keeps denormal numbers if it is run so. Instructions
  /// that heed no float mode make zeros of them.
  Denormals denormals = Denormals::Flush;
  /// Called after each kernel with how many are done and how many there are;
  /// from any thread, never from two at once.
  std::function<void(size_t done, size_t total)> progress;
  /// Told of each stage of each kernel.
  CompileObserver stages;
  /// How the passes run and who watches them, as for simplify().
  SimplifyOptions passes;
  /// Gets what the passes did.
  std::function<void(const SimplifyReport &report)> onPrepared;
  /// What the machine was measured to reach; where nothing was, what such
  /// machines typically do. Decides between kernels, as long as `target` is the
  /// machine we run on.
  std::optional<MachineCeilings> ceilings;
  /// Told of each product what could compute it in how many seconds of one
  /// thread, the fastest first: the kernels of each layer of the user's file,
  /// and before that the forms that passes choose from.
  std::function<void(const std::string &layer, const Alternatives &)> onChoice;
  /// A folder in which kernels' code is looked up and kept (KernelCache); none
  /// if empty. `compiler` names the build of Sinter whose code it is.
  std::string kernelFolder, compiler;
  /// Called with each kernel's code before it is compiled, on any thread: for
  /// tests, which run it where instructions are missing. The program is of this
  /// process then.
  std::function<void(mlir::ModuleOp)> onCode;
  /// A folder that gets every kernel's MLIR, LLVM IR and assembly; none if
  /// empty.
  std::string dumpFolder;
};

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
};

/// Compiles \p model, and leaves it as it is. Where dimensions of its inputs
/// are unknown, the program is for all sizes (OpenProgram.h). Errors:
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

#endif // SINTER_BACKEND_CPU_COMPILER_H
