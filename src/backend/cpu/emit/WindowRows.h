//===- WindowRows.h - windows over rows of neighbours ---------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_WINDOWROWS_H
#define SINTER_BACKEND_CPU_EMIT_WINDOWROWS_H

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/ir/CpuOps.h"

namespace sinter::cpu {

/// Windows of which neighbours in a row are computed together, whatever the
/// layout: a piece of a row is kept on the stack, and rows of the input are
/// combined with it in loops that LLVM vectorises.
///
/// The greatest or least of a window is found in two steps, first along all
/// dimensions but the last, then along that: k + k elements and not k * k.
class WindowRows {
public:
  /// Whether \p kernel has windows, each as large a tensor as the result, with
  /// nothing but elementwise operations between them and the result.
  static bool areAll(KernelOp kernel);

  explicit WindowRows(KernelOp kernel);

  /// Calls \p body for pieces of [\p begin, \p end) of the row at \p outer, in
  /// each of which \p elemental reads windows from the stack.
  void emit(Elemental &elemental, llvm::ArrayRef<mlir::Value> outer,
            mlir::Value begin, mlir::Value end,
            llvm::function_ref<void(mlir::Value, mlir::Value)> body) const;

private:
  llvm::SmallVector<stablehlo::ReduceWindowOp> windows;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_WINDOWROWS_H
