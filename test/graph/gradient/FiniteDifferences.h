//===- FiniteDifferences.h - gradients held against differences -----------===//

#ifndef SINTER_TEST_GRAPH_GRADIENT_FINITEDIFFERENCES_H
#define SINTER_TEST_GRAPH_GRADIENT_FINITEDIFFERENCES_H

#include "graph/Model.h"
#include "graph/interfaces/Differentiable.h"
#include "runtime/Tensor.h"

#include <string>

namespace sinter::test {

/// Of the random numbers that a gradient is taken at.
struct Range {
  double low = -1, high = 1;
};

/// Random numbers of a tensor's type.
Tensor randomOf(mlir::Type type, uint64_t seed, Range range);

/// The model of a module's text.
Model parse(const std::string &text);

/// Makes `main` return the gradients of the weighted sum of its results by its
/// arguments.
mlir::LogicalResult differentiate(Model &model, llvm::ArrayRef<Tensor> weights);

/// Holds gradients against central differences in f64, and second derivatives
/// against those of the gradients. \p body is the text of
/// `main` without "func.func @main"; all its arguments and results are f64.
void check(const std::string &body, Range range = {});

/// The same for an operation with one operand, and with two.
void checkUnary(const std::string &op, Range range = {});
void checkBinary(const std::string &op, Range range = {});

} // namespace sinter::test

#endif // SINTER_TEST_GRAPH_GRADIENT_FINITEDIFFERENCES_H
