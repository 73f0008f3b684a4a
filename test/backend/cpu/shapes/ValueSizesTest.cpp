//===- ValueSizesTest.cpp - sizes that follow from values -----------------===//
//
// Programs some of whose sizes are computed, against the oracle: compiled once,
// run with values that give other sizes each time, none and all among them, the
// same bits on one and two threads.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/shapes OutlineDynamic
// Covers: runtime DynamicInstance ShapeGuard
// Covers: runtime/host GatheredRows NonZero Suppression

#include "backend/cpu/shapes/ValueCase.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// %r: the places where %m, \p count truths, holds; %s: how many there are.
std::string placesOf(int64_t count) {
  return "%n = nn.non_zero %m : (tensor<" + std::to_string(count) +
         R"(xi1>) -> tensor<1x?xi64>
       %s = stablehlo.get_dimension_size %n, dim = 1 :
           (tensor<1x?xi64>) -> tensor<i32>
       %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
       %r = stablehlo.dynamic_reshape %n, %v :
           (tensor<1x?xi64>, tensor<1xi32>) -> tensor<?xi64>
)";
}

const ValueCase valueCases[] = {
    {"what is filled up to a number and joined with others",
     "(%m: tensor<4xi1>, %x: tensor<3x4xf32>, %y: tensor<2x4xf32>) -> "
     "tensor<5x4xf32> {" +
         placesOf(4) +
         R"(%t = nn.take %x, %r, axis = 1 :
           (tensor<3x4xf32>, tensor<?xi64>) -> tensor<3x?xf32>
       %zero = stablehlo.constant dense<0> : tensor<2xi32>
       %one = stablehlo.constant dense<0> : tensor<1xi32>
       %four = stablehlo.constant dense<4> : tensor<1xi32>
       %left = stablehlo.subtract %four, %v : tensor<1xi32>
       %high = stablehlo.concatenate %one, %left, dim = 0 :
           (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
       %f = stablehlo.constant dense<-1.0> : tensor<f32>
       %p = stablehlo.dynamic_pad %t, %f, %zero, %high, %zero :
           (tensor<3x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>,
            tensor<2xi32>) -> tensor<3x4xf32>
       %j = stablehlo.concatenate %p, %y, dim = 0 :
           (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
       return %j : tensor<5x4xf32>
     })",
     {{ElementType::I1, {4}, 0, 1},
      {ElementType::F32, {3, 4}},
      {ElementType::F32, {2, 4}}}},
    {"places and what is computed at them",
     R"((%x: tensor<5x9xf32>, %y: tensor<5x9x16xf32>)
         -> (tensor<2x?xi64>, tensor<?x16xf32>, tensor<?x24xf32>) {
       %n = nn.non_zero %x : (tensor<5x9xf32>) -> tensor<2x?xi64>
       %t = stablehlo.transpose %n, dims = [1, 0] :
           (tensor<2x?xi64>) -> tensor<?x2xi64>
       %g = "stablehlo.gather"(%y, %t) {
           dimension_numbers = #stablehlo.gather<offset_dims = [1],
               collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
               index_vector_dim = 1>,
           slice_sizes = array<i64: 1, 1, 16>} :
           (tensor<5x9x16xf32>, tensor<?x2xi64>) -> tensor<?x16xf32>
       %e = stablehlo.tanh %g : tensor<?x16xf32>
       %w = stablehlo.iota dim = 1 : tensor<16x24xf32>
       %p = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0] :
           (tensor<?x16xf32>, tensor<16x24xf32>) -> tensor<?x24xf32>
       return %n, %e, %p : tensor<2x?xi64>, tensor<?x16xf32>, tensor<?x24xf32>
     })",
     {{ElementType::F32, {5, 9}}, {ElementType::F32, {5, 9, 16}}}},
    {"a form whose size is counted behind what it holds",
     R"((%x: tensor<6x7xf32>, %w: tensor<2x5xf32>) -> tensor<?xf32> {
       %n = nn.non_zero %x : (tensor<6x7xf32>) -> tensor<2x?xi64>
       %e = stablehlo.convert %n : (tensor<2x?xi64>) -> tensor<2x?xf32>
       %p = stablehlo.dot_general %e, %w, contracting_dims = [0] x [0] :
           (tensor<2x?xf32>, tensor<2x5xf32>) -> tensor<?x5xf32>
       %a = stablehlo.compare EQ, %p, %p :
           (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xi1>
       %b = stablehlo.convert %a : (tensor<?x5xi1>) -> tensor<?x5xi32>
       %zero = stablehlo.constant dense<0> : tensor<i32>
       %c = stablehlo.reduce(%b init: %zero) applies stablehlo.add
           across dimensions = [0, 1] :
           (tensor<?x5xi32>, tensor<i32>) -> tensor<i32>
       %v = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
       %y = stablehlo.dynamic_reshape %p, %v :
           (tensor<?x5xf32>, tensor<1xi32>) -> tensor<?xf32>
       return %y : tensor<?xf32>
     })",
     {{ElementType::F32, {6, 7}}, {ElementType::F32, {2, 5}}}},
    {"sums of what is taken",
     R"((%m: tensor<200xi1>, %y: tensor<200x8xf32>)
         -> (tensor<8xf32>, tensor<?xf32>) {
)" + placesOf(200) +
         R"(       %t = nn.take %y, %r, axis = 0 :
           (tensor<200x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
       %zero = stablehlo.constant dense<0.0> : tensor<f32>
       %a = stablehlo.reduce(%t init: %zero) applies stablehlo.add
           across dimensions = [0] :
           (tensor<?x8xf32>, tensor<f32>) -> tensor<8xf32>
       %b = stablehlo.reduce(%t init: %zero) applies stablehlo.add
           across dimensions = [1] :
           (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
       return %a, %b : tensor<8xf32>, tensor<?xf32>
     })",
     {{ElementType::I1, {200}, 0, 1}, {ElementType::F32, {200, 8}}}},
    {"places in what was found at places",
     R"((%x: tensor<40xf32>) -> (tensor<?xf32>, tensor<1x?xi64>) {
       %n = nn.non_zero %x : (tensor<40xf32>) -> tensor<1x?xi64>
       %s = stablehlo.get_dimension_size %n, dim = 1 :
           (tensor<1x?xi64>) -> tensor<i32>
       %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
       %r = stablehlo.dynamic_reshape %n, %v :
           (tensor<1x?xi64>, tensor<1xi32>) -> tensor<?xi64>
       %t = nn.take %x, %r, axis = 0 :
           (tensor<40xf32>, tensor<?xi64>) -> tensor<?xf32>
       %q = stablehlo.maximum %t, %t : tensor<?xf32>
       %one = stablehlo.constant dense<1.0> : tensor<f32>
       %ones = stablehlo.dynamic_broadcast_in_dim %one, %v, dims = [] :
           (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
       %d = stablehlo.subtract %q, %ones : tensor<?xf32>
       %again = nn.non_zero %d : (tensor<?xf32>) -> tensor<1x?xi64>
       return %d, %again : tensor<?xf32>, tensor<1x?xi64>
     })",
     {{ElementType::F32, {40}, -1, 1}},
     2},
    {"as many as an input says",
     R"((%x: tensor<6xf32>, %k: tensor<2xi64>) -> tensor<?x?x6xf32> {
       %six = stablehlo.constant dense<6> : tensor<1xi64>
       %s = stablehlo.concatenate %k, %six, dim = 0 :
           (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
       %b = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [2] :
           (tensor<6xf32>, tensor<3xi64>) -> tensor<?x?x6xf32>
       %i = stablehlo.dynamic_iota %s, dim = 1 :
           (tensor<3xi64>) -> tensor<?x?x6xf32>
       %y = stablehlo.add %b, %i : tensor<?x?x6xf32>
       return %y : tensor<?x?x6xf32>
     })",
     {{ElementType::F32, {6}}, {ElementType::I64, {2}, 0, 7}},
     2},
    {"the first few",
     R"((%x: tensor<9x4xf32>, %k: tensor<1xi64>) -> tensor<?x4xf32> {
       %z = stablehlo.constant dense<0> : tensor<2xi64>
       %one = stablehlo.constant dense<1> : tensor<2xi64>
       %four = stablehlo.constant dense<4> : tensor<1xi64>
       %l = stablehlo.concatenate %k, %four, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %y = stablehlo.real_dynamic_slice %x, %z, %l, %one :
           (tensor<9x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x4xf32>
       %n = stablehlo.negate %y : tensor<?x4xf32>
       return %n : tensor<?x4xf32>
     })",
     {{ElementType::F32, {9, 4}}, {ElementType::I64, {1}, 0, 9}}},
    {"slices from somewhere",
     R"((%x: tensor<9x6xf32>, %k: tensor<2xi64>, %t: tensor<1xi64>)
         -> (tensor<?x?xf32>, tensor<?x6xf32>) {
       %n = stablehlo.constant dense<[9, 6]> : tensor<2xi64>
       %one = stablehlo.constant dense<1> : tensor<2xi64>
       %y = stablehlo.real_dynamic_slice %x, %k, %n, %one :
           (tensor<9x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x?xf32>
       %z = stablehlo.constant dense<0> : tensor<2xi64>
       %single = stablehlo.constant dense<1> : tensor<1xi64>
       %s = stablehlo.concatenate %t, %single, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %w = stablehlo.real_dynamic_slice %x, %z, %n, %s :
           (tensor<9x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x6xf32>
       %r = stablehlo.reverse %w, dims = [0] : tensor<?x6xf32>
       return %y, %r : tensor<?x?xf32>, tensor<?x6xf32>
     })",
     {{ElementType::F32, {9, 6}},
      {ElementType::I64, {2}, 0, 6},
      {ElementType::I64, {1}, 1, 9}},
     3},
    {"padding as wide as inputs say",
     R"((%x: tensor<3x5xf32>, %l: tensor<2xi64>, %h: tensor<2xi64>)
         -> tensor<?x?xf32> {
       %i = stablehlo.constant dense<0> : tensor<2xi64>
       %v = stablehlo.constant dense<-7.5> : tensor<f32>
       %p = stablehlo.dynamic_pad %x, %v, %l, %h, %i :
           (tensor<3x5xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>,
            tensor<2xi64>) -> tensor<?x?xf32>
       %y = stablehlo.negate %p : tensor<?x?xf32>
       return %y : tensor<?x?xf32>
     })",
     {{ElementType::F32, {3, 5}},
      {ElementType::I64, {2}, -1, 4},
      {ElementType::I64, {2}, -1, 4}},
     2},
    {"sorted, with what belongs to it",
     R"((%m: tensor<900xi1>, %x: tensor<900xf32>, %y: tensor<900xi64>)
         -> (tensor<?xf32>, tensor<?xi64>, tensor<?xi64>) {
)" + placesOf(900) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<900xf32>, tensor<?xi64>) -> tensor<?xf32>
       %b = nn.take %y, %r, axis = 0 :
           (tensor<900xi64>, tensor<?xi64>) -> tensor<?xi64>
       %c:2 = "stablehlo.sort"(%a, %r) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>, %i: tensor<i64>, %j: tensor<i64>):
         %l = stablehlo.compare GT, %p, %q :
             (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %l : tensor<i1>
       }) {dimension = 0 : i64, is_stable = true} :
           (tensor<?xf32>, tensor<?xi64>) -> (tensor<?xf32>, tensor<?xi64>)
       %d = "stablehlo.sort"(%b) ({
       ^bb0(%p: tensor<i64>, %q: tensor<i64>):
         %l = stablehlo.compare LT, %p, %q :
             (tensor<i64>, tensor<i64>) -> tensor<i1>
         stablehlo.return %l : tensor<i1>
       }) {dimension = 0 : i64, is_stable = true} :
           (tensor<?xi64>) -> tensor<?xi64>
       return %c#0, %c#1, %d : tensor<?xf32>, tensor<?xi64>, tensor<?xi64>
     })",
     {{ElementType::I1, {900}, 0, 1},
      {ElementType::F32, {900}, -40, 40},
      {ElementType::I64, {900}, -700, 700}}},
    {"rows that are sorted, as many as there are",
     R"((%m: tensor<30xi1>, %x: tensor<30x40xf32>)
         -> (tensor<?x40xf32>, tensor<?x40xf32>) {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x40xf32>, tensor<?xi64>) -> tensor<?x40xf32>
       %b = "stablehlo.sort"(%a) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %l = stablehlo.compare LT, %p, %q :
             (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %l : tensor<i1>
       }) {dimension = 1 : i64, is_stable = true} :
           (tensor<?x40xf32>) -> tensor<?x40xf32>
       %c = "stablehlo.sort"(%a) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %o = stablehlo.abs %p : tensor<f32>
         %k = stablehlo.abs %q : tensor<f32>
         %l = stablehlo.compare LT, %o, %k :
             (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %l : tensor<i1>
       }) {dimension = 0 : i64, is_stable = true} :
           (tensor<?x40xf32>) -> tensor<?x40xf32>
       return %b, %c : tensor<?x40xf32>, tensor<?x40xf32>
     })",
     {{ElementType::I1, {30}, 0, 1}, {ElementType::F32, {30, 40}, -9, 9}}},
    {"scattered to places, and into what is as large as it is",
     R"((%m: tensor<30xi1>, %x: tensor<30x5xf32>, %z: tensor<30x5xf32>)
         -> (tensor<30x5xf32>, tensor<?x5xf32>) {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x5xf32>, tensor<?xi64>) -> tensor<?x5xf32>
       %b = "stablehlo.scatter"(%z, %r, %a) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %o = stablehlo.add %p, %q : tensor<f32>
         stablehlo.return %o : tensor<f32>
       }) {scatter_dimension_numbers = #stablehlo.scatter<
             update_window_dims = [1], inserted_window_dims = [0],
             scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
           indices_are_sorted = false, unique_indices = false} :
           (tensor<30x5xf32>, tensor<?xi64>, tensor<?x5xf32>)
           -> tensor<30x5xf32>
       %t = stablehlo.tanh %a : tensor<?x5xf32>
       %h = stablehlo.constant dense<[[0, 0], [2, 4], [7, 1], [2, 4]]> :
           tensor<4x2xi64>
       %u = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
       %c = "stablehlo.scatter"(%t, %h, %u) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %o = stablehlo.subtract %q, %p : tensor<f32>
         stablehlo.return %o : tensor<f32>
       }) {scatter_dimension_numbers = #stablehlo.scatter<
             inserted_window_dims = [0, 1],
             scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>,
           indices_are_sorted = false, unique_indices = false} :
           (tensor<?x5xf32>, tensor<4x2xi64>, tensor<4xf32>)
           -> tensor<?x5xf32>
       return %b, %c : tensor<30x5xf32>, tensor<?x5xf32>
     })",
     {{ElementType::I1, {30}, 0, 1},
      {ElementType::F32, {30, 5}},
      {ElementType::F32, {30, 5}}}},
    {"windows over as many as there are",
     R"((%m: tensor<30xi1>, %x: tensor<30x6xf32>)
         -> (tensor<?x6xf32>, tensor<?x3xf32>) {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
       %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
       %zero = stablehlo.constant dense<0.5> : tensor<f32>
       %b = "stablehlo.reduce_window"(%a, %low) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %o = stablehlo.maximum %p, %q : tensor<f32>
         stablehlo.return %o : tensor<f32>
       }) {window_dimensions = array<i64: 3, 1>,
           padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>} :
           (tensor<?x6xf32>, tensor<f32>) -> tensor<?x6xf32>
       %c = "stablehlo.reduce_window"(%a, %zero) ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %o = stablehlo.add %p, %q : tensor<f32>
         stablehlo.return %o : tensor<f32>
       }) {window_dimensions = array<i64: 2, 2>,
           window_strides = array<i64: 2, 2>,
           padding = dense<[[1, 2], [0, 0]]> : tensor<2x2xi64>} :
           (tensor<?x6xf32>, tensor<f32>) -> tensor<?x3xf32>
       return %b, %c : tensor<?x6xf32>, tensor<?x3xf32>
     })",
     {{ElementType::I1, {30}, 0, 1}, {ElementType::F32, {30, 6}}}},
    {"parts at computed places, taken and replaced",
     R"((%m: tensor<30xi1>, %x: tensor<30x6xf32>, %i: tensor<i64>)
         -> (tensor<?x2xf32>, tensor<?x6xf32>) {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
       %z = stablehlo.constant dense<0> : tensor<i64>
       %two = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
       %row = stablehlo.constant dense<3.0> : tensor<1x6xf32>
       %t = stablehlo.tanh %a : tensor<?x6xf32>
       %j = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
       %one = stablehlo.constant dense<1> : tensor<2xi64>
       %four = stablehlo.constant dense<4> : tensor<1xi64>
       %w = stablehlo.convert %v : (tensor<1xi32>) -> tensor<1xi64>
       %l = stablehlo.concatenate %w, %four, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %b = stablehlo.real_dynamic_slice %t, %j, %l, %one :
           (tensor<?x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x2xf32>
       %e = "stablehlo.concatenate"(%a, %row) {dimension = 0 : i64} :
           (tensor<?x6xf32>, tensor<1x6xf32>) -> tensor<?x6xf32>
       %c = stablehlo.dynamic_update_slice %e, %two, %i, %z :
           (tensor<?x6xf32>, tensor<1x2xf32>, tensor<i64>, tensor<i64>)
           -> tensor<?x6xf32>
       return %b, %c : tensor<?x2xf32>, tensor<?x6xf32>
     })",
     {{ElementType::I1, {30}, 0, 1},
      {ElementType::F32, {30, 6}},
      {ElementType::I64, {}, -3, 30}}},
    {"running sums of as many as there are",
     R"((%m: tensor<30xi1>, %x: tensor<30x6xf32>)
         -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?xi64>) {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
       %b = nn.cumulative_sum %a, axis = 0
           {exclusive = false, reverse = true} : tensor<?x6xf32>
       %c = nn.cumulative_sum %a, axis = 1
           {exclusive = true, reverse = false} : tensor<?x6xf32>
       %d = nn.cumulative_sum %r, axis = 0
           {exclusive = true, reverse = false} : tensor<?xi64>
       return %b, %c, %d : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?xi64>
     })",
     {{ElementType::I1, {30}, 0, 1}, {ElementType::F32, {30, 6}}}},
    {"rows of a tensor that may have none",
     R"((%m: tensor<12xi1>, %x: tensor<12x12xf32>) -> tensor<?x?xf32> {
)" + placesOf(12) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<12x12xf32>, tensor<?xi64>) -> tensor<?x12xf32>
       %b = nn.take %a, %r, axis = 1 :
           (tensor<?x12xf32>, tensor<?xi64>) -> tensor<?x?xf32>
       %i = stablehlo.dynamic_iota %v, dim = 0 :
           (tensor<1xi32>) -> tensor<?xi64>
       %c = nn.take %b, %i, axis = 0 :
           (tensor<?x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
       %d = stablehlo.negate %c : tensor<?x?xf32>
       return %d : tensor<?x?xf32>
     })",
     {{ElementType::I1, {12}, 0, 1}, {ElementType::F32, {12, 12}}}},
    {"what loops put behind rows and columns of open sizes",
     R"((%m: tensor<12xi1>, %x: tensor<12x12xf32>, %k: tensor<i64>)
         -> (tensor<?x?xf32>, tensor<?x?xf32>) {
)" + placesOf(12) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<12x12xf32>, tensor<?xi64>) -> tensor<?x12xf32>
       %b = nn.take %a, %r, axis = 1 :
           (tensor<?x12xf32>, tensor<?xi64>) -> tensor<?x?xf32>
       %z = stablehlo.constant dense<0> : tensor<i64>
       %one = stablehlo.constant dense<1> : tensor<i64>
       %w:3 = stablehlo.while(%i = %z, %c = %b, %d = %b) :
           tensor<i64>, tensor<?x?xf32>, tensor<?x?xf32>
        cond {
         %less = stablehlo.compare LT, %i, %k :
             (tensor<i64>, tensor<i64>) -> tensor<i1>
         stablehlo.return %less : tensor<i1>
       } do {
         %j = stablehlo.add %i, %one : tensor<i64>
         %n2 = stablehlo.negate %b : tensor<?x?xf32>
         %e = stablehlo.concatenate %c, %n2, dim = 0 :
             (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
         %f = stablehlo.concatenate %d, %b, dim = 1 :
             (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
         stablehlo.return %j, %e, %f :
             tensor<i64>, tensor<?x?xf32>, tensor<?x?xf32>
       }
       return %w#1, %w#2 : tensor<?x?xf32>, tensor<?x?xf32>
     })",
     {{ElementType::I1, {12}, 0, 1},
      {ElementType::F32, {12, 12}},
      {ElementType::I64, {}, 0, 3}},
     3},
    {"a loop over as many as there are",
     R"((%m: tensor<30xi1>, %x: tensor<30x6xf32>, %k: tensor<i64>)
         -> (tensor<?x6xf32>, tensor<?xi64>) {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
       %z = stablehlo.constant dense<0> : tensor<i64>
       %one = stablehlo.constant dense<1> : tensor<i64>
       %w:3 = stablehlo.while(%i = %z, %b = %a, %t = %r) :
           tensor<i64>, tensor<?x6xf32>, tensor<?xi64>
        cond {
         %less = stablehlo.compare LT, %i, %k :
             (tensor<i64>, tensor<i64>) -> tensor<i1>
         stablehlo.return %less : tensor<i1>
       } do {
         %j = stablehlo.add %i, %one : tensor<i64>
         %c = stablehlo.cosine %b : tensor<?x6xf32>
         %d = stablehlo.add %c, %a : tensor<?x6xf32>
         %e = stablehlo.subtract %r, %t : tensor<?xi64>
         stablehlo.return %j, %d, %e :
             tensor<i64>, tensor<?x6xf32>, tensor<?xi64>
       }
       return %w#1, %w#2 : tensor<?x6xf32>, tensor<?xi64>
     })",
     {{ElementType::I1, {30}, 0, 1},
      {ElementType::F32, {30, 6}},
      {ElementType::I64, {}, 0, 4}}},
    {"padded on either side",
     R"((%m: tensor<30xi1>, %x: tensor<30x6xf32>) -> tensor<?x9xf32> {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
       %v2 = stablehlo.constant dense<2.5> : tensor<f32>
       %b = stablehlo.pad %a, %v2, low = [2, -1], high = [1, 4],
           interior = [0, 0] : (tensor<?x6xf32>, tensor<f32>) -> tensor<?x9xf32>
       return %b : tensor<?x9xf32>
     })",
     {{ElementType::I1, {30}, 0, 1}, {ElementType::F32, {30, 6}}}},
    {"boxes that no better one strikes out",
     R"((%m: tensor<200xi1>, %b: tensor<200x4xf32>, %x: tensor<3x200xf32>,
         %k: tensor<i64>) -> (tensor<?x3xi64>, tensor<?x3xi64>) {
)" + placesOf(200) +
         R"(       %c = nn.take %b, %r, axis = 0 :
           (tensor<200x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
       %d = nn.take %x, %r, axis = 1 :
           (tensor<3x200xf32>, tensor<?xi64>) -> tensor<3x?xf32>
       %one = stablehlo.constant dense<1> : tensor<1xi32>
       %four = stablehlo.constant dense<4> : tensor<1xi32>
       %three = stablehlo.constant dense<3> : tensor<1xi32>
       %bs = stablehlo.concatenate %one, %v, %four, dim = 0 :
           (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
       %ss = stablehlo.concatenate %one, %three, %v, dim = 0 :
           (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
       %boxes = stablehlo.dynamic_reshape %c, %bs :
           (tensor<?x4xf32>, tensor<3xi32>) -> tensor<1x?x4xf32>
       %scores = stablehlo.dynamic_reshape %d, %ss :
           (tensor<3x?xf32>, tensor<3xi32>) -> tensor<1x3x?xf32>
       %o = stablehlo.constant dense<0.25> : tensor<f32>
       %t = stablehlo.constant dense<-5.0> : tensor<f32>
       %p = nn.non_max_suppression %boxes, %scores, %k, %o, %t
           centred = false : (tensor<1x?x4xf32>, tensor<1x3x?xf32>,
           tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
       %q = nn.non_max_suppression %boxes, %scores, %k, %o centred = true :
           (tensor<1x?x4xf32>, tensor<1x3x?xf32>, tensor<i64>, tensor<f32>)
           -> tensor<?x3xi64>
       return %p, %q : tensor<?x3xi64>, tensor<?x3xi64>
     })",
     {{ElementType::I1, {200}, 0, 1},
      {ElementType::F32, {200, 4}, -9, 9},
      {ElementType::F32, {3, 200}, -9, 9},
      {ElementType::I64, {}, 0, 30}},
     3},
    {"put behind others, which may be none",
     R"((%m: tensor<30xi1>, %x: tensor<30xf32>)
         -> tensor<30xf32> {
)" + placesOf(30) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<30xf32>, tensor<?xi64>) -> tensor<?xf32>
       %b = stablehlo.reverse %a, dims = [0] : tensor<?xf32>
       %all = stablehlo.constant dense<30> : tensor<1xi32>
       %none = stablehlo.constant dense<0> : tensor<1xi32>
       %h = stablehlo.subtract %all, %v : tensor<1xi32>
       %f = stablehlo.constant dense<3.0> : tensor<f32>
       %p = stablehlo.dynamic_pad %b, %f, %none, %h, %none :
           (tensor<?xf32>, tensor<f32>, tensor<1xi32>,
            tensor<1xi32>, tensor<1xi32>) -> tensor<30xf32>
       return %p : tensor<30xf32>
     })",
     {{ElementType::I1, {30}, 0, 1}, {ElementType::F32, {30}}}},
    {"padded between elements and around them by computed amounts",
     R"((%m: tensor<12xi1>, %x: tensor<12xf32>, %l: tensor<1xi32>,
         %h: tensor<1xi32>) -> (tensor<?xf32>, tensor<?xf32>) {
)" + placesOf(12) +
         R"(       %a = nn.take %x, %r, axis = 0 :
           (tensor<12xf32>, tensor<?xi64>) -> tensor<?xf32>
       %b = stablehlo.concatenate %a, %x, dim = 0 :
           (tensor<?xf32>, tensor<12xf32>) -> tensor<?xf32>
       %two = stablehlo.constant dense<2> : tensor<1xi32>
       %one = stablehlo.constant dense<1> : tensor<1xi32>
       %f = stablehlo.constant dense<3.0> : tensor<f32>
       %p = stablehlo.dynamic_pad %b, %f, %l, %h, %two :
           (tensor<?xf32>, tensor<f32>, tensor<1xi32>,
            tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
       %q = stablehlo.dynamic_pad %x, %f, %l, %h, %one :
           (tensor<12xf32>, tensor<f32>, tensor<1xi32>,
            tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
       return %p, %q : tensor<?xf32>, tensor<?xf32>
     })",
     {{ElementType::I1, {12}, 0, 1},
      {ElementType::F32, {12}},
      {ElementType::I32, {1}, -3, 5},
      {ElementType::I32, {1}, -4, 6}},
     3},
    {"a computed size beside a number",
     R"((%x: tensor<4x1xf32>, %k: tensor<1xi64>) -> tensor<4x?xf32> {
       %four = stablehlo.constant dense<4> : tensor<1xi64>
       %s = stablehlo.concatenate %four, %k, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %z = stablehlo.constant dense<0.0> : tensor<f32>
       %f = stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] :
           (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
       %y = nn.broadcast_like %x, %f :
           (tensor<4x1xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>
       return %y : tensor<4x?xf32>
     })",
     {{ElementType::F32, {4, 1}}, {ElementType::I64, {1}, 0, 5}}},
    {"branches of different shapes",
     R"((%c: tensor<i1>, %x: tensor<3x4xf32>, %m: tensor<6xi64>)
         -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xi64>) {
       %n = nn.non_zero %m : (tensor<6xi64>) -> tensor<1x?xi64>
       %s = stablehlo.get_dimension_size %n, dim = 1 :
           (tensor<1x?xi64>) -> tensor<i32>
       %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
       %f = stablehlo.dynamic_reshape %n, %v :
           (tensor<1x?xi64>, tensor<1xi32>) -> tensor<?xi64>
       %r:3 = "stablehlo.if"(%c) ({
         %a = stablehlo.tanh %x : tensor<3x4xf32>
         %k = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
         %b = stablehlo.dynamic_reshape %a, %k :
             (tensor<3x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
         %t = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
         %u = stablehlo.constant dense<[7, 8, 9]> : tensor<3xi64>
         %u2 = stablehlo.add %u, %u : tensor<3xi64>
         %u3 = stablehlo.constant dense<[3]> : tensor<1xi64>
         %u4 = stablehlo.dynamic_reshape %u2, %u3 :
             (tensor<3xi64>, tensor<1xi64>) -> tensor<?xi64>
         stablehlo.return %b, %t, %u4 :
             tensor<?x4xf32>, tensor<2xf32>, tensor<?xi64>
       }, {
         %a = stablehlo.concatenate %x, %x, dim = 0 :
             (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
         %k = stablehlo.constant dense<[6, 4]> : tensor<2xi64>
         %b = stablehlo.dynamic_reshape %a, %k :
             (tensor<6x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %t = stablehlo.reduce(%x init: %z) applies stablehlo.add
             across dimensions = [1] :
             (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
         %u = stablehlo.negate %f : tensor<?xi64>
         stablehlo.return %b, %t, %u :
             tensor<?x4xf32>, tensor<3xf32>, tensor<?xi64>
       }) : (tensor<i1>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xi64>)
       %y = stablehlo.exponential %r#0 : tensor<?x4xf32>
       return %y, %r#1, %r#2 : tensor<?x4xf32>, tensor<?xf32>, tensor<?xi64>
     })",
     {{ElementType::I1, {}, 0, 1},
      {ElementType::F32, {3, 4}},
      {ElementType::I64, {6}, 0, 1}},
     3},
    {"what a loop gathers",
     R"((%x: tensor<4xf32>, %k: tensor<i64>)
         -> (tensor<?x4xf32>, tensor<4xf32>, tensor<?xi64>) {
       %z = stablehlo.constant dense<0> : tensor<i64>
       %one = stablehlo.constant dense<1> : tensor<i64>
       %zero = stablehlo.constant dense<0.0> : tensor<0x4xf32>
       %shape = stablehlo.constant dense<[0, 4]> : tensor<2xi64>
       %none = stablehlo.dynamic_reshape %zero, %shape :
           (tensor<0x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
       %two = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
       %length = stablehlo.constant dense<2> : tensor<1xi64>
       %some = stablehlo.dynamic_reshape %two, %length :
           (tensor<2xi64>, tensor<1xi64>) -> tensor<?xi64>
       %w:4 = stablehlo.while(%i = %z, %a = %x, %s = %none, %t = %some) :
           tensor<i64>, tensor<4xf32>, tensor<?x4xf32>, tensor<?xi64>
        cond {
         %less = stablehlo.compare LT, %i, %k :
             (tensor<i64>, tensor<i64>) -> tensor<i1>
         stablehlo.return %less : tensor<i1>
       } do {
         %j = stablehlo.add %i, %one : tensor<i64>
         %b = stablehlo.cosine %a : tensor<4xf32>
         %c = stablehlo.reshape %b : (tensor<4xf32>) -> tensor<1x4xf32>
         %d = stablehlo.concatenate %s, %c, dim = 0 :
             (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
         %e = stablehlo.reshape %j : (tensor<i64>) -> tensor<1xi64>
         %f = stablehlo.concatenate %t, %e, dim = 0 :
             (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
         stablehlo.return %j, %b, %d, %f :
             tensor<i64>, tensor<4xf32>, tensor<?x4xf32>, tensor<?xi64>
       }
       %y = stablehlo.negate %w#2 : tensor<?x4xf32>
       return %y, %w#1, %w#3 : tensor<?x4xf32>, tensor<4xf32>, tensor<?xi64>
     })",
     {{ElementType::F32, {4}}, {ElementType::I64, {}, 0, 9}},
     2},
    {"a loop and a choice beside it",
     R"((%x: tensor<12xf32>, %c: tensor<i1>) -> (tensor<?xf32>, tensor<i32>) {
       %n = nn.non_zero %x : (tensor<12xf32>) -> tensor<1x?xi64>
       %s = stablehlo.get_dimension_size %n, dim = 1 :
           (tensor<1x?xi64>) -> tensor<i32>
       %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
       %z = stablehlo.constant dense<0> : tensor<i32>
       %w:2 = stablehlo.while(%i = %z, %a = %z) : tensor<i32>, tensor<i32>
        cond {
         %less = stablehlo.compare LT, %i, %s :
             (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.return %less : tensor<i1>
       } do {
         %one = stablehlo.constant dense<1> : tensor<i32>
         %j = stablehlo.add %i, %one : tensor<i32>
         %b = stablehlo.add %a, %j : tensor<i32>
         stablehlo.return %j, %b : tensor<i32>, tensor<i32>
       }
       %f = "stablehlo.if"(%c) ({
         %h = stablehlo.constant dense<2.5> : tensor<f32>
         stablehlo.return %h : tensor<f32>
       }, {
         %h = stablehlo.convert %w#1 : (tensor<i32>) -> tensor<f32>
         stablehlo.return %h : tensor<f32>
       }) : (tensor<i1>) -> tensor<f32>
       %y = stablehlo.dynamic_broadcast_in_dim %f, %v, dims = [] :
           (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
       return %y, %w#1 : tensor<?xf32>, tensor<i32>
     })",
     {{ElementType::F32, {12}, -1, 1}, {ElementType::I1, {}, 0, 1}}},
};

class ValueSizes : public ::testing::TestWithParam<ValueCase> {};

} // namespace

TEST_P(ValueSizes, AreRunByOneProgram) { checkValueCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Values, ValueSizes, ::testing::ValuesIn(valueCases));

/// More sizes than an expression has terms, as detectors join their boxes.
static ValueCase joinedOf(int count) {
  ValueCase joined{
      "places of " + std::to_string(count) + " rows", "", {}, size_t(count)};
  const std::string rows = std::to_string(count);
  std::string names, types;
  joined.body = "(%x: tensor<" + rows + "x3xi1>) -> tensor<?xi64> {\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    joined.body +=
        " %a" + n + " = stablehlo.slice %x [" + n + ":" + next +
        ", 0:3] : (tensor<" + rows + "x3xi1>) -> tensor<1x3xi1>\n %b" + n +
        " = stablehlo.reshape %a" + n +
        " : (tensor<1x3xi1>) -> tensor<3xi1>\n %c" + n + " = nn.non_zero %b" +
        n + " : (tensor<3xi1>) -> tensor<1x?xi64>\n %d" + n +
        " = stablehlo.get_dimension_size %c" + n +
        ", dim = 1 : (tensor<1x?xi64>) -> tensor<i32>\n %e" + n +
        " = stablehlo.reshape %d" + n +
        " : (tensor<i32>) -> tensor<1xi32>\n %f" + n +
        " = stablehlo.dynamic_reshape %c" + n + ", %e" + n +
        " : (tensor<1x?xi64>, tensor<1xi32>) -> tensor<?xi64>\n";
    names += (i ? ", %f" : "%f") + n;
    types += i ? ", tensor<?xi64>" : "tensor<?xi64>";
  }
  joined.body += " %y = stablehlo.concatenate " + names + ", dim = 0 : (" +
                 types + ") -> tensor<?xi64>\n return %y : tensor<?xi64>\n}";
  joined.inputs = {{ElementType::I1, {count, 3}, 0, 1}};
  return joined;
}

INSTANTIATE_TEST_SUITE_P(Joined, ValueSizes,
                         ::testing::Values(joinedOf(33), joinedOf(90)));

TEST(ComputedSizes, AreCheckedBeforeTheyAreUsed) {
  const std::string body =
      R"((%x: tensor<9x4xf32>, %k: tensor<1xi64>, %n: tensor<1xi64>)
          -> (tensor<?x4xf32>, tensor<?xf32>) {
        %z = stablehlo.constant dense<0> : tensor<2xi64>
        %one = stablehlo.constant dense<1> : tensor<2xi64>
        %four = stablehlo.constant dense<4> : tensor<1xi64>
        %l = stablehlo.concatenate %k, %four, dim = 0 :
            (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
        %y = stablehlo.real_dynamic_slice %x, %z, %l, %one :
            (tensor<9x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
            -> tensor<?x4xf32>
        %h = stablehlo.constant dense<0.5> : tensor<f32>
        %b = stablehlo.dynamic_broadcast_in_dim %h, %n, dims = [] :
            (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
        return %y, %b : tensor<?x4xf32>, tensor<?xf32>
      })";
  ASSERT_TRUE(parseModel(body).entry());
  auto program = compileRaised(body);
  ASSERT_TRUE(program) << program.error().message();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor);
  auto run = [&](int64_t k, int64_t n) {
    Tensor inputs[] = {Tensor(ElementType::F32, {9, 4}),
                       Tensor(ElementType::I64, {1}),
                       Tensor(ElementType::I64, {1})};
    inputs[1].mutableValues<int64_t>()[0] = k;
    inputs[2].mutableValues<int64_t>()[0] = n;
    auto done = (*executor)->run(inputs);
    return done ? std::string() : done.error().message();
  };
  EXPECT_EQ(run(9, 3), "");
  EXPECT_NE(run(10, 3).find("must be at most"), std::string::npos)
      << run(10, 3);
  EXPECT_NE(run(-1, 3).find("is -1, which is no size"), std::string::npos)
      << run(-1, 3);
  EXPECT_NE(run(2, -5).find("is -5, which is no size"), std::string::npos)
      << run(2, -5);
  for (int64_t most : {std::numeric_limits<int64_t>::max(),
                       std::numeric_limits<int64_t>::max() / 4,
                       int64_t(1) << 50, int64_t(1) << 42}) {
    const std::string message = run(2, most);
    EXPECT_TRUE(message.find("too large") != std::string::npos ||
                message.find("has ") != std::string::npos)
        << most << ": " << message;
  }
  EXPECT_EQ(run(0, 0), "");
  EXPECT_EQ(run(3, 70), "");
}
