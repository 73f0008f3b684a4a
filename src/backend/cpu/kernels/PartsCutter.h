//===- PartsCutter.h - generator of what cuts numbers for several products ===//
//
//     f32 rows, or pixels in blocks of 16 channels  ->  TileParts
//
// For numbers that lie in memory as f32 and that several products on matrix
// units read: they are cut once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_PARTSCUTTER_H
#define SINTER_BACKEND_CPU_KERNELS_PARTSCUTTER_H

#include "backend/cpu/kernels/TaskPart.h"
#include "backend/cpu/kernels/TileParts.h"

namespace sinter::cpu {

class PartsCutter {
public:
  explicit PartsCutter(TileParts parts) : parts(std::move(parts)) {}

  /// Tiles that \p parts are to have where rows are known.
  static constexpr int64_t tileRows = mostTileRows;

  /// Of an image, or of the rows.
  TaskPart taskPart() const {
    return {parts.isOpen() ? parts.openRows : std::vector<int64_t>{parts.rows},
            taskRows()};
  }
  /// Emits a task: \p input is what lies in f32, \p output the parts.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value output) const;

private:
  int64_t taskRows() const;
  std::array<mlir::Value, 2> numbersAt(VectorBuilder &code, mlir::Value flat,
                                       mlir::Value image, mlir::Value rows,
                                       mlir::Value row,
                                       mlir::Value block) const;

  TileParts parts;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_PARTSCUTTER_H
