// Gradients of scatters by every combiner: places that get nothing, one update
// and several, updates that lie outside and windows that do so in part.
//
// Covers: graph/gradient Indexing Order

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

/// A scatter of f64 from 4 updates into 5 elements. \p body gives \p result
/// from the element %a and the update %b.
static std::string scatterOf(const std::string &indices,
                             const std::string &body,
                             const std::string &isUnique = "false",
                             const std::string &result = "%r") {
  return R"((%x: tensor<5xf64>, %u: tensor<4xf64>, %s: tensor<f64>) -> tensor<5xf64> {
    %i = stablehlo.constant dense<)" +
         indices + R"(> : tensor<4x1xi32>
    %y = "stablehlo.scatter"(%x, %i, %u) <{unique_indices = )" +
         isUnique +
         R"(, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      )" +
         body +
         R"(
      stablehlo.return )" +
         result + R"( : tensor<f64>
    }) : (tensor<5xf64>, tensor<4x1xi32>, tensor<4xf64>) -> tensor<5xf64>
    return %y : tensor<5xf64> })";
}

static constexpr const char *several = "[[3], [1], [3], [9]]";
static constexpr const char *single = "[[3], [1], [0], [-1]]";

TEST(ScatterGradient, OfEveryCombiner) {
  for (const char *indices : {several, single})
    for (const char *body : {
             "%r = stablehlo.add %a, %b : tensor<f64>",
             "%r = stablehlo.multiply %b, %a : tensor<f64>",
             "%r = stablehlo.maximum %a, %b : tensor<f64>",
             "%r = stablehlo.minimum %a, %b : tensor<f64>",
             "%t = stablehlo.sine %a : tensor<f64>\n"
             "%r = stablehlo.subtract %t, %b : tensor<f64>",
             "%t = stablehlo.multiply %s, %b : tensor<f64>\n"
             "%r = stablehlo.add %a, %t : tensor<f64>",
         })
      check(scatterOf(indices, body));
  check(scatterOf(single,
                  "%t = stablehlo.multiply %a, %b : tensor<f64>\n"
                  "%r = stablehlo.multiply %t, %s : tensor<f64>",
                  "true"));
}

/// The update alone is returned: what was there is gone.
TEST(ScatterGradient, OfReplacements) {
  for (const char *indices : {several, single})
    check(scatterOf(indices, "", "false", "%b"));
}

/// A factor that is zero has a gradient, where no other is.
TEST(ScatterGradient, OfProductsWithZeros) {
  check(R"((%x: tensor<3xf64>, %u: tensor<4xf64>) -> tensor<3xf64> {
    %p = stablehlo.constant dense<[1.0, 0.0, 0.0]> : tensor<3xf64>
    %q = stablehlo.constant dense<[0.0, 1.0, 0.0, 1.0]> : tensor<4xf64>
    %a = stablehlo.multiply %x, %p : tensor<3xf64>
    %b = stablehlo.multiply %u, %q : tensor<4xf64>
    %i = stablehlo.constant dense<[0, 1, 2, 2]> : tensor<4xi8>
    %y = "stablehlo.scatter"(%a, %i, %b) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%c: tensor<f64>, %d: tensor<f64>):
      %r = stablehlo.multiply %c, %d : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<3xf64>, tensor<4xi8>, tensor<4xf64>) -> tensor<3xf64>
    return %y : tensor<3xf64> })");
}

/// Windows of rows and columns, half outside, of indices of several types.
TEST(ScatterGradient, OfWindows) {
  for (const char *type : {"i8", "ui8", "i64", "ui64"})
    for (const char *combiner : {"add", "maximum", "multiply"})
      check(
          std::string(
              R"((%x: tensor<4x5xf64>, %u: tensor<3x2x3xf64>) -> tensor<4x5xf64> {
    %i = stablehlo.constant dense<[[0, 1], [3, 1], [1, 4]]> : tensor<3x2x)") +
          type + R"(>
    %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
        scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.)" +
          combiner + R"( %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<4x5xf64>, tensor<3x2x)" +
          type + R"(>, tensor<3x2x3xf64>) -> tensor<4x5xf64>
    return %y : tensor<4x5xf64> })");
}

/// The places of a byte reach beyond a byte's sizes.
TEST(ScatterGradient, OfGathersByBytes) {
  check(R"((%x: tensor<300xf64>) -> tensor<2xf64> {
    %i = stablehlo.constant dense<[100, -5]> : tensor<2xi8>
    %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
        index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<300xf64>, tensor<2xi8>) -> tensor<2xf64>
    return %y : tensor<2xf64> })");
}

