// RUN: sinter-opt %s --split-input-file --cpu-form-kernels --cpu-share-kernels | FileCheck %s
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-share-kernels=disable-patterns=share-kernels' | FileCheck %s --check-prefix=OFF

// Two layers that differ in their factors and zero points are one kernel; the
// zero points, which are added to integers, stay integers. The bounds are the
// code's own.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[F:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK: cpu.kernel(%arg0, %[[F]], %[[Z]])
// CHECK: ^bb0(%{{.*}}: tensor<64xf32>, %[[G:.*]]: tensor<f32>, %[[Y:.*]]: tensor<i32>)
// CHECK: stablehlo.constant dense<0.000000e+00>
// CHECK: stablehlo.constant dense<2.550000e+02>
// CHECK: stablehlo.broadcast_in_dim %[[G]], dims = []
// CHECK: stablehlo.convert %[[Y]] : (tensor<i32>) -> tensor<f32>
// CHECK-DAG: stablehlo.constant dense<2.500000e-01> : tensor<f32>
// CHECK-DAG: stablehlo.constant dense<128> : tensor<i32>
// CHECK: cpu.kernel(%arg1,
// OFF: cpu.kernel(%arg0) :
// OFF: stablehlo.constant dense<5.000000e-01> : tensor<64xf32>
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xui8>, tensor<64xui8>) {
  %least = stablehlo.constant dense<0.0> : tensor<64xf32>
  %most = stablehlo.constant dense<255.0> : tensor<64xf32>
  %f = stablehlo.constant dense<0.5> : tensor<64xf32>
  %z = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a0 = stablehlo.multiply %x, %f : tensor<64xf32>
  %a1 = stablehlo.round_nearest_even %a0 : tensor<64xf32>
  %a2 = stablehlo.add %a1, %z : tensor<64xf32>
  %a3 = stablehlo.clamp %least, %a2, %most : tensor<64xf32>
  %a = stablehlo.convert %a3 : (tensor<64xf32>) -> tensor<64xui8>
  %g = stablehlo.constant dense<0.25> : tensor<64xf32>
  %w = stablehlo.constant dense<128.0> : tensor<64xf32>
  %b0 = stablehlo.multiply %y, %g : tensor<64xf32>
  %b1 = stablehlo.round_nearest_even %b0 : tensor<64xf32>
  %b2 = stablehlo.add %b1, %w : tensor<64xf32>
  %b3 = stablehlo.clamp %least, %b2, %most : tensor<64xf32>
  %b = stablehlo.convert %b3 : (tensor<64xf32>) -> tensor<64xui8>
  return %a, %b : tensor<64xui8>, tensor<64xui8>
}

// -----

// A number that is the same in all layers stays, be it used where the other
// is used in another layer, too.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(%arg0, %{{[a-z0-9_]*}}) :
// CHECK: stablehlo.constant dense<2.000000e+00> : tensor<64xf32>
// CHECK: cpu.kernel(%arg1, %{{[a-z0-9_]*}}) :
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<64xf32>
  %three = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a0 = stablehlo.multiply %x, %two : tensor<64xf32>
  %a = stablehlo.add %a0, %two : tensor<64xf32>
  %b0 = stablehlo.multiply %y, %two : tensor<64xf32>
  %b = stablehlo.add %b0, %three : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// Exponents, bounds and what is chosen are looked at by the code: they stay,
// and so do numbers of a kernel that has no like.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(%arg0) :
// CHECK: cpu.kernel(%arg1) :
// CHECK: cpu.kernel(%arg0) :
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<64xf32>
  %three = stablehlo.constant dense<3.0> : tensor<64xf32>
  %a = stablehlo.power %x, %two : tensor<64xf32>
  %b = stablehlo.power %y, %three : tensor<64xf32>
  %c = stablehlo.add %x, %three : tensor<64xf32>
  return %a, %b, %c : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// What bytes of convolutions count from is such a number, too, where all count
// from something; and so is what else stands in their kernels.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.constant dense<3> : tensor<1xui8>
// CHECK: cpu.kernel(%arg0, %arg1, %{{.*}}, %{{.*}})
// CHECK: "cpu.convolution"(%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}) <{{{.*}} zero_point = 0
// CHECK: stablehlo.constant dense<200> : tensor<1xui8>
// CHECK: cpu.kernel(%arg0, %arg1, %{{.*}}, %{{.*}})
// CHECK: "cpu.convolution"(%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}) <{{{.*}} zero_point = 0
// CHECK: cpu.kernel(%arg0, %arg1) {
// CHECK: "cpu.convolution"(%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}) <{{{.*}} zero_point = 0
// OFF: zero_point = 3
// OFF: zero_point = 200
func.func @main(%x: tensor<1x1x8x8x16xui8>, %w: tensor<16x16x1x1xi8>)
    -> (tensor<1x1x8x8x16xf32>, tensor<1x1x8x8x16xf32>, tensor<1x1x8x8x16xf32>) {
  %f = stablehlo.constant dense<0.5> : tensor<1x1x8x8x16xf32>
  %g = stablehlo.constant dense<0.25> : tensor<1x1x8x8x16xf32>
  %a0 = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64, zero_point = 3 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xui8>, tensor<16x16x1x1xi8>) -> tensor<1x1x8x8x16xi32>
  %a1 = stablehlo.convert %a0 : (tensor<1x1x8x8x16xi32>) -> tensor<1x1x8x8x16xf32>
  %a = stablehlo.multiply %a1, %f : tensor<1x1x8x8x16xf32>
  %b0 = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64, zero_point = 200 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xui8>, tensor<16x16x1x1xi8>) -> tensor<1x1x8x8x16xi32>
  %b1 = stablehlo.convert %b0 : (tensor<1x1x8x8x16xi32>) -> tensor<1x1x8x8x16xf32>
  %b = stablehlo.multiply %b1, %g : tensor<1x1x8x8x16xf32>
  %c0 = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xui8>, tensor<16x16x1x1xi8>) -> tensor<1x1x8x8x16xi32>
  %c1 = stablehlo.convert %c0 : (tensor<1x1x8x8x16xi32>) -> tensor<1x1x8x8x16xf32>
  %c = stablehlo.multiply %c1, %f : tensor<1x1x8x8x16xf32>
  return %a, %b, %c : tensor<1x1x8x8x16xf32>, tensor<1x1x8x8x16xf32>, tensor<1x1x8x8x16xf32>
}
