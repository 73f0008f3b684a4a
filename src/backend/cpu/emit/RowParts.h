//===- RowParts.h - rows cut at padding and concatenation -----------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ROWPARTS_H
#define SINTER_BACKEND_CPU_EMIT_ROWPARTS_H

#include "backend/cpu/emit/Elemental.h"

#include <set>

namespace sinter::cpu {

/// Padding and concatenation decide for each element where it comes from. Cut
/// into the parts of a row where that is the same, loops over rows have no
/// decision in them. What lies behind the dimension of a row goes along.
class RowParts {
public:
  RowParts() = default;
  /// Finds the cuts in rows of \p result, a value of a kernel, along \p
  /// dimension.
  RowParts(mlir::Value result, size_t dimension);

  bool hasCuts() const { return !cuts.empty(); }

  /// Calls \p body for each part of [\p begin, \p end) of the row at \p outer.
  void emit(Elemental &elemental, llvm::ArrayRef<mlir::Value> outer,
            mlir::Value begin, mlir::Value end,
            llvm::function_ref<void(mlir::Value, mlir::Value)> body) const;

private:
  void collect(mlir::Value tensor);
  /// Where a part begins: at \p size and \p more.
  struct Cut {
    Dim size;
    int64_t more = 0;
    bool operator<(const Cut &other) const {
      return std::pair(size.key(), more) <
             std::pair(other.size.key(), other.more);
    }
  };
  void addCut(Dim size, int64_t more = 0);
  void addPadding(Dim operand, int64_t low);
  void emitKnown(Elemental &elemental, size_t next,
                 llvm::ArrayRef<mlir::Value> outer,
                 llvm::function_ref<void()> body) const;

  size_t dimension = 0;
  Dim length = 0;
  std::set<Cut> cuts;
  /// Those that rows may lie outside of as a whole.
  llvm::SmallVector<stablehlo::PadOp> pads;
  llvm::SmallVector<mlir::Operation *> seen;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ROWPARTS_H
