//===- ExtractChecks.h - a self-checking program, for a compiler ----------===//
//
//   main() {                              main(x) {
//     x = constant [1, 2]                   y = add(x, x)
//     y = add(x, x)                   ->    return y
//     check.expect_eq_const y, [2, 4]     }          x is [1, 2],
//   }                                                y must be [2, 4]
//
// What a compiler would compute itself, constants that are no scalars, becomes
// an input, so that there is something to compile. Constants that decide shapes
// stay.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_EXTRACTCHECKS_H
#define SINTER_ENGINE_COMPILER_EXTRACTCHECKS_H

#include "graph/Model.h"
#include "runtime/Expectation.h"

#include <optional>
#include <vector>

namespace sinter {

/// A value that a program gives, and what it must be.
struct ExtractedCheck {
  Expectation expectation;
  /// The number of the result that is to be checked.
  size_t got = 0;
  /// The number of the result that it is to be compared with, or the values.
  size_t expected = 0;
  std::optional<Tensor> expectedValues;
};

struct ExtractedChecks {
  /// What the entry function is to be called with.
  std::vector<Tensor> inputs;
  std::vector<ExtractedCheck> checks;
};

/// Takes the checks out of \p model's entry function, which has no arguments
/// but those that \p arguments are for, and calls out of it. Unsupported for
/// checks and probes in regions, which only the interpreter runs.
Result<ExtractedChecks> extractChecks(Model &model,
                                      const std::vector<Tensor> &arguments);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_EXTRACTCHECKS_H
