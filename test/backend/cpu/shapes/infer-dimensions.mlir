// RUN: sinter-opt %s --cpu-infer-dimensions | FileCheck %s
// RUN: sinter-opt %s --cpu-infer-dimensions --cpu-infer-dimensions | FileCheck %s
// Covers: backend/cpu/shapes ComputedSizes DynamicOperations EnteredRegions
// Covers: backend/cpu/shapes OperationGuards ResultSizes ShapeGuards
// Covers: backend/cpu/shapes ShapeValues SizeFacts SizeTable

// The sizes of arguments are parameters; what is the same has one name, which
// arithmetic on shapes leads to, too.

// CHECK: module attributes {cpu.size_table = {
// CHECK-SAME: following = [array<i64: 2, 1, 1, 3, 1, 1, 1, 512, 0>]
// CHECK-SAME: guards = []
// CHECK-SAME: parameters = ["N", "S", "min(S, 512)"]
// CHECK-SAME: sizes = [array<i64: 1, 1, 0>, array<i64: 1, 1, 1>, array<i64: 8, 2, 0, 1>, array<i64: 1, 1, 2>]

// CHECK: func.func @main(%[[X:.*]]: tensor<?x?x8xf32, [[BOTH:array<i64: [0-9]+, [0-9]+, 8>]]>
func.func @main(%x: tensor<?x?x8xf32> {sinter.dims = ["N", "S", ""]},
                %b: tensor<8xf32>, %places: tensor<1x512xi64>)
    -> (tensor<?x?x8xf32>, tensor<?xf32>, tensor<1x?xi64>) {
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %{{.*}} : (tensor<8xf32>) -> tensor<?x?x8xf32, [[BOTH]]>
  %bb = nn.broadcast_like %b, %x
      : (tensor<8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: stablehlo.add %[[X]], %[[B]] : tensor<?x?x8xf32, [[BOTH]]>
  %y = stablehlo.add %x, %bb : tensor<?x?x8xf32>
  %minus = stablehlo.constant dense<-1> : tensor<1xi64>
  %n = stablehlo.constant dense<8> : tensor<1xi64>
  %shape = nn.shape %y : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %first = stablehlo.slice %shape [0:1] : (tensor<3xi64>) -> tensor<1xi64>
  %second = stablehlo.slice %shape [1:2] : (tensor<3xi64>) -> tensor<1xi64>
  %product = stablehlo.multiply %first, %second : tensor<1xi64>
  %all = stablehlo.multiply %product, %n : tensor<1xi64>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<?x?x8xf32, [[BOTH]]>) -> tensor<?xf32, array<i64: {{[0-9]+}}>>
  %flat = stablehlo.dynamic_reshape %y, %all
      : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?xf32>
  // A slice that ends at the smaller one of S and 512.
  %most = stablehlo.constant dense<512> : tensor<1xi64>
  %end = stablehlo.minimum %second, %most : tensor<1xi64>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %starts = stablehlo.constant dense<0> : tensor<2xi64>
  %steps = stablehlo.constant dense<1> : tensor<2xi64>
  %ends = stablehlo.concatenate %one, %end, dim = 0
      : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  // CHECK: stablehlo.slice %{{.*}} [0:1, 0:512] : (tensor<1x512xi64>) -> tensor<1x?xi64, array<i64: 1, {{[0-9]+}}>>
  %taken = stablehlo.real_dynamic_slice %places, %starts, %ends, %steps
      : (tensor<1x512xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
      -> tensor<1x?xi64>
  return %y, %flat, %taken
      : tensor<?x?x8xf32>, tensor<?xf32>, tensor<1x?xi64>
}
