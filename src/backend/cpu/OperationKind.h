//===- OperationKind.h - how an operation is computed ---------------------===//

#ifndef SINTER_BACKEND_CPU_OPERATIONKIND_H
#define SINTER_BACKEND_CPU_OPERATIONKIND_H

#include "mlir/IR/Operation.h"

namespace sinter::cpu {

/// How an operation's elements are computed.
enum class Kind {
  Constant,
  Alias,
  Control,
  Call, ///< Of a function of the process.
  Elementwise,
  Movement,  ///< Each element is one element of an operand.
  Reduction, ///< reduce
  Window,    ///< reduce_window: operand elements are read several times.
  Product,   ///< convolution, dot_general
  Whole,     ///< sort, scatter, running sums: not element by element
  Unknown
};

Kind kindOf(mlir::Operation *op);

/// Whether \p op gives its operand's memory another shape or element type.
bool isAlias(mlir::Operation *op);
/// stablehlo's if, case and while.
bool isControlFlow(mlir::Operation *op);
/// Whether computing an element again costs about as much as loading it.
bool isCheap(mlir::Operation *op);

/// The number of elements of a tensor whose shape is static.
int64_t sizeOf(mlir::Value value);
/// Whether \p value is a constant whose elements are all the same.
bool isSplatConstant(mlir::Value value);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_OPERATIONKIND_H
