//===- DynamicSizes.h - makes dimensions of a program unknown -------------===//
//
//   main(x : 2x3, y : 2x3)            main(x : ?x3, y : 2x3)
//     a = add(x, y)                     a = add(x, y) : ?x3
//     b = reshape(a) : 6         ->     b = reshape(a) : 6
//     c = gather(a, ...)                d = dynamic_reshape(a, [2, 3]) : 2x3
//                                       c = gather(d, ...)
//
// Types are inferred anew from the unknown dimensions; an operation that needs
// static shapes gets its operands by a dynamic_reshape to the shape that they
// have. The results for the same inputs stay the same.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RANDOM_OPENSIZES_H
#define SINTER_RANDOM_OPENSIZES_H

#include "graph/Model.h"

#include <cstdint>

namespace sinter {

/// A copy of \p model, whose types are static, in which some sizes of the
/// arguments are unknown. The same seed gives the same program.
Model withDynamicSizes(const Model &model, uint64_t seed);

} // namespace sinter

#endif // SINTER_RANDOM_OPENSIZES_H
