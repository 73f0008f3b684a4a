//===- TermSplitter.h - split operands for several AMX products -----------===//
//
//     f32 rows, or pixels in blocks of 16 channels  ->  TileTerms
//
// Splits an f32 operand of several AMX products once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TERMSPLITTER_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TERMSPLITTER_H

#include "backend/cpu/kernels/amx/TileTerms.h"
#include "backend/cpu/kernels/common/TaskExtent.h"

namespace sinter::cpu {

class TermSplitter {
public:
  explicit TermSplitter(TileTerms parts) : parts(std::move(parts)) {}

  /// The tile height of the terms where rows are static.
  static constexpr int64_t tileRows = mostTileRows;

  /// The tasks of an image, or of the rows.
  TaskExtent taskExtent() const {
    return {parts.isDynamic() ? parts.dynamicRows
                              : std::vector<Dim>{parts.rows},
            taskRows()};
  }
  /// Emits a task: \p input is the f32 operand, \p output the split one.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value output) const;

private:
  int64_t taskRows() const;
  std::array<mlir::Value, 2> numbersAt(VectorBuilder &code, mlir::Value flat,
                                       mlir::Value image, mlir::Value rows,
                                       mlir::Value row,
                                       mlir::Value block) const;

  TileTerms parts;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TERMSPLITTER_H
