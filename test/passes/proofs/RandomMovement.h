//===- RandomMovement.h - random chains of operations that move elements
//---===//

#ifndef SINTER_TEST_PASSES_PROOFS_RANDOMMOVEMENT_H
#define SINTER_TEST_PASSES_PROOFS_RANDOMMOVEMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <random>

namespace sinter::test {

/// Appends a function of two to four such operations to what \p builder is
/// in, on f32 tensors of ranks 1 to 4 with static sizes from 0 to 6.
mlir::func::FuncOp randomMovement(mlir::OpBuilder &builder,
                                  std::mt19937_64 &random);

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_RANDOMMOVEMENT_H
