// RUN: sinter-opt %s --raise-quantized | FileCheck %s
// RUN: sinter-opt %s --raise-quantized --raise-quantized | FileCheck %s
// RUN: sinter-opt %s --raise-quantized="disable-patterns=raise-quantized-product" | FileCheck %s --check-prefix=FLOAT
// Covers: graph Repetition
// Covers: passes QuantizedForms RaiseQuantizedProducts

// A product with a bias and a relu between dequantising and quantising, of an
// unknown batch: integers all the way.

// CHECK-LABEL: func @product
// FLOAT-LABEL: func @product
func.func @product(%q: tensor<?x4xui8>) -> tensor<?x3xui8> {
  %xs = stablehlo.constant dense<0.5> : tensor<f32>
  %xz = stablehlo.constant dense<3> : tensor<ui8>
  %w = stablehlo.constant dense<[[1, -2, 3], [4, 5, -6], [7, 8, 9], [0, 1, 2]]> : tensor<4x3xi8>
  %ws = stablehlo.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[10, -20, 30]> : tensor<3xi32>
  %bs = stablehlo.constant dense<[0.125, 0.25, 0.5]> : tensor<3xf32>
  %ys = stablehlo.constant dense<2.0> : tensor<f32>
  %yz = stablehlo.constant dense<5.0> : tensor<f32>
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<255.0> : tensor<f32>
  // CHECK: %[[X:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<?x4xui8>) -> tensor<?x4x!quant.uniform<u8:f32, 5.000000e-01:3>>
  // CHECK: %[[SHIFTED:.*]] = stablehlo.uniform_quantize %[[X]] {{.*}} -> tensor<?x4x!quant.uniform<i8:f32, 5.000000e-01:-125>>
  // CHECK: %[[SUM:.*]] = stablehlo.dot_general %[[SHIFTED]], {{.*}} -> tensor<?x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>
  // CHECK: %[[BIASED:.*]] = stablehlo.add %[[SUM]], {{.*}} : tensor<?x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>
  // CHECK: %[[RELU:.*]] = nn.relu %[[BIASED]] : tensor<?x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>
  // CHECK: %[[Y:.*]] = nn.quantize %[[RELU]] {{.*}} -> tensor<?x3x!quant.uniform<u8:f32, 2.000000e+00:5>>
  // CHECK: %[[R:.*]] = stablehlo.bitcast_convert %[[Y]] {{.*}} -> tensor<?x3xui8>
  // CHECK: return %[[R]]
  // FLOAT: stablehlo.uniform_dequantize
  // FLOAT: stablehlo.dot_general {{.*}} -> tensor<?x3xf32>
  // FLOAT: nn.quantize
  %0 = stablehlo.convert %q : (tensor<?x4xui8>) -> tensor<?x4xf32>
  %1 = stablehlo.convert %xz : (tensor<ui8>) -> tensor<f32>
  %2 = nn.broadcast_like %1, %0 : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<?x4xf32>
  %4 = nn.broadcast_like %xs, %3 : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<?x4xf32>
  %6 = stablehlo.convert %w : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %7 = stablehlo.broadcast_in_dim %ws, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<4x3xf32>
  %9 = stablehlo.dot_general %5, %8, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %10 = stablehlo.convert %b : (tensor<3xi32>) -> tensor<3xf32>
  %11 = stablehlo.multiply %10, %bs : tensor<3xf32>
  %12 = nn.broadcast_like %11, %9 : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %13 = stablehlo.add %9, %12 : tensor<?x3xf32>
  %14 = nn.relu %13 : tensor<?x3xf32>
  %15 = nn.broadcast_like %ys, %14 : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %16 = stablehlo.divide %14, %15 : tensor<?x3xf32>
  %17 = stablehlo.round_nearest_even %16 : tensor<?x3xf32>
  %18 = nn.broadcast_like %yz, %17 : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %19 = stablehlo.add %17, %18 : tensor<?x3xf32>
  %20 = stablehlo.clamp %least, %19, %most : (tensor<f32>, tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %21 = stablehlo.convert %20 : (tensor<?x3xf32>) -> tensor<?x3xui8>
  return %21 : tensor<?x3xui8>
}

// Each part of a joint is quantised by itself, where one of them was.
// CHECK-LABEL: func @joint
// CHECK: %[[A:.*]] = stablehlo.uniform_quantize %{{.*}} : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<u8:f32, 2.500000e-01>>
// CHECK: %[[B:.*]] = stablehlo.uniform_quantize %arg1 : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<u8:f32, 2.500000e-01>>
// CHECK: stablehlo.concatenate %[[A]], %[[B]], dim = 1
// CHECK: func @jointOfNumbers
// CHECK: %[[J:.*]] = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2x3xf32>
// CHECK: stablehlo.uniform_quantize %[[J]]
func.func @joint(%q: tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>, %x: tensor<2x4xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 0.25>> {
  %d = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3xf32>
  %j = stablehlo.concatenate %d, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %y = stablehlo.uniform_quantize %j : (tensor<2x7xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 0.25>>
  return %y : tensor<2x7x!quant.uniform<u8:f32, 0.25>>
}
func.func @jointOfNumbers(%q: tensor<2x3xf32>, %x: tensor<2x4xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 0.25>> {
  %j = stablehlo.concatenate %q, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %y = stablehlo.uniform_quantize %j : (tensor<2x7xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 0.25>>
  return %y : tensor<2x7x!quant.uniform<u8:f32, 0.25>>
}
