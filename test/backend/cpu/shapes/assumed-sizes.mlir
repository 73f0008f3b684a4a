// RUN: sinter-opt %s --split-input-file --cpu-infer-dimensions | FileCheck %s

// What is assumed of sizes is a limit of them: S = 1, and so the dimension may
// be left out.

// CHECK: guards = [{left = array<i64: 1, 1, 1>, left_is = "", node = "nn.assume", relation = 0 : i32, right = array<i64: 1, 0>, right_is = ""}]
// CHECK-LABEL: func @equal(
// CHECK-NOT: nn.assume
// CHECK: stablehlo.reshape
func.func @equal(%x: tensor<?x3x?xf32> {sinter.dims = ["N", "", "S"]}) -> tensor<?x3xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 2 : (tensor<?x3x?xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %is = stablehlo.compare EQ, %size, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  nn.assume %is is true, "pick" : tensor<i1>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3x?xf32>) -> tensor<i32>
  %nv = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %sizes = stablehlo.concatenate %nv, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %sizes : (tensor<?x3x?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// The same without an assumption: what a reshape leaves out is 1.

// CHECK: guards = [{left = array<i64: 1, 1, 1>, left_is = "", node = "stablehlo.dynamic_reshape", relation = 0 : i32, right = array<i64: 1, 0>, right_is = ""}]
// CHECK-LABEL: func @left_out(
func.func @left_out(%x: tensor<?x3x?xf32> {sinter.dims = ["N", "", "S"]}) -> tensor<?x3xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3x?xf32>) -> tensor<i32>
  %nv = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %sizes = stablehlo.concatenate %nv, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %sizes : (tensor<?x3x?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// Not equal, through what changes only types: (S - 1) * (S - 1) >= 1.

// CHECK: guards = [{left = array<i64>, left_is = "", node = "nn.assume", relation = 1 : i32, right = array<i64: -2, 1, 0, 1, 2, 0, 0>, right_is = ""}]
// CHECK-LABEL: func @unequal(
func.func @unequal(%x: tensor<?xf32> {sinter.dims = ["S"]}) -> tensor<?xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %is = stablehlo.compare EQ, %size, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %not = stablehlo.not %is : tensor<i1>
  %number = stablehlo.convert %not : (tensor<i1>) -> tensor<i64>
  %vector = stablehlo.reshape %number : (tensor<i64>) -> tensor<1xi64>
  %scalar = stablehlo.reshape %vector : (tensor<1xi64>) -> tensor<i64>
  %truth = stablehlo.convert %scalar : (tensor<i64>) -> tensor<i1>
  nn.assume %truth is true, "pick" : tensor<i1>
  return %x : tensor<?xf32>
}

// -----

// Not less is at least: S - 4.

// CHECK: guards = [{left = array<i64>, left_is = "", node = "nn.assume", relation = 1 : i32, right = array<i64: -4, 0, 1, 1, 0>, right_is = ""}]
// CHECK-LABEL: func @not_less(
func.func @not_less(%x: tensor<?xf32> {sinter.dims = ["S"]}) -> tensor<?xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %is = stablehlo.compare LT, %size, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
  nn.assume %is is false, "pick" : tensor<i1>
  return %x : tensor<?xf32>
}

// -----

// Of a value the program finds out whether it holds.

// CHECK: guards = [{left = array<i64>, left_is = "", node = "nn.assume", relation = 1 : i32, right = array<i64: -1, 0, 1, 1, 0>, right_is = ""}]
// CHECK-SAME: parameters = ["what is assumed of 'pick'"]
// CHECK-LABEL: func @value(
// CHECK: %[[NOT:.*]] = stablehlo.not %{{.*}} : tensor<i1>
// CHECK: %[[NUMBER:.*]] = stablehlo.convert %[[NOT]] : (tensor<i1>) -> tensor<i64>
// CHECK: cpu.define_sizes %[[NUMBER]]
func.func @value(%c: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  nn.assume %c is false, "pick" : tensor<i1>
  return %x : tensor<3xf32>
}

// -----

// CHECK-LABEL: func @known(
// CHECK-NOT: nn.assume
func.func @known(%x: tensor<?x3xf32> {sinter.dims = ["S", ""]}) -> tensor<?x3xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %is = stablehlo.compare EQ, %size, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  nn.assume %is is true, "pick" : tensor<i1>
  return %x : tensor<?x3xf32>
}
