// RUN: not sinter-opt %s --split-input-file --cpu-infer-dimensions 2>&1 | FileCheck %s

// CHECK: nn.assume: sizes contradict what it takes for granted of 'pick'
func.func @contradicted(%x: tensor<?x3xf32> {sinter.dims = ["S", ""]}) -> tensor<?x3xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %is = stablehlo.compare EQ, %size, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  nn.assume %is is false, "pick" : tensor<i1>
  return %x : tensor<?x3xf32>
}

// -----

// No size serves but 0.

// CHECK: it would be for sizes only where 0 <= -1*S
func.func @nobody(%x: tensor<?xf32> {sinter.dims = ["S"]}) -> tensor<?xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %is = stablehlo.compare LE, %size, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  nn.assume %is is true, "pick" : tensor<i1>
  return %x : tensor<?xf32>
}
