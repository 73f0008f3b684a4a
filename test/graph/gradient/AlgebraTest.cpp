// Gradients of what solves and factors matrices.

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

TEST(Gradient, OfTriangularMatrices) {
  for (const char *isLeft : {"true", "false"})
    for (const char *isLower : {"true", "false"})
      for (const char *isUnit : {"true", "false"})
        for (const char *transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})
          check(
              std::string(
                  R"((%a: tensor<2x3x3xf64>, %b: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
    %y = "stablehlo.triangular_solve"(%a, %b) {left_side = )") +
                  isLeft + ", lower = " + isLower + ", unit_diagonal = " +
                  isUnit + ", transpose_a = #stablehlo<transpose " + transpose +
                  R"(>} : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    return %y : tensor<2x3x3xf64> })",
              {0.8, 1.6});
  for (const char *isLower : {"true", "false"})
    check(std::string(R"((%x: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
    %d = stablehlo.constant dense<[[4.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 6.0]]> : tensor<3x3xf64>
    %e = stablehlo.broadcast_in_dim %d, dims = [1, 2] : (tensor<3x3xf64>) -> tensor<2x3x3xf64>
    %a = stablehlo.add %x, %e : tensor<2x3x3xf64>
    %y = stablehlo.cholesky %a, lower = )") +
          isLower + R"( : tensor<2x3x3xf64>
    return %y : tensor<2x3x3xf64> })");
}
