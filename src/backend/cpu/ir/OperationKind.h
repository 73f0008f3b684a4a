//===- OperationKind.h - how an operation is computed ---------------------===//

#ifndef SINTER_BACKEND_CPU_IR_OPERATIONKIND_H
#define SINTER_BACKEND_CPU_IR_OPERATIONKIND_H

#include "backend/cpu/ir/ElementalOp.h"
#include "mlir/IR/Operation.h"

namespace sinter::cpu {

/// "'/layer1/Conv': stablehlo.convolution", for messages: the kind of \p op
/// behind the node that \p location names, if it names one.
std::string nodeAndKind(mlir::Operation *op, mlir::Location location);

/// What ElementalOpInterface says; Unknown for operations without it.
Kind kindOf(mlir::Operation *op);

/// Whether each element of \p op's results follows from the elements of its
/// operands at the same place, by an operation of its own and not by a region.
bool isElementwise(mlir::Operation *op);

/// Whether \p op takes or gives complex numbers, of which there are no vectors.
bool hasComplexNumbers(mlir::Operation *op);

/// Whether \p op, which may be null, is a constant or one that is computed when
/// a program is compiled (ComputedConstantOp).
bool isConstant(mlir::Operation *op);
/// Whether \p op gives its operand's memory another shape or element type.
bool isAlias(mlir::Operation *op);
/// The value whose memory \p value is: what it is an alias of.
mlir::Value memoryOf(mlir::Value value);
/// stablehlo's if, case and while.
bool isControlFlow(mlir::Operation *op);
/// Whether computing an element again costs about as much as loading it.
bool isCheap(mlir::Operation *op);

/// The number of elements of a tensor without unknown dimensions. Where sizes
/// are named, a number that stands for their product: equal for the same ones,
/// and large.
int64_t sizeOf(mlir::Value value);
/// Whether an operand or a result has a size that is known only when the
/// program runs.
bool hasNamedSizes(mlir::Operation *op);
/// Whether \p value is a constant whose elements are all the same.
bool isSplatConstant(mlir::Value value);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_OPERATIONKIND_H
