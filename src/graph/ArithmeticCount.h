//===- ArithmeticCount.h - how much an operation computes -----------------===//

#ifndef SINTER_GRAPH_ARITHMETICCOUNT_H
#define SINTER_GRAPH_ARITHMETICCOUNT_H

#include "graph/Dim.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter {

/// Factors: dimensions of operands and results, and numbers.
using DimProduct = llvm::SmallVector<Dim, 8>;

/// The multiply-adds of \p op as a sum of products: of a matmul, a convolution,
/// attention (both matmuls; what `causal` masks counts) or a recurrent layer
/// (its gates' matmuls). In a convolution, positions in the padding count,
/// zeros between the operand's elements (a transposed convolution) do not.
/// Empty for other operations.
llvm::SmallVector<DimProduct, 2> multiplyAdds(mlir::Operation &op);

/// Arithmetic operations for all elements of \p op's results: two for each of
/// its multiply-adds, if it has any; else a transcendental function counts as
/// 20, anything else as one an element. 0 where it computes nothing or a shape
/// is not known.
double arithmeticCount(mlir::Operation &op);

} // namespace sinter

#endif // SINTER_GRAPH_ARITHMETICCOUNT_H
