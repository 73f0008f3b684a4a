//===- TrainDropouts.h - dropouts with random masks -----------------------===//
//
//   dropout(x)    ->    dropout(x, mask), mask = bits(keys) >= ratio * 2^32
//
// The bits are a function of counters, so whoever computes an element gets the
// same ones: of the key of its sample, an input of the step, of the number of
// the dropout in the graph and of the element's place within its sample.
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

/// The dropouts of \p function that a step of training gives masks, in the
/// order of the graph.
llvm::SmallVector<mlir::Operation *>
trainedDropouts(mlir::func::FuncOp function);

/// Gives each of \p dropouts a mask of its own. \p keys, 1-d of ui64, has a key
/// a sample; \p isInput says which arguments' first dimensions count samples.
/// Where the samples lie in a dropout's operand follows from the axes of what
/// is between. An operand in which they are not found takes the key of the
/// first sample.
void trainDropouts(mlir::func::FuncOp function,
                   llvm::ArrayRef<mlir::Operation *> dropouts, mlir::Value keys,
                   llvm::function_ref<bool(mlir::BlockArgument)> isInput);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAINDROPOUTS_H
