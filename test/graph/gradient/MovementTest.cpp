// Gradients of what moves elements: in place, by indices, in order.
//
// Covers: graph/gradient Indexing Order

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

TEST(Gradient, OfMovements) {
  check(R"((%x: tensor<2x3x4xf64>) -> tensor<4x6xf64> {
    %t = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
    %y = stablehlo.reshape %t : (tensor<4x2x3xf64>) -> tensor<4x6xf64>
    return %y : tensor<4x6xf64> })");
  check(R"((%x: tensor<3x1x2xf64>) -> tensor<2x4x3x5xf64> {
    %y = stablehlo.broadcast_in_dim %x, dims = [2, 1, 0] : (tensor<3x1x2xf64>) -> tensor<2x4x3x5xf64>
    return %y : tensor<2x4x3x5xf64> })");
  check(R"((%x: tensor<7x5xf64>) -> tensor<3x2xf64> {
    %y = stablehlo.slice %x [1:7:2, 3:5] : (tensor<7x5xf64>) -> tensor<3x2xf64>
    return %y : tensor<3x2xf64> })");
  check(R"((%x: tensor<4x3xf64>, %v: tensor<f64>) -> tensor<8x1xf64> {
    %y = stablehlo.pad %x, %v, low = [2, -1], high = [-1, -1], interior = [1, 0]
        : (tensor<4x3xf64>, tensor<f64>) -> tensor<8x1xf64>
    return %y : tensor<8x1xf64> })");
  check(R"((%x: tensor<2x3xf64>, %z: tensor<2x1xf64>) -> tensor<2x4xf64> {
    %c = stablehlo.concatenate %x, %z, dim = 1 : (tensor<2x3xf64>, tensor<2x1xf64>) -> tensor<2x4xf64>
    %y = stablehlo.reverse %c, dims = [0, 1] : tensor<2x4xf64>
    return %y : tensor<2x4xf64> })");
  check(
      R"((%x: tensor<5x4xf64>, %u: tensor<2x2xf64>) -> (tensor<3x2xf64>, tensor<5x4xf64>) {
    %i = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.constant dense<9> : tensor<i32>
    %a = stablehlo.dynamic_slice %x, %i, %j, sizes = [3, 2]
        : (tensor<5x4xf64>, tensor<i32>, tensor<i32>) -> tensor<3x2xf64>
    %b = stablehlo.dynamic_update_slice %x, %u, %i, %j
        : (tensor<5x4xf64>, tensor<2x2xf64>, tensor<i32>, tensor<i32>) -> tensor<5x4xf64>
    return %a, %b : tensor<3x2xf64>, tensor<5x4xf64> })");
}

TEST(Gradient, OfIndexing) {
  // The same row twice, and one that is cut to the last.
  check(R"((%x: tensor<5x3xf64>) -> tensor<4x2xf64> {
    %i = stablehlo.constant dense<[[1, 0], [4, 1], [1, 0], [9, 7]]> : tensor<4x2xi64>
    %y = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 2>, indices_are_sorted = false}
        : (tensor<5x3xf64>, tensor<4x2xi64>) -> tensor<4x2xf64>
    return %y : tensor<4x2xf64> })");
  // Two updates of one row, and one outside.
  check(R"((%x: tensor<5x3xf64>, %u: tensor<4x3xf64>) -> tensor<5x3xf64> {
    %i = stablehlo.constant dense<[1, 4, 1, 7]> : tensor<4xi64>
    %y = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
        indices_are_sorted = false, unique_indices = false}
        : (tensor<5x3xf64>, tensor<4xi64>, tensor<4x3xf64>) -> tensor<5x3xf64>
    return %y : tensor<5x3xf64> })");
}

/// Through the permutation, whose ties do not matter; places have no gradient.
TEST(Gradient, OfOrder) {
  for (const char *stable : {"false", "true"})
    for (const char *direction : {"LT", "GT"})
      check(
          std::string(R"((%x: tensor<4x5xf64>, %z: tensor<4x5xf64>)
      -> (tensor<4x5xf64>, tensor<4x5xf64>) {
    %n = stablehlo.iota dim = 0 : tensor<4x5xi32>
    %y:3 = "stablehlo.sort"(%x, %n, %z) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %i: tensor<i32>, %j: tensor<i32>, %c: tensor<f64>, %d: tensor<f64>):
      %r = stablehlo.compare )") +
          direction +
          R"(, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }) {dimension = 0 : i64, is_stable = )" +
          stable +
          R"(} : (tensor<4x5xf64>, tensor<4x5xi32>, tensor<4x5xf64>) -> (tensor<4x5xf64>, tensor<4x5xi32>, tensor<4x5xf64>)
    return %y#0, %y#2 : tensor<4x5xf64>, tensor<4x5xf64> })");
  check(
      R"((%x: tensor<4xf64>, %z: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %y:2 = stablehlo.optimization_barrier %x, %z : tensor<4xf64>, tensor<4xf64>
    %a = stablehlo.multiply %y#0, %y#1 : tensor<4xf64>
    return %a, %y#1 : tensor<4xf64>, tensor<4xf64> })");
}
