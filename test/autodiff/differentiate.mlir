// RUN: sinter-opt --differentiate="results=0 arguments=1" %s | FileCheck %s
// RUN: not sinter-opt --differentiate="results=1" %s 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not sinter-opt --differentiate="arguments=7" %s 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not sinter-opt --differentiate="arguments=2" %s 2>&1 | FileCheck %s --check-prefix=INTEGER

// The gradient by the argument is one more result.
// CHECK: func.func @main(%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[Y:.*]] = stablehlo.multiply %[[X]], %[[W]]
// CHECK: %[[G:.*]] = stablehlo.multiply %{{.*}}, %[[X]]
// CHECK: return %[[Y]], %[[G]]
// RESULT: there is no result 1
// ARGUMENT: there is no argument 7
// INTEGER: only tensors of floating-point numbers of known sizes have gradients
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<4xi32>) -> tensor<4xf32> {
  %y = stablehlo.multiply %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
