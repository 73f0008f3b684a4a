//===- FiniteDifferences.h - gradients held against differences -----------===//

#ifndef SINTER_TEST_GRAPH_GRADIENT_FINITEDIFFERENCES_H
#define SINTER_TEST_GRAPH_GRADIENT_FINITEDIFFERENCES_H

#include "graph/Model.h"
#include "graph/interfaces/Differentiable.h"
#include "runtime/Tensor.h"

#include <string>

namespace sinter::test {

/// Of the random numbers that a gradient is taken at. Integers are less than
/// the limit.
struct Range {
  double low = -1, high = 1;
  uint64_t integerLimit = 16;
};

/// Random numbers of a tensor's type.
Tensor randomOf(mlir::Type type, uint64_t seed, Range range);

/// The model of a module's text.
Model parse(const std::string &text);

/// Makes `main` return the gradients of the weighted sum of its results by its
/// arguments, of those of both that are real or complex numbers.
mlir::LogicalResult differentiate(Model &model, llvm::ArrayRef<Tensor> weights);

/// Expects that `main` has no gradient by its one result, with one error for
/// it: that.
std::string refusalOf(Model &model);

/// Holds the gradients of a model against central differences in f64, and with
/// \p isTwice those of its gradients, too. All real and complex numbers are of
/// f64; a complex gradient is that by the real part and that by the imaginary
/// one. False where a test has failed.
bool checkModel(const Model &model, llvm::ArrayRef<Tensor> inputs,
                uint64_t seed, bool isTwice);

/// Holds gradients against central differences in f64, and second derivatives
/// against those of the gradients. \p body is the text of
/// `main` without "func.func @main"; all its arguments and results are f64.
void check(const std::string &body, Range range = {});

/// The same for an operation with one operand, and with two.
void checkUnary(const std::string &op, Range range = {});
void checkBinary(const std::string &op, Range range = {});

} // namespace sinter::test

#endif // SINTER_TEST_GRAPH_GRADIENT_FINITEDIFFERENCES_H
