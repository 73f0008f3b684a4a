//===- RootKernel.h - kernels around a generated one ----------------------===//
//
// A kernel whose heavy part is an operation that backend/cpu/kernels has a
// generator for, its root. What follows the root in the kernel is its
// epilogue: computed on the results while they are in registers. RootKernels.h
// has the list of them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ROOTKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_ROOTKERNEL_H

#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/emit/TaskMinMax.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/kernels/amx/TileTerms.h"
#include "backend/cpu/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"

namespace sinter::cpu {

/// Whether \p operand, in \p kernel's body, is one of its constant inputs.
bool isConstantInput(KernelOp kernel, mlir::Value operand);

class RootKernel {
public:
  virtual ~RootKernel() = default;

  KernelPlan plan() const;
  /// How rows of the root's first operand lie where it can read them in
  /// parts, but for who stores them, and how the kernel would store its result
  /// in parts, where it can.
  virtual TileTermsOf possibleTerms() const { return {}; }
  /// What it gains where the first operand, which it can read in parts, lies
  /// so.
  virtual TileTermsGain gainBy(const TileTerms &, const Target &) const {
    return {};
  }
  /// Adds the function \p name, or one a stage, to \p module, and returns the
  /// contract of each.
  std::vector<KernelContract> emit(mlir::ModuleOp module,
                                   llvm::StringRef name) const;

protected:
  /// How the root asks to be called. A root of static sizes need not ask
  /// whether what is computed behind it reads tensors of dynamic sizes.
  virtual KernelPlan planRoot() const = 0;

  RootKernel(KernelOp kernel, mlir::Operation *root, const Target &target)
      : kernel(kernel), root(root), convertsBF16(target.convertsBF16) {}

  /// Emits one task of a stage; \p memory holds the inputs, the result, and
  /// scratch or the workspace.
  virtual void emitTask(size_t stage, mlir::OpBuilder &builder,
                        mlir::Location location, mlir::Value task,
                        mlir::ValueRange memory) const = 0;

  /// The number of the kernel's input that is \p operand, or has its parts.
  unsigned inputIndex(mlir::Value operand) const;
  /// What is computed, which may be stored in parts.
  mlir::Value yielded() const;
  bool hasEpilogue() const {
    return yielded() != root->getResult(0) || hasMinMax();
  }
  /// Whether the least and the greatest number of what is stored are results.
  bool hasMinMax() const;
  /// Whether the epilogue takes many instructions, and is a loop of its own.
  bool hasLongEpilogue() const;
  /// The value of the kernel's result at \p place, as it lies in memory, where
  /// the root's is \p vector; \p offset is the place there. The result may
  /// have other elements than the root's.
  mlir::Value epilogueAt(
      mlir::OpBuilder &builder, mlir::Location location, mlir::Value vector,
      mlir::Value offset,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(class KernelBuilder &)>
          place,
      mlir::ValueRange memory) const;

  mutable KernelOp kernel;
  mlir::Operation *root;

private:
  /// Emits a task of a TaskLoop whose results are in \p memory besides, behind
  /// those that emitTask() knows.
  void emitWithMinMax(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Value task, mlir::ValueRange memory,
                      int64_t tasks) const;

  bool convertsBF16;
  /// Of the task that is being emitted, where they are results.
  mutable std::optional<TaskMinMax> minMax;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ROOTKERNEL_H
