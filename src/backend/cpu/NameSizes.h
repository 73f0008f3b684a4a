//===- NameSizes.h - every unknown size gets a name -----------------------===//
//
//   %s = nn.shape %x : tensor<?x8xf32>        (N, 8)
//   %y = dynamic_broadcast_in_dim %b, %s  ->  broadcast_in_dim %b
//        : tensor<?x?xf32>                    : tensor<?x8xf32, [name of N, 8]>
//
// The sizes of the entry function's arguments are parameters; those of all
// other values are polynomials over them, followed through axes of operations
// and arithmetic on shapes. Equal ones get one name (graph/NamedSizes.h).
// Operations that take sizes as operands become those that have them in their
// types. The module keeps what the names stand for.
//
// What else sizes decide (whether those behind windows are the same as others
// that are added to them) is taken to be as it mostly is, and noted as a limit.
//
// A size that follows from a value (the number of elements that are not zero)
// is a parameter that a `cpu.define_sizes` of that value defines. Sizes behind
// windows with strides are quotients, which become parameters that follow from
// those before them; so do the smaller and the larger one of two sizes, and
// what two are together if one is repeated.
//
// Restrictions: sizes that differ between branches, change in a loop, or follow
// from windows of stablehlo.reduce_window have no such expression, and fail.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_NAMESIZES_H
#define SINTER_BACKEND_CPU_NAMESIZES_H

#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Does nothing where all sizes are known. Fails with Unsupported, with the
/// operation and the dimension, for a size without an expression.
Result<void> nameSizes(mlir::func::FuncOp function);

/// Whether sizes of \p model's inputs are unknown: it is compiled for all.
bool isOpen(const Model &model);

/// Whether sizes of arguments, or of what is computed, are unknown.
bool hasUnknownSizes(mlir::func::FuncOp function);

/// Takes away each nn.broadcast_like that repeats nothing, since what it
/// follows has the same sizes whatever they are:
///
///   add(broadcast_like(s, m), broadcast_like(m, s)), s : [N, 4, S, S],
///   m : [N, 1, 1, S] -> add(s, broadcast_like(m, s))
///
/// For graphs whose operations are not those of the backend yet.
void dropRepetitions(mlir::func::FuncOp function);

/// Whether \p op is one of those that nameSizes takes away: it reads sizes that
/// are unknown, or takes some.
bool isAboutSizes(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_NAMESIZES_H
