// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// Covers: graph/nn Inference NnAssume NnDeferred NnDialect Verify

// CHECK-LABEL: func @symbolic
func.func @symbolic(%x: tensor<?x64x7x7xf32>, %bias: tensor<64x1x1xf32>) -> (tensor<?x64x7x7xf32>, tensor<4xi64>) {
  // CHECK: nn.broadcast_like %{{.*}}, %{{.*}} : (tensor<64x1x1xf32>, tensor<?x64x7x7xf32>) -> tensor<?x64x7x7xf32>
  %b = nn.broadcast_like %bias, %x : (tensor<64x1x1xf32>, tensor<?x64x7x7xf32>) -> tensor<?x64x7x7xf32>
  %s = stablehlo.add %x, %b : tensor<?x64x7x7xf32>
  // CHECK: nn.relu %{{.*}} : tensor<?x64x7x7xf32>
  %r = nn.relu %s : tensor<?x64x7x7xf32>
  // CHECK: nn.shape %{{.*}} : (tensor<?x64x7x7xf32>) -> tensor<4xi64>
  %n = nn.shape %r : (tensor<?x64x7x7xf32>) -> tensor<4xi64>
  return %r, %n : tensor<?x64x7x7xf32>, tensor<4xi64>
}

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  // CHECK: nn.softmax %{{.*}}, axes = [1] : tensor<2x5xf32>
  %r = nn.softmax %x, axes = [1] : tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func @norms
func.func @norms(%x: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} axis = 1 {
  %0:3 = nn.layer_norm %x, %s, %s axis = 1 {compute_type = f32, epsilon = 1.0e-5 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  // CHECK: nn.rms_norm %{{.*}}, %{{.*}} axis = 1 {
  %1 = nn.rms_norm %0#0, %s axis = 1 {compute_type = f32, epsilon = 1.0e-5 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.group_norm %{{.*}}, %{{.*}}, %{{.*}} groups = 2 {
  %2 = nn.group_norm %1, %s, %s groups = 2 {epsilon = 1.0e-5 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<?x4x5x8xf32>, %k: tensor<?x2x7x8xf32>, %v: tensor<?x2x7x3xf32>, %m: tensor<1x1x5x7xf32>) -> (tensor<?x4x5x3xf32>, tensor<?x4x5x3xf32>) {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale = 1.250000e-01 :
  %0 = nn.attention %q, %k, %v, %m scale = 0.125
      : (tensor<?x4x5x8xf32>, tensor<?x2x7x8xf32>, tensor<?x2x7x3xf32>, tensor<1x1x5x7xf32>) -> tensor<?x4x5x3xf32>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale = 1.000000e+00 causal :
  %1 = nn.attention %q, %k, %v scale = 1.0 causal
      : (tensor<?x4x5x8xf32>, tensor<?x2x7x8xf32>, tensor<?x2x7x3xf32>) -> tensor<?x4x5x3xf32>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale = 1.000000e+00 causal chosen :
  %2 = nn.attention %q, %k, %v, %m scale = 1.0 causal chosen
      : (tensor<?x4x5x8xf32>, tensor<?x2x7x8xf32>, tensor<?x2x7x3xf32>, tensor<1x1x5x7xf32>) -> tensor<?x4x5x3xf32>
  return %0, %1 : tensor<?x4x5x3xf32>, tensor<?x4x5x3xf32>
}

// CHECK-LABEL: func @quantised
func.func @quantised(%x: tensor<?x3xf32>) -> tensor<?x3x!quant.uniform<u8:f32, 0.25>> {
  // CHECK: nn.quantize %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %q = nn.quantize %x : (tensor<?x3xf32>) -> tensor<?x3x!quant.uniform<i8:f32, 0.5:3>>
  // CHECK: nn.relu %{{.*}} : (tensor<?x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<?x3x!quant.uniform<i8:f32, 2.500000e-01>>
  %r = nn.relu %q : (tensor<?x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<?x3x!quant.uniform<i8:f32, 0.25>>
  // CHECK: nn.quantize %{{.*}} : (tensor<?x3x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<?x3x!quant.uniform<u8:f32, 2.500000e-01>>
  %y = nn.quantize %r : (tensor<?x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<?x3x!quant.uniform<u8:f32, 0.25>>
  return %y : tensor<?x3x!quant.uniform<u8:f32, 0.25>>
}

// CHECK-LABEL: func @dropout(
func.func @dropout(%x: tensor<?x9xf32>, %m: tensor<?x9xi1>) -> tensor<?x9xf32> {
  // CHECK: nn.dropout %{{.*}} {ratio = 2.500000e-01 : f64} : (tensor<?x9xf32>) -> tensor<?x9xf32>
  %0 = nn.dropout %x {ratio = 2.5e-1} : (tensor<?x9xf32>) -> tensor<?x9xf32>
  // CHECK: nn.dropout %{{.*}}, %{{.*}} {ratio = 2.500000e-01 : f64} : (tensor<?x9xf32>, tensor<?x9xi1>) -> tensor<?x9xf32>
  %1 = nn.dropout %0, %m {ratio = 2.5e-1} : (tensor<?x9xf32>, tensor<?x9xi1>) -> tensor<?x9xf32>
  return %1 : tensor<?x9xf32>
}

// CHECK-LABEL: func @assume(
func.func @assume(%c: tensor<i1>) {
  // CHECK: nn.assume %{{.*}} is true, "/decoder/If" : tensor<i1>
  nn.assume %c is true, "/decoder/If" : tensor<i1>
  // CHECK: nn.assume %{{.*}} is false, "" : tensor<i1>
  nn.assume %c is false, "" : tensor<i1>
  return
}