/// Two tensors at once, each from both, and complex numbers.
TEST(ScatterGradient, OfSeveralTensors) {
  for (const char *indices : {several, single})
    check(
        std::string(
            R"((%x: tensor<5xf64>, %z: tensor<5xf64>, %u: tensor<4xf64>, %v: tensor<4xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
    %i = stablehlo.constant dense<)") +
        indices + R"(> : tensor<4x1xi32>
    %y:2 = "stablehlo.scatter"(%x, %z, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
      %r = stablehlo.multiply %a, %d : tensor<f64>
      %s = stablehlo.subtract %b, %c : tensor<f64>
      stablehlo.return %r, %s : tensor<f64>, tensor<f64>
    }) : (tensor<5xf64>, tensor<5xf64>, tensor<4x1xi32>, tensor<4xf64>, tensor<4xf64>) -> (tensor<5xf64>, tensor<5xf64>)
    return %y#0, %y#1 : tensor<5xf64>, tensor<5xf64> })");
  for (const char *combiner : {"add", "multiply", "subtract"})
    check(
        std::string(
            R"((%x: tensor<3xf64>, %z: tensor<3xf64>, %u: tensor<4xf64>, %v: tensor<4xf64>) -> tensor<3xf64> {
    %c = stablehlo.complex %x, %z : tensor<3xcomplex<f64>>
    %d = stablehlo.complex %u, %v : tensor<4xcomplex<f64>>
    %i = stablehlo.constant dense<[2, 0, 2, 3]> : tensor<4xi32>
    %y = "stablehlo.scatter"(%c, %i, %d) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
      %r = stablehlo.)") +
        combiner + R"( %a, %b : tensor<complex<f64>>
      stablehlo.return %r : tensor<complex<f64>>
    }) : (tensor<3xcomplex<f64>>, tensor<4xi32>, tensor<4xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %j = stablehlo.imag %y : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %o = stablehlo.multiply %r, %j : tensor<3xf64>
    return %o : tensor<3xf64> })");
}

TEST(ScatterGradient, OfChosenPlaces) {
  for (const char *body : {
           "%r = stablehlo.add %a, %b : tensor<f64>",
           "%r = stablehlo.multiply %a, %b : tensor<f64>",
           "%t = stablehlo.sine %b : tensor<f64>\n"
           "%r = stablehlo.multiply %t, %a : tensor<f64>",
       })
    check(
        std::string(
            R"((%x: tensor<5x4xf64>, %u: tensor<3x2xf64>, %s: tensor<f64>) -> tensor<5x4xf64> {
    %y = "stablehlo.select_and_scatter"(%x, %u, %s) <{window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>,
        padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }, {
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      )") +
        body + R"(
      stablehlo.return %r : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<3x2xf64>, tensor<f64>) -> tensor<5x4xf64>
    return %y : tensor<5x4xf64> })");
}

/// The gradient by a tensor that is there twice counts once.
TEST(ScatterGradient, OfOneTensorTwice) {
  for (const char *attributes : {"", ", unique_indices = true"})
    check(
        std::string(
            R"((%x: tensor<4xf64>, %u: tensor<2xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %i = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
    %y:2 = "stablehlo.scatter"(%x, %x, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>)") +
        attributes + R"(}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
      %r = stablehlo.multiply %a, %c : tensor<f64>
      %s = stablehlo.add %b, %d : tensor<f64>
      stablehlo.return %r, %s : tensor<f64>, tensor<f64>
    }) : (tensor<4xf64>, tensor<4xf64>, tensor<2xi32>, tensor<2xf64>, tensor<2xf64>) -> (tensor<4xf64>, tensor<4xf64>)
    return %y#0, %y#1 : tensor<4xf64>, tensor<4xf64> })");
}

/// Nothing is put anywhere, or anywhere is nowhere.
TEST(ScatterGradient, OfNoElements) {
  for (auto [size, count] : {std::pair("3", "0"), {"0", "2"}}) {
    const std::string x = std::string("tensor<") + size + "xf64>",
                      u = std::string("tensor<") + count + "xf64>",
                      i = std::string("tensor<") + count + "xi32>";
    check("(%x: " + x + ", %u: " + u + ") -> " + x +
          " {\n%i = stablehlo.constant dense<0> : " + i +
          R"(
    %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.multiply %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : ()" +
          x + ", " + i + ", " + u + ") -> " + x + "\nreturn %y : " + x + " }");
  }
}
