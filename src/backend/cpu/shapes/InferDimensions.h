//===- InferDimensions.h - every unknown size gets a name -----------------===//
// The sizes of the entry function's arguments are parameters; those of all
// other values are polynomials over them, followed through axes of operations
// and arithmetic on shapes:
//
//   func @main(%x : tensor<?x8xf32>, %b : tensor<8xf32>)    N
//   %s = nn.shape %x : tensor<?x8xf32>                      elements (N, 8)
//   %y = dynamic_broadcast_in_dim %b, %s                    sizes (N, 8)
//        : tensor<?x?xf32>
//   %z = add %x, %y                                         both N: no guard
//
//   ->  %y = broadcast_in_dim %b : tensor<?x8xf32, [name of N, 8]>
//
// Equal sizes get one name (graph/Dim.h). Operations that take sizes as
// operands become those that have them in their types. The module keeps what
// the names stand for (SizeTable.h).
//
// One class for each part of this, and each uses only those above it:
//
//   ShapeGuards        relations of sizes: proved, or guards of the program
//   SizeFacts          parameters, names, and what is known of sizes
//   ShapeValues        the sizes of values, and elements of shape vectors
//   ComputedSizes      parameters that the program computes
//   ResultSizes        how large results are
//   EnteredRegions     guards of what may not be reached
//   OperationGuards    what operations require of their sizes
//   DynamicOperations  operations that take sizes, replaced
//
// What else sizes decide (whether those behind windows are the same as others
// that are added to them) is taken to be as it mostly is, and becomes a guard
// (ShapeGuards.h).
//
// A size that follows from a value (the number of elements that are not zero)
// is a parameter that a `cpu.define_sizes` of that value defines. Sizes behind
// windows with strides are quotients, which become parameters that follow from
// those before them; so do the smaller and the larger one of two sizes, and
// what two are together if one is repeated.
//
// Restrictions: sizes that change in a loop or are computed in one, or in a
// branch, have no such expression, and fail: NestPrograms.h makes programs of
// these.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_INFERDIMENSIONS_H
#define SINTER_BACKEND_CPU_SHAPES_INFERDIMENSIONS_H

#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Does nothing where all sizes are known. Fails with Unsupported, with the
/// operation and the dimension, for a size without an expression.
Result<void> inferDimensions(mlir::func::FuncOp function);

/// Whether sizes of \p model's inputs are unknown: it is compiled for all.
bool isDynamic(const Model &model);

/// Whether sizes of arguments, or of what is computed, are unknown.
bool hasUnknownSizes(mlir::func::FuncOp function);

/// Takes away each nn.broadcast_like that repeats nothing, since what it
/// follows has the same sizes whatever they are:
///
///   add(broadcast_like(s, m), broadcast_like(m, s)), s : [N, 4, S, S],
///   m : [N, 1, 1, S] -> add(s, broadcast_like(m, s))
///
/// For graphs whose operations are not those of the backend yet.
Result<void> dropRepetitions(mlir::func::FuncOp function);

/// Collects, of a graph as it was read, what the model relies on of the sizes
/// of its inputs, as guards that the module keeps until inferDimensions() adds
/// those of the program: passes between the two may take it for granted. Fails
/// with Unsupported where no sizes fit.
Result<void> collectGuards(mlir::func::FuncOp function);

/// Whether \p op is one of those that inferDimensions takes away: it reads
/// sizes that are unknown, or takes some.
bool isAboutSizes(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_INFERDIMENSIONS_H
