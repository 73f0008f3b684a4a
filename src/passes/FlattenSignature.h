//===- FlattenSignature.h - the entry function takes and gives tensors ----===//
//
//   main(t : tuple<A, tuple<B>>, k : token)      main(t[0] : A, t[1][0] : B)
//     return t, k                             ->   t = tuple(t[0], ...)
//                                                  return t[0], ...
//
// Who calls a program knows tensors only. The parts of a tuple have its name
// and their place in it; so have those of a future that is given, for which the
// program waits; a token is an order among operations, which one from outside
// adds nothing to.
//
// Restrictions: a future that is taken stays, since only the program itself can
// begin what it waits for; so does everything where the program calls its entry
// function.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_FLATTENSIGNATURE_H
#define SINTER_PASSES_FLATTENSIGNATURE_H

#include "graph/Model.h"

namespace sinter {

/// Whether the entry function takes or gives tuples or tokens, or gives
/// futures.
bool hasSignatureToFlatten(const Model &model);

/// Makes arguments and results of the parts of tuples, and takes tokens away.
/// Then every argument and result has its name from before as an attribute.
void flattenSignature(Model &model);

} // namespace sinter

#endif // SINTER_PASSES_FLATTENSIGNATURE_H
