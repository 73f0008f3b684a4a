//===- TaskMinMax.h - the least and greatest number that a task stores ----===//

#ifndef SINTER_BACKEND_CPU_EMIT_TASKMINMAX_H
#define SINTER_BACKEND_CPU_EMIT_TASKMINMAX_H

#include "mlir/IR/Builders.h"

namespace sinter::cpu {

/// The least and the greatest number of each lane of vectors of f32, which are
/// kept in registers while code that is emitted in between goes over these. A
/// lane that has seen a NaN has NaN for both.
class TaskMinMax {
public:
  /// Begins with none, for vectors of \p lanes.
  TaskMinMax(mlir::OpBuilder &builder, mlir::Location location, int64_t lanes);

  /// Adds \p vector to them.
  void add(mlir::OpBuilder &builder, mlir::Location location,
           mlir::Value vector) const;

  /// Stores them as row \p task of \p rows in the memory of either; rows for
  /// which there is none of \p tasks have what others have.
  void store(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value leastMemory, mlir::Value greatestMemory,
             mlir::Value task, int64_t tasks, int64_t rows) const;

private:
  /// Memory on the stack of which LLVM makes registers.
  mlir::Value least, greatest, areNone;
  mlir::VectorType type;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_TASKMINMAX_H
