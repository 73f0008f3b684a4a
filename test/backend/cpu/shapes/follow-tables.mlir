// RUN: sinter-opt %s --cpu-infer-dimensions | FileCheck %s
// Covers: backend/cpu/shapes ShapeValues SizeFacts

// What frameworks compute of shapes is followed: nothing is left that only a
// run knows.

// CHECK: module attributes {cpu.size_table = {
// CHECK-SAME: guards = []
// CHECK-SAME: parameters = ["N", "S"]
// CHECK-NOT: cpu.define_sizes
func.func @main(%x: tensor<?x?xf32> {sinter.dims = ["N", "S"]},
                %row: tensor<1x1xf32>)
    -> (tensor<?x1xf32>, tensor<?x?xf32>, tensor<?xf32>) {
  %shape = nn.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = stablehlo.slice %shape [0:1] : (tensor<2xi64>) -> tensor<1xi64>
  %s = stablehlo.slice %shape [1:2] : (tensor<2xi64>) -> tensor<1xi64>

  // Torch's expand(n, -1): a size is never the -1 that keeps one.
  %minus = stablehlo.constant dense<-1> : tensor<1xi64>
  %wanted = stablehlo.concatenate %n, %minus, dim = 0
      : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %kept = stablehlo.constant dense<-1> : tensor<2xi64>
  %is_kept = stablehlo.compare EQ, %wanted, %kept
      : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %ones = stablehlo.constant dense<1> : tensor<2xi64>
  %sizes = stablehlo.select %is_kept, %ones, %wanted
      : tensor<2xi1>, tensor<2xi64>
  // CHECK: -> tensor<?x1xf32, array<i64: [[N:[0-9]+]], 1>>
  %expanded = stablehlo.dynamic_broadcast_in_dim %row, %sizes, dims = [0, 1]
      : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<?x1xf32>

  // Its pad: amounts from the last dimension on become two rows from the first.
  %zero = stablehlo.constant dense<0> : tensor<1xi64>
  %amounts = stablehlo.concatenate %zero, %s, %n, %zero, dim = 0
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
      -> tensor<4xi64>
  %pairs = stablehlo.reshape %amounts : (tensor<4xi64>) -> tensor<2x2xi64>
  %turned = stablehlo.reverse %pairs, dims = [0] : tensor<2x2xi64>
  %sides = stablehlo.transpose %turned, dims = [1, 0]
      : (tensor<2x2xi64>) -> tensor<2x2xi64>
  %below = stablehlo.slice %sides [0:1, 0:2]
      : (tensor<2x2xi64>) -> tensor<1x2xi64>
  %low = stablehlo.reshape %below : (tensor<1x2xi64>) -> tensor<2xi64>
  %above = stablehlo.slice %sides [1:2, 0:2]
      : (tensor<2x2xi64>) -> tensor<1x2xi64>
  %high = stablehlo.reshape %above : (tensor<1x2xi64>) -> tensor<2xi64>
  %lower = stablehlo.add %shape, %low : tensor<2xi64>
  %larger = stablehlo.add %lower, %high : tensor<2xi64>
  // CHECK: -> tensor<?x?xf32, array<i64:
  %padded = stablehlo.dynamic_broadcast_in_dim %row, %larger, dims = [0, 1]
      : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>

  // The batch of a matmul: that of one side, unless it is 1 there.
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %is_one = stablehlo.compare EQ, %n, %one
      : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %batch = stablehlo.select %is_one, %n, %n : tensor<1xi1>, tensor<1xi64>
  // CHECK: -> tensor<?xf32, array<i64: [[N]]>>
  %scalar = stablehlo.reshape %row : (tensor<1x1xf32>) -> tensor<1xf32>
  %repeated = stablehlo.dynamic_broadcast_in_dim %scalar, %batch, dims = [0]
      : (tensor<1xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %expanded, %padded, %repeated
      : tensor<?x1xf32>, tensor<?x?xf32>, tensor<?xf32>
}
