// Gradients of complex numbers.

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

TEST(Gradient, OfComplexNumbers) {
  const std::string z = "tensor<5xcomplex<f64>>";
  auto checkComplex = [&](const std::string &body) {
    check("(%a: tensor<5xf64>, %b: tensor<5xf64>, %c: tensor<5xf64>) -> "
          "(tensor<5xf64>, tensor<5xf64>) {\n"
          "%x = stablehlo.complex %a, %b : " +
              z + "\n%w = stablehlo.complex %c, %a : " + z + "\n" + body +
              "\n%r = stablehlo.real %y : (" + z + ") -> tensor<5xf64>\n" +
              "%i = stablehlo.imag %y : (" + z + ") -> tensor<5xf64>\n" +
              "return %r, %i : tensor<5xf64>, tensor<5xf64> }",
          {0.4, 1.2});
  };
  for (const char *op :
       {"cosine", "exponential", "exponential_minus_one", "log", "log_plus_one",
        "logistic", "negate", "rsqrt", "sine", "sqrt", "tan", "tanh"})
    checkComplex(std::string("%y = stablehlo.") + op + " %x : " + z);
  for (const char *op : {"add", "subtract", "multiply", "divide"})
    checkComplex(std::string("%y = stablehlo.") + op + " %x, %w : " + z);
  checkComplex(
      "%p = stablehlo.constant dense<true> : tensor<i1>\n"
      "%y = \"stablehlo.if\"(%p) ({\n%v = stablehlo.multiply %x, %w : " +
      z + "\nstablehlo.return %v : " + z +
      "\n}, {\nstablehlo.return %x : " + z + "\n}) : (tensor<i1>) -> " + z);
}

TEST(Gradient, OfComplexProducts) {
  check(
      R"((%a: tensor<3x4xf64>, %b: tensor<3x4xf64>, %c: tensor<4x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>) {
    %x = stablehlo.complex %a, %b : tensor<3x4xcomplex<f64>>
    %s = stablehlo.sine %c : tensor<4x2xf64>
    %w = stablehlo.complex %c, %s : tensor<4x2xcomplex<f64>>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<3x4xcomplex<f64>>, tensor<4x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    %i = stablehlo.imag %y : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    return %r, %i : tensor<3x2xf64>, tensor<3x2xf64> })");
}

TEST(Gradient, OfFourierTransforms) {
  for (const char *type : {"FFT", "IFFT"})
    check(
        std::string(
            R"((%a: tensor<2x3x4xf64>, %b: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>) {
    %x = stablehlo.complex %a, %b : tensor<2x3x4xcomplex<f64>>
    %y = stablehlo.fft %x, type = )") +
        type +
        R"(, length = [3, 4] : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xf64>
    %i = stablehlo.imag %y : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xf64>
    return %r, %i : tensor<2x3x4xf64>, tensor<2x3x4xf64> })");
  for (const char *size : {"4", "5"}) {
    const std::string whole = std::string("tensor<3x") + size + "xf64>";
    const std::string half = "tensor<3x3xf64>", z = "tensor<3x3xcomplex<f64>>";
    const std::string length = std::string(", length = [3, ") + size + "]";
    check("(%a: " + whole + ") -> (" + half + ", " + half + ") {\n" +
          "%y = stablehlo.fft %a, type = RFFT" + length + " : (" + whole +
          ") -> " + z + "\n%r = stablehlo.real %y : (" + z + ") -> " + half +
          "\n%i = stablehlo.imag %y : (" + z + ") -> " + half +
          "\nreturn %r, %i : " + half + ", " + half + " }");
    check("(%a: " + half + ", %b: " + half + ") -> " + whole + " {\n" +
          "%x = stablehlo.complex %a, %b : " + z +
          "\n%y = stablehlo.fft %x, type = IRFFT" + length + " : (" + z +
          ") -> " + whole + "\nreturn %y : " + whole + " }");
  }
}

/// Functions of complex numbers that are no powers series, and of two.
TEST(Gradient, OfComplexFunctions) {
  const std::string start =
      R"((%x: tensor<5xf64>, %z: tensor<5xf64>, %u: tensor<5xf64>, %v: tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
    %c = stablehlo.complex %x, %z : tensor<5xcomplex<f64>>
    %d = stablehlo.complex %u, %v : tensor<5xcomplex<f64>>
    )";
  const std::string end = R"(
    %r = stablehlo.real %y : (tensor<5xcomplex<f64>>) -> tensor<5xf64>
    %i = stablehlo.imag %y : (tensor<5xcomplex<f64>>) -> tensor<5xf64>
    return %r, %i : tensor<5xf64>, tensor<5xf64> })";
  for (const char *op : {"sign", "cbrt", "sqrt", "rsqrt", "tan", "logistic",
                         "log", "exponential_minus_one"})
    check(start + "%y = stablehlo." + op + " %c : tensor<5xcomplex<f64>>" + end,
          {0.3, 1});
  for (const char *op :
       {"power", "atan2", "remainder", "maximum", "minimum", "divide"})
    check(start + "%y = stablehlo." + op + " %c, %d : tensor<5xcomplex<f64>>" +
              end,
          {0.3, 1});
  check(start +
        R"(%a = stablehlo.abs %c : (tensor<5xcomplex<f64>>) -> tensor<5xf64>
    %e = stablehlo.convert %a : (tensor<5xf64>) -> tensor<5xcomplex<f64>>
    %y = stablehlo.multiply %e, %d : tensor<5xcomplex<f64>>)" +
        end);
}

TEST(Gradient, OfComplexMatrices) {
  const std::string start =
      R"((%x: tensor<3x3xf64>, %z: tensor<3x3xf64>, %u: tensor<3x3xf64>, %v: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
    %c = stablehlo.complex %x, %z : tensor<3x3xcomplex<f64>>
    %d = stablehlo.complex %u, %v : tensor<3x3xcomplex<f64>>
    )";
  const std::string end =
      R"( : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %i = stablehlo.imag %y : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    return %r, %i : tensor<3x3xf64>, tensor<3x3xf64> })";
  for (const char *isLeft : {"true", "false"})
    for (const char *transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})
      check(start +
                R"(%y = "stablehlo.triangular_solve"(%c, %d) {left_side = )" +
                isLeft +
                ", lower = true, unit_diagonal = false, transpose_a = "
                "#stablehlo<transpose " +
                transpose + ">}" + end,
            {0.8, 1.6});
  // c + c^H, and a diagonal that makes it positive definite.
  for (const char *isLower : {"true", "false"})
    check(
        R"((%x: tensor<3x3xf64>, %z: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %w = stablehlo.transpose %z, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %k = stablehlo.constant dense<[[5.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 7.0]]> : tensor<3x3xf64>
    %s = stablehlo.add %x, %t : tensor<3x3xf64>
    %p = stablehlo.add %s, %k : tensor<3x3xf64>
    %q = stablehlo.subtract %z, %w : tensor<3x3xf64>
    %c = stablehlo.complex %p, %q : tensor<3x3xcomplex<f64>>
    %y = stablehlo.cholesky %c, lower = )" +
        std::string(isLower) + R"( : tensor<3x3xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %i = stablehlo.imag %y : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    return %r, %i : tensor<3x3xf64>, tensor<3x3xf64> })");
}
