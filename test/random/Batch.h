//===- Batch.h - a program for any number of samples at once --------------===//
//
//   main(x : 2x3)                     main(x : ?x2x3)
//     a = exponential(x)                a = exponential(x) : ?x2x3
//     b = reshape(a) : 6         ->     b = dynamic_reshape(a, [N, 6]) : ?x6
//     c = dot_general(b, w)             c = dot_general(b, w) : ?x4
//
// Whatever depends on an argument gets one or two leading dimensions of unknown
// size. So each sample is what the program computes of it by itself.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RANDOM_BATCH_H
#define SINTER_RANDOM_BATCH_H

#include "graph/Model.h"

#include <optional>

namespace sinter {

/// The operations that \p withBatch takes on batched operands.
std::vector<std::string> batchableOperations();

/// A copy of \p model, whose types are static, with \p leading (1 or 2) unknown
/// dimensions, N and S, before those of all arguments; nothing where it has an
/// operation for which there is no rule.
std::optional<Model> withBatch(const Model &model, int leading);

} // namespace sinter

#endif // SINTER_RANDOM_BATCH_H
