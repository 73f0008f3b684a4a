//===- KernelEmitter.h - from a cpu.kernel to a function ------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_KERNELEMITTER_H
#define SINTER_BACKEND_CPU_EMIT_KERNELEMITTER_H

#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/ir/CpuOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"
#include "runtime/Tensor.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter::cpu {

/// How a kernel wants to be called. Its buffers are the inputs in order
/// (without the one that is updated in place), the results in order, and
/// scratch where scratchBytes is not 0.
struct KernelPlan {
  int64_t tasks = 1;
  double flops = 0;
  uint64_t scratchBytes = 0;
  std::string name; ///< How it is computed: "loops", "matmul".

  /// Parts that run one after the other, each a function of its own (see
  /// stageName), on the same buffers; empty where there is one. Then `tasks`
  /// does not count, and one more buffer, behind the others, lives from the
  /// first part to the last.
  struct Stage {
    int64_t tasks;
    double flops;
  };
  std::vector<Stage> stages;
  /// How often the stages are gone through, each time with the next `tasks` of
  /// their functions' tasks.
  int64_t rounds = 1;
  uint64_t workspaceBytes = 0;

  /// The input that result 0 is, with some elements replaced: the result's
  /// memory holds it when the kernel is called.
  std::optional<unsigned> updated;

  /// An input that is a constant and wanted in another form.
  struct Packing {
    uint64_t bytes;
    std::function<void(const Tensor &weight, std::byte *packed)> pack;
  };
  /// One an input.
  std::vector<std::optional<Packing>> packings;
};

/// Attribute of a cpu.kernel, an array of i64: the inputs that are constants,
/// which may be packed at compile time.
inline constexpr llvm::StringLiteral constantInputsAttribute =
    "constant_inputs";

/// Attribute of a cpu.kernel, an i64: how many of the root's first dimensions
/// number rows. The kernel's reductions have one value a row.
inline constexpr llvm::StringLiteral rowsAttribute = "rows";

/// Attribute of a cpu.kernel, an i64: the input that result 0 is, with some
/// elements replaced.
inline constexpr llvm::StringLiteral updatedAttribute = "updated";

/// The function of one stage of the kernel \p name.
std::string stageName(llvm::StringRef name, size_t stage);

/// What it takes to call \p kernel, without writing it.
KernelPlan planKernel(KernelOp kernel, const Target &target);

/// Adds the function \p name, or one a stage, to \p module, and returns the
/// contract of each. The module's context is the kernel's and has the code
/// generator's dialects.
std::vector<KernelContract> emitKernel(KernelOp kernel, const Target &target,
                                       mlir::ModuleOp module,
                                       llvm::StringRef name);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELEMITTER_H
