// RUN: sinter-opt %s --split-input-file --cpu-form-kernels --cpu-share-kernels | FileCheck %s
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-share-kernels=disable-patterns=align-zero-points' | FileCheck %s --check-prefix=OFF

// Bytes that count from 0 and from other numbers: distances from both.
// CHECK-LABEL: func.func @conversions
// CHECK-DAG: stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: cpu.kernel(%arg0, %{{.*}})
// CHECK: ^bb0(%{{.*}}: tensor<64xui8>, %[[Z:.*]]: tensor<f32>)
// CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim %[[Z]]
// CHECK: stablehlo.subtract %{{.*}}, %[[S]]
// CHECK: stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK: cpu.kernel(%arg1, %{{.*}})
// OFF-LABEL: func.func @conversions
// OFF: cpu.kernel(%arg0) :
// OFF-NOT: subtract
// OFF: cpu.kernel(%arg1) :
// OFF: stablehlo.subtract
func.func @conversions(%x: tensor<64xui8>, %y: tensor<64xui8>) -> (tensor<64xf32>, tensor<64xf32>) {
  %f = stablehlo.constant dense<0.5> : tensor<64xf32>
  %z = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a0 = stablehlo.convert %x : (tensor<64xui8>) -> tensor<64xf32>
  %a = stablehlo.multiply %a0, %f : tensor<64xf32>
  %b0 = stablehlo.convert %y : (tensor<64xui8>) -> tensor<64xf32>
  %b1 = stablehlo.subtract %b0, %z : tensor<64xf32>
  %b = stablehlo.multiply %b1, %f : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// Nothing is added behind a rounding where no layer adds anything there; two
// ways to write that nothing is added become one.
// CHECK-LABEL: func.func @before
// CHECK: cpu.kernel(%arg0, %{{.*}})
// CHECK: stablehlo.add
// CHECK-NEXT: stablehlo.clamp
// CHECK-NEXT: stablehlo.round_nearest_even
// CHECK-NEXT: stablehlo.convert
// CHECK: cpu.kernel(%arg1, %{{.*}})
// CHECK: cpu.kernel(%arg2, %{{.*}})
// OFF-LABEL: func.func @before
// OFF: cpu.kernel(%arg0) :
// OFF: cpu.kernel(%arg1) :
// OFF: cpu.kernel(%arg2) :
func.func @before(%x: tensor<64xf32>, %y: tensor<64xf32>, %w: tensor<64xf32>) -> (tensor<64xui8>, tensor<64xui8>, tensor<64xui8>) {
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  %z = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a0 = stablehlo.clamp %least, %x, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a1 = stablehlo.round_nearest_even %a0 : tensor<64xf32>
  %a = stablehlo.convert %a1 : (tensor<64xf32>) -> tensor<64xui8>
  %b0 = stablehlo.add %y, %z : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b2 = stablehlo.round_nearest_even %b1 : tensor<64xf32>
  %b = stablehlo.convert %b2 : (tensor<64xf32>) -> tensor<64xui8>
  %c0 = stablehlo.round_nearest_even %w : tensor<64xf32>
  %c1 = stablehlo.clamp %least, %c0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %c = stablehlo.convert %c1 : (tensor<64xf32>) -> tensor<64xui8>
  return %a, %b, %c : tensor<64xui8>, tensor<64xui8>, tensor<64xui8>
}

// -----

// Numbers before and behind a rounding: each layer has both. Those behind it
// are integers.
// CHECK-LABEL: func.func @both
// CHECK-DAG: stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: stablehlo.constant dense<4> : tensor<i32>
// CHECK: cpu.kernel(%arg0, %{{.*}}, %{{.*}})
// CHECK: ^bb0(%{{.*}}: tensor<64xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>)
// CHECK: stablehlo.add
// CHECK: stablehlo.round_nearest_even
// CHECK: stablehlo.add
// CHECK: stablehlo.clamp
// CHECK-DAG: stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK-DAG: stablehlo.constant dense<0> : tensor<i32>
// CHECK: cpu.kernel(%arg1, %{{.*}}, %{{.*}})
func.func @both(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xui8>, tensor<64xui8>) {
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  %z = stablehlo.constant dense<3.0> : tensor<64xf32>
  %w = stablehlo.constant dense<4.0> : tensor<64xf32>
  %a0 = stablehlo.round_nearest_even %x : tensor<64xf32>
  %a1 = stablehlo.add %a0, %w : tensor<64xf32>
  %a2 = stablehlo.clamp %least, %a1, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a = stablehlo.convert %a2 : (tensor<64xf32>) -> tensor<64xui8>
  %b0 = stablehlo.add %y, %z : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b2 = stablehlo.round_nearest_even %b1 : tensor<64xf32>
  %b = stablehlo.convert %b2 : (tensor<64xf32>) -> tensor<64xui8>
  return %a, %b : tensor<64xui8>, tensor<64xui8>
}

// -----

// Layers that are alike stay as they are, and so does what has no like.
// CHECK-LABEL: func.func @alike
// CHECK: cpu.kernel(%arg0) :
// CHECK-NOT: stablehlo.add
// CHECK: cpu.kernel(%arg1) :
// CHECK-NOT: stablehlo.add
// CHECK: return
func.func @alike(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xui8>, tensor<64xui8>) {
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  %a0 = stablehlo.round_nearest_even %x : tensor<64xf32>
  %a1 = stablehlo.clamp %least, %a0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a = stablehlo.convert %a1 : (tensor<64xf32>) -> tensor<64xui8>
  %b0 = stablehlo.round_nearest_even %y : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b = stablehlo.convert %b1 : (tensor<64xf32>) -> tensor<64xui8>
  return %a, %b : tensor<64xui8>, tensor<64xui8>
}

// -----

// Bounds that are no integers: rounding first is something else.
// CHECK-LABEL: func.func @fractions
// CHECK: cpu.kernel(%arg0) :
// CHECK: cpu.kernel(%arg1) :
func.func @fractions(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xui8>, tensor<64xui8>) {
  %least = stablehlo.constant dense<0.5> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  %z = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a0 = stablehlo.round_nearest_even %x : tensor<64xf32>
  %a1 = stablehlo.add %a0, %z : tensor<64xf32>
  %a2 = stablehlo.clamp %least, %a1, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a = stablehlo.convert %a2 : (tensor<64xf32>) -> tensor<64xui8>
  %b0 = stablehlo.add %y, %z : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b2 = stablehlo.round_nearest_even %b1 : tensor<64xf32>
  %b = stablehlo.convert %b2 : (tensor<64xf32>) -> tensor<64xui8>
  return %a, %b : tensor<64xui8>, tensor<64xui8>
}

// -----

// A fraction that is added behind a rounding.
// CHECK-LABEL: func.func @fraction
// CHECK: cpu.kernel(%arg0) :
// CHECK: cpu.kernel(%arg1) :
func.func @fraction(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xui8>, tensor<64xui8>) {
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  %z = stablehlo.constant dense<3.5> : tensor<64xf32>
  %a0 = stablehlo.round_nearest_even %x : tensor<64xf32>
  %a1 = stablehlo.add %a0, %z : tensor<64xf32>
  %a2 = stablehlo.clamp %least, %a1, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a = stablehlo.convert %a2 : (tensor<64xf32>) -> tensor<64xui8>
  %b0 = stablehlo.round_nearest_even %y : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b = stablehlo.convert %b1 : (tensor<64xf32>) -> tensor<64xui8>
  return %a, %b : tensor<64xui8>, tensor<64xui8>
}

// -----

// What is cut is read as a float, too, where -0 and 0 differ.
// CHECK-LABEL: func.func @floats
// CHECK: cpu.kernel(%arg0) :
// CHECK: cpu.kernel(%arg1) :
func.func @floats(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %least = stablehlo.constant dense<-128.0> : tensor<f32>
  %most = stablehlo.constant dense<127.0> : tensor<f32>
  %z = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a0 = stablehlo.clamp %least, %x, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a = stablehlo.round_nearest_even %a0 : tensor<64xf32>
  %b0 = stablehlo.add %y, %z : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b = stablehlo.round_nearest_even %b1 : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// A zero point for each channel.
// CHECK-LABEL: func.func @channels
// CHECK: cpu.kernel(%arg0) :
// CHECK-NOT: subtract
// CHECK: cpu.kernel(%arg1, %{{.*}}) :
func.func @channels(%x: tensor<2x2xui8>, %y: tensor<2x2xui8>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %f = stablehlo.constant dense<0.5> : tensor<2x2xf32>
  %z = stablehlo.constant dense<[[3.0, 4.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %a0 = stablehlo.convert %x : (tensor<2x2xui8>) -> tensor<2x2xf32>
  %a = stablehlo.multiply %a0, %f : tensor<2x2xf32>
  %b0 = stablehlo.convert %y : (tensor<2x2xui8>) -> tensor<2x2xf32>
  %b1 = stablehlo.subtract %b0, %z : tensor<2x2xf32>
  %b = stablehlo.multiply %b1, %f : tensor<2x2xf32>
  return %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// What is rounded is read by others as well.
// CHECK-LABEL: func.func @shared
// CHECK: cpu.kernel(%arg0
// CHECK-NOT: dense<0> : tensor<i32>
// CHECK: return
func.func @shared(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  %z = stablehlo.constant dense<4.0> : tensor<64xf32>
  %a0 = stablehlo.round_nearest_even %x : tensor<64xf32>
  %a1 = stablehlo.add %a0, %z : tensor<64xf32>
  %a2 = stablehlo.clamp %least, %a1, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %a3 = stablehlo.convert %a2 : (tensor<64xf32>) -> tensor<64xui8>
  %a4 = stablehlo.convert %a3 : (tensor<64xui8>) -> tensor<64xf32>
  %a = stablehlo.multiply %a4, %a2 : tensor<64xf32>
  %b0 = stablehlo.round_nearest_even %y : tensor<64xf32>
  %b1 = stablehlo.clamp %least, %b0, %most : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b2 = stablehlo.convert %b1 : (tensor<64xf32>) -> tensor<64xui8>
  %b3 = stablehlo.convert %b2 : (tensor<64xui8>) -> tensor<64xf32>
  %b = stablehlo.multiply %b3, %b1 : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}
