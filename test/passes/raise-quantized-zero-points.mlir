// RUN: sinter-opt %s --raise-quantized | FileCheck %s

// StableHLO's matrices on the right have no zero points. One of the middle goes
// with the sign of the storage; with any other, elements take twice the bits,
// in which no more of them are than there were.

// CHECK-LABEL: func @of_inputs
func.func @of_inputs(%a: tensor<?x4xui8>, %b: tensor<4x3xui8>) -> tensor<?x3xi32> {
  %za = stablehlo.constant dense<113> : tensor<1xui8>
  %zb = stablehlo.constant dense<114> : tensor<4x3xi32>
  // CHECK: %[[A:.*]] = stablehlo.uniform_quantize {{.*}} -> tensor<?x4x!quant.uniform<i16<0:255>:f32, 1.000000e+00:113>>
  // CHECK: %[[B:.*]] = stablehlo.uniform_quantize {{.*}} -> tensor<4x3x!quant.uniform<i16<-114:141>:f32, 1.000000e+00>>
  // CHECK: stablehlo.dot_general %[[A]], %[[B]], {{.*}} -> tensor<?x3x!quant.uniform<i32:f32, 1.000000e+00>>
  %0 = stablehlo.convert %za : (tensor<1xui8>) -> tensor<1xi32>
  %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
  %2 = stablehlo.convert %a : (tensor<?x4xui8>) -> tensor<?x4xi32>
  %3 = nn.broadcast_like %1, %2 : (tensor<i32>, tensor<?x4xi32>) -> tensor<?x4xi32>
  %4 = stablehlo.subtract %2, %3 : tensor<?x4xi32>
  %5 = stablehlo.convert %b : (tensor<4x3xui8>) -> tensor<4x3xi32>
  %6 = stablehlo.subtract %5, %zb : tensor<4x3xi32>
  %7 = stablehlo.dot_general %4, %6, contracting_dims = [1] x [0] : (tensor<?x4xi32>, tensor<4x3xi32>) -> tensor<?x3xi32>
  return %7 : tensor<?x3xi32>
}

// A weight whose elements lie around its zero point needs no more bits.

// CHECK-LABEL: func @of_a_weight
func.func @of_a_weight(%a: tensor<2x2xui8>) -> tensor<2x2xi32> {
  %w = stablehlo.constant dense<[[100, 120], [0, 241]]> : tensor<2x2xui8>
  %zb = stablehlo.constant dense<114> : tensor<2x2xi32>
  // CHECK: stablehlo.constant(){{.*}}dense<{{\[\[}}-14, 6], [-114, 127]]> : tensor<2x2xi8>}> {sinter.source.stored_as = !quant.uniform<u8:f32, 1.000000e+00:114>} : () -> tensor<2x2x!quant.uniform<i8:f32, 1.000000e+00>>
  // CHECK: stablehlo.dot_general {{.*}} (tensor<2x2x!quant.uniform<i8:f32, 1.000000e+00:-128>>, tensor<2x2x!quant.uniform<i8:f32, 1.000000e+00>>)
  %0 = stablehlo.convert %a : (tensor<2x2xui8>) -> tensor<2x2xi32>
  %1 = stablehlo.convert %w : (tensor<2x2xui8>) -> tensor<2x2xi32>
  %2 = stablehlo.subtract %1, %zb : tensor<2x2xi32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %3 : tensor<2x2xi32>
}

// Several zero points are not moved.

// CHECK-LABEL: func @several
// CHECK-NOT: quant
func.func @several(%a: tensor<2x2xui8>) -> tensor<2x2xi32> {
  %w = stablehlo.constant dense<[[100, 120], [0, 255]]> : tensor<2x2xui8>
  %zb = stablehlo.constant dense<[[113, 114], [113, 114]]> : tensor<2x2xi32>
  %0 = stablehlo.convert %a : (tensor<2x2xui8>) -> tensor<2x2xi32>
  %1 = stablehlo.convert %w : (tensor<2x2xui8>) -> tensor<2x2xi32>
  %2 = stablehlo.subtract %1, %zb : tensor<2x2xi32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %3 : tensor<2x2xi32>
}
