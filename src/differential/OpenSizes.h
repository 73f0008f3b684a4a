//===- OpenSizes.h - a program that does not know all of its sizes --------===//
//
//   main(x : 2x3, y : 2x3)            main(x : ?x3, y : 2x3)
//     a = add(x, y)                     a = add(x, y) : ?x3
//     b = reshape(a) : 6         ->     b = reshape(a) : 6
//     c = gather(a, ...)                d = dynamic_reshape(a, [2, 3]) : 2x3
//                                       c = gather(d, ...)
//
// What follows from sizes that are no longer known is inferred anew; where an
// operation needs them, a dynamic_reshape to the shape that a value has stands
// before it. The program computes the same of the same inputs.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DIFFERENTIAL_OPENSIZES_H
#define SINTER_DIFFERENTIAL_OPENSIZES_H

#include "graph/Model.h"

#include <cstdint>

namespace sinter {

/// A copy of \p model, whose types are static, in which some sizes of the
/// arguments are unknown. The same seed gives the same program.
Model withOpenSizes(const Model &model, uint64_t seed);

} // namespace sinter

#endif // SINTER_DIFFERENTIAL_OPENSIZES_H
