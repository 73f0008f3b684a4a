//===- LinearAlgebraTest.cpp - factors and solutions ----------------------===//

#include "Evaluate.h"

#include <cmath>

namespace sinter {
namespace {

TEST(Cholesky, LowerAndUpperIgnoreTheOtherTriangle) {
  // [[4, 2], [2, 5]] = l l^T with l = [[2, 0], [1, 2]].
  EXPECT_EQ(evaluateBody(R"(
    %a = stablehlo.constant dense<[[4.0, 77.0], [2.0, 5.0]]> : tensor<2x2xf32>
    %r = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>)",
                         "tensor<2x2xf32>")
                .doubles(),
            (std::vector<double>{2, 0, 1, 2}));
  EXPECT_EQ(evaluateBody(R"(
    %a = stablehlo.constant dense<[[4.0, 2.0], [77.0, 5.0]]> : tensor<2x2xf64>
    %r = stablehlo.cholesky %a, lower = false : tensor<2x2xf64>)",
                         "tensor<2x2xf64>")
                .doubles(),
            (std::vector<double>{2, 1, 0, 2}));
}

TEST(Cholesky, ComplexAndIndefinite) {
  // l = [[1, 0], [2i, 3]]: l l^H = [[1, -2i], [2i, 13]].
  Evaluated result = evaluateBody(R"(
    %a = stablehlo.constant dense<[[(1.0, 0.0), (0.0, -2.0)],
                                   [(0.0, 2.0), (13.0, 0.0)]]>
        : tensor<2x2xcomplex<f32>>
    %r = stablehlo.cholesky %a, lower = true : tensor<2x2xcomplex<f32>>)",
                                  "tensor<2x2xcomplex<f32>>");
  ASSERT_EQ(result.error, "");
  using C = std::complex<float>;
  EXPECT_EQ(result.tensors[0].at<C>(2), C(0, 2));
  EXPECT_EQ(result.tensors[0].at<C>(3), C(3, 0));
  EXPECT_TRUE(std::isnan(evaluateBody(R"(
    %a = stablehlo.constant dense<-1.0> : tensor<1x1xf32>
    %r = stablehlo.cholesky %a, lower = true : tensor<1x1xf32>)",
                                      "tensor<1x1xf32>")
                             .doubles()[0]));
}

/// Every side, triangle and transposition: x is solved for, then multiplied.
TEST(TriangularSolve, SolvesWhatItSays) {
  using C = std::complex<double>;
  for (bool left : {true, false})
    for (bool lower : {true, false})
      for (bool unit : {true, false})
        for (std::string transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          auto flag = [](bool b) { return b ? "true" : "false"; };
          const std::string diagonal[] = {unit ? "(1.0, 0.0)" : "(2.0, 1.0)",
                                          unit ? "(1.0, 0.0)" : "(0.5, -3.0)"};
          Evaluated result = evaluateBody(
              "%a = stablehlo.constant dense<[[" + diagonal[0] +
                  ", (3.0, -1.0)], [(5.0, 2.0), " + diagonal[1] +
                  "]]> : tensor<2x2xcomplex<f64>>\n"
                  "%b = stablehlo.constant dense<[[(1.0, 0.0), (4.0, 1.0)], "
                  "[(2.0, 2.0), (0.0, 3.0)]]> : tensor<2x2xcomplex<f64>>\n"
                  "%r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = " +
                  flag(left) + ", lower = " + flag(lower) +
                  ", unit_diagonal = " + flag(unit) +
                  ", transpose_a = #stablehlo<transpose " + transpose +
                  ">}> : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) "
                  "-> tensor<2x2xcomplex<f64>>",
              "tensor<2x2xcomplex<f64>>");
          ASSERT_EQ(result.error, "");
          C a[2][2] = {{unit ? C(1) : C(2, 1), lower ? C() : C(3, -1)},
                       {lower ? C(5, 2) : C(), unit ? C(1) : C(0.5, -3)}};
          if (transpose != "NO_TRANSPOSE")
            std::swap(a[0][1], a[1][0]);
          if (transpose == "ADJOINT")
            for (auto &row : a)
              for (C &element : row)
                element = std::conj(element);
          const C b[2][2] = {{{1, 0}, {4, 1}}, {{2, 2}, {0, 3}}};
          auto x = [&](int i, int j) {
            return result.tensors[0].at<C>(2 * i + j);
          };
          for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) {
              C sum;
              for (int k = 0; k < 2; ++k)
                sum += left ? a[i][k] * x(k, j) : x(i, k) * a[k][j];
              EXPECT_LT(std::abs(sum - b[i][j]), 1e-12)
                  << left << lower << unit << transpose;
            }
        }
}

} // namespace
} // namespace sinter
