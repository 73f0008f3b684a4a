//===- LoopNest.h - loops over a result, cut into tasks -------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_LOOPNEST_H
#define SINTER_BACKEND_CPU_EMIT_LOOPNEST_H

#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "backend/cpu/kernels/common/TaskExtent.h"

#include <functional>
#include <vector>

namespace sinter::cpu {

/// Loops over `shape`. The innermost dimension is given to the body as a range,
/// so that it can go over it more than once.
struct LoopNest {
  std::vector<Dim> shape;
  /// Arithmetic operations for one element of the shape.
  double cost = 1;
  /// The innermost dimension must not be cut: it is handled as a whole.
  bool keepRows = false;

  using Body = std::function<void(llvm::ArrayRef<mlir::Value> outer,
                                  mlir::Value begin, mlir::Value end)>;
  Body body;

  /// Independent parts. They depend on the shape and the cost alone.
  int64_t tasks() const;
  /// What they are the product of, where sizes are named.
  std::vector<TaskExtent> taskExtents() const;
  /// Writes one of them.
  void emitTask(KernelBuilder &code, mlir::Value task) const;

private:
  struct Split;
  Split split() const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_LOOPNEST_H
