//===- TrainDropouts.h - dropouts with random masks -----------------------===//
//
//   dropout(x)    ->    dropout(x, mask), mask = bits(keys) >= ratio * 2^32
//
// The bits are a function of counters, so that recomputation and other
// processes get the same: of the key of the sample, an input of the step, of
// the index of the dropout in the graph and of the element's index within its
// sample.
//
//   mix(x):  x ^= x >> 16;  x *= 0x7feb352d;  x ^= x >> 15;
//            x *= 0x846ca68b;  x ^= x >> 16
//   a = mix(low(key) + number * 0x9e3779b9),  b = mix(high(key) ^ a)
//   bits(place) = mix(mix(place ^ a) + b)
//
// on 32 bits; mix is the hash `lowbias32` of Wellons, "Prospecting for Hash
// Functions", 2018.
//
// Restrictions: a dropout whose mask depends on an argument of the function
// keeps it. Inside of a loop, each trip drops the same elements.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_TRAINDROPOUTS_H
#define SINTER_AUTODIFF_TRAINDROPOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::autodiff {

/// The dropouts of \p function that get masks in training, in the order of the
/// graph.
llvm::SmallVector<mlir::Operation *>
trainedDropouts(mlir::func::FuncOp function);

/// Gives each of \p dropouts its own mask. \p keys, 1-d of ui64, has one key
/// for each sample; \p isInput selects the arguments whose first dimension is
/// that of the samples. Their position in a dropout's operand follows from the
/// axes of the operations between. An operand in which they are not found uses
/// the key of the first sample.
void trainDropouts(mlir::func::FuncOp function,
                   llvm::ArrayRef<mlir::Operation *> dropouts, mlir::Value keys,
                   llvm::function_ref<bool(mlir::BlockArgument)> isInput);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAINDROPOUTS_H
