//===- RowParts.h - rows cut at padding and concatenation -----------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ROWPARTS_H
#define SINTER_BACKEND_CPU_EMIT_ROWPARTS_H

#include "backend/cpu/emit/Elemental.h"

#include <set>

namespace sinter::cpu {

/// Padding and concatenation decide for each element where it comes from. Cut
/// into the parts of a row where that is the same, loops over rows have no
/// decision in them.
class RowParts {
public:
  RowParts() = default;
  /// Finds the cuts in rows of \p result, a value of a kernel.
  explicit RowParts(mlir::Value result);

  /// Calls \p body for each part of [\p begin, \p end) of the row at \p outer.
  void emit(Elemental &elemental, llvm::ArrayRef<mlir::Value> outer,
            mlir::Value begin, mlir::Value end,
            llvm::function_ref<void(mlir::Value, mlir::Value)> body) const;

private:
  void collect(mlir::Value tensor);
  void addCut(Dim place);
  void emitKnown(Elemental &elemental, size_t next,
                 llvm::ArrayRef<mlir::Value> outer,
                 llvm::function_ref<void()> body) const;

  Dim length = 0;
  std::set<Dim> cuts;
  /// Those that rows may lie outside of as a whole.
  llvm::SmallVector<stablehlo::PadOp> pads;
  llvm::SmallVector<mlir::Operation *> seen;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ROWPARTS_H
