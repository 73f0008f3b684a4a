//===- AffinePassages.h - the algebra of scales and shifts that move ------===//
//
// What move-affine relies on for one channel, by its labels: s * x + t with
// c for s and d for t, where both sides are real numbers. A scale that may not
// be negative is abs(c); z is a weight of a window, v how many elements it has.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_PASSES_PROOFS_AFFINEPASSAGES_H
#define SINTER_TEST_PASSES_PROOFS_AFFINEPASSAGES_H

#include "passes/Identities.h"

namespace sinter::test {

inline constexpr Identity affinePassages[] = {
    {"move-affine-across-sum",
     "add(multiply(add(x, y), c), d) -> add(add(multiply(x, c), d), "
     "multiply(y, c))",
     For::Floats, reassociate},
    {"move-affine-across-sum",
     "add(multiply(subtract(x, y), c), d) -> subtract(add(multiply(x, c), d), "
     "multiply(y, c))",
     For::Floats, reassociate},
    {"move-affine-across-product",
     "multiply(multiply(x, y), c) -> multiply(multiply(x, c), y)", For::Floats,
     reassociate},
    {"move-affine-across-product",
     "multiply(divide(x, y), c) -> divide(multiply(x, c), y)", For::Floats,
     reassociate},
    // select(x >= y, x, y) is the larger one.
    {"move-affine-across-clip",
     "add(multiply(select(compare_GE(x, y), x, y), abs(c)), d) -> "
     "select(compare_GE(add(multiply(x, abs(c)), d), add(multiply(y, abs(c)), "
     "d)), add(multiply(x, abs(c)), d), add(multiply(y, abs(c)), d))",
     For::Floats, reassociate},
    {"move-affine-across-clip",
     "subtract(d, multiply(select(compare_GE(x, y), x, y), abs(c))) -> "
     "select(compare_LE(subtract(d, multiply(x, abs(c))), subtract(d, "
     "multiply(y, abs(c)))), subtract(d, multiply(x, abs(c))), subtract(d, "
     "multiply(y, abs(c))))",
     For::Floats, reassociate},
    {"move-affine-across-slope",
     "multiply(select(compare_GE(x, 0), x, multiply(x, y)), abs(c)) -> "
     "select(compare_GE(multiply(x, abs(c)), 0), multiply(x, abs(c)), "
     "multiply(multiply(x, abs(c)), y))",
     For::Floats, reassociate},
    {"move-affine-across-pool",
     "add(multiply(divide(add(x, y), 2), c), d) -> divide(add(add(multiply(x, "
     "c), d), add(multiply(y, c), d)), 2)",
     For::Floats, reassociate},
    {"move-affine-across-resize",
     "add(multiply(add(multiply(x, z), multiply(y, subtract(1, z))), c), d) -> "
     "add(multiply(add(multiply(x, c), d), z), multiply(add(multiply(y, c), "
     "d), subtract(1, z)))",
     For::Floats, reassociate},
    {"move-affine-across-reduction",
     "add(multiply(add(x, y), c), d) -> add(add(multiply(x, c), divide(d, 2)), "
     "add(multiply(y, c), divide(d, 2)))",
     For::Floats, reassociate},
    {"move-affine-across-reduction", "multiply(divide(d, v), v) -> d",
     For::Floats, reassociate},
    {"move-affine-across-selection",
     "add(multiply(select(compare_GT(x, y), x, y), c), d) -> "
     "select(compare_GT(x, y), add(multiply(x, c), d), add(multiply(y, c), d))",
     For::Floats, reassociate},
    {"merge-affine",
     "add(multiply(add(multiply(x, y), z), c), d) -> add(multiply(x, "
     "multiply(y, c)), add(multiply(z, c), d))",
     For::Floats, reassociate},
    {"fold-batch-norm-after",
     "add(multiply(multiply(x, y), c), d) -> add(multiply(x, multiply(y, c)), "
     "d)",
     For::Floats, reassociate},
    {"fold-batch-norm-before",
     "multiply(add(multiply(x, c), d), y) -> add(multiply(x, multiply(c, y)), "
     "multiply(d, y))",
     For::Floats, reassociate},
};

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_AFFINEPASSAGES_H
