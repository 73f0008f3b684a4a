//===- TreeTraversal.h - rows through ensembles of decision trees ---------===//
//
// Vectors of paths go through the table of nodes (graph/nn/TreeLayout.h) side
// by side, without branches: a level is a gather of nodes, one of features, and
// a comparison, until all paths of some vectors are at leaves.
//
//     many rows    the lanes are rows; one tree after the other goes over a
//                  task's rows, so that its nodes stay in the cache
//     few rows     the lanes are trees; each row by itself
//
// Sums are taken in f64, in an order that depends on a row's place among those
// of its task, not on threads.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TREES_TREETRAVERSAL_H
#define SINTER_BACKEND_CPU_KERNELS_TREES_TREETRAVERSAL_H

#include "backend/cpu/kernels/common/TaskExtent.h"
#include "backend/cpu/target/Target.h"
#include "graph/nn/TreeLayout.h"
#include "mlir/IR/Builders.h"

namespace sinter::cpu {

struct TreeShape {
  enum class Aggregate { Sum, Average, Minimum, Maximum };

  nn::TreeLayout layout;
  Aggregate aggregate = Aggregate::Sum;
  Dim rows = 0;
  int64_t features = 0, targets = 0, trees = 0;
  bool isDouble = false; ///< Of the operand and the result: f64, not f32.
};

class TreeTraversal {
public:
  TreeTraversal(const TreeShape &shape, const Target &target);

  /// How many rows a task has.
  int64_t taskRows() const { return rowsOfTask; }
  /// Of a thread.
  uint64_t scratchBytes() const;
  /// Arithmetic operations for a row.
  double flops() const;

  /// Flat memory.
  struct Memory {
    mlir::Value x, nodes, roots;
    mlir::Value weights; ///< With rows only.
    mlir::Value result;
    mlir::Value scratch; ///< Of f64.
  };
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const Memory &memory) const;

private:
  friend class TreeCode;
  TreeShape shape;
  int64_t lanes;
  int64_t rowsOfTask;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TREES_TREETRAVERSAL_H
