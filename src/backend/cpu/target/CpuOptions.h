//===- CpuOptions.h - how programs for the CPU are made -------------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_CPUOPTIONS_H
#define SINTER_BACKEND_CPU_TARGET_CPUOPTIONS_H

#include "backend/cpu/target/Alternative.h"
#include "backend/cpu/target/CodeFormat.h"
#include "backend/cpu/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Pipelines.h"
#include "runtime/CompileStage.h"
#include "runtime/FloatMode.h"
#include "runtime/MachineCeilings.h"
#include "runtime/Precision.h"
#include "runtime/Program.h"

#include <functional>
#include <optional>
#include <string>

namespace sinter {
class ConstantScope;
}

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
  /// Gets what the passes did, and the graph, all of whose operations are in
  /// kernels.
  std::function<void(const SimplifyReport &report, mlir::ModuleOp prepared)>
      onPrepared;
  /// What the machine was measured to reach; where nothing was, what such
  /// machines typically do. Decides between kernels, as long as `target` is the
  /// machine we run on.
  std::optional<MachineCeilings> ceilings;
  /// Told of each product what could compute it in how many seconds of one
  /// thread, the best first (see Alternatives): the kernels of each layer of
  /// the user's file, and before that the forms that passes choose from.
  std::function<void(const std::string &layer, const Alternatives &)> onChoice;
  /// A folder in which kernels' code is looked up and kept (KernelCache); none
  /// if empty. `compiler` names the build of Sinter whose code it is.
  std::string kernelFolder, compiler;
  /// The scope of the model's constants if nobody reads the model afterwards:
  /// what is replaced or packed is freed. Null: the model stays whole.
  ConstantScope *constantScope = nullptr;
  /// Called with the program before its code is compiled, and with each nested
  /// one: an error ends the compilation; empty: all are accepted.
  std::function<Result<void>(const Program &program)> accepts;
  /// What the code is compiled to. Only objects can be linked to a program, and
  /// only they are kept in `kernelFolder`.
  CodeFormat format = CodeFormat::Object;
  /// Called with each kernel's code before it is compiled, on any thread: for
  /// tests, which run it where instructions are missing. The program is of this
  /// process then.
  std::function<void(mlir::ModuleOp)> onCode;
  /// A folder that gets every kernel's MLIR, LLVM IR and assembly; none if
  /// empty.
  std::string dumpFolder;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_CPUOPTIONS_H
