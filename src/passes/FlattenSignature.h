//===- FlattenSignature.h - entry function without tuples and tokens ------===//
//
//   main(t : tuple<A, tuple<B>>, k : token)      main(t[0] : A, t[1][0] : B)
//     return t, k                             ->   t = tuple(t[0], ...)
//                                                  return t[0], ...
//
// Callers of a program pass and receive tensors only. Elements of a tuple are
// named by the tuple's name and their index, as are those of a future that is
// returned, which the program awaits. Tokens order operations inside the
// program; one from outside adds nothing.
//
// Restrictions: a future that is an argument stays, since only the program
// itself can start what it waits for. Everything stays where the program calls
// its entry function.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_FLATTENSIGNATURE_H
#define SINTER_PASSES_FLATTENSIGNATURE_H

#include "graph/Model.h"

namespace sinter {

/// Whether the entry function has tuples or tokens among its arguments or
/// results, or returns futures.
bool hasSignatureToFlatten(const Model &model);

/// Replaces tuples by their elements in the arguments and results, and removes
/// tokens. Every argument and result then has its original name as an
/// attribute.
void flattenSignature(Model &model);

} // namespace sinter

#endif // SINTER_PASSES_FLATTENSIGNATURE_H
