// RUN: sinter-opt %s --cpu-lower-checks --cpu-lower-host-calls --cpu-flatten --cpu-decompose-but-sampling --cpu-lower-batch-norms | FileCheck %s
// Covers: backend/cpu/ir DeadCode
// Covers: backend/cpu/legalize Decompose LowerBatchNorms

// CHECK-LABEL: func.func @main
// Transforms are calls of the process.
// CHECK: cpu.host_call "sinter.fft"
// Tuples and barriers are gone.
// CHECK-NOT: tuple
// CHECK-NOT: optimization_barrier
// Pools stay for the layouts; the rest is made of stablehlo.
// CHECK: nn.max_pool
// CHECK-NOT: nn.
// CHECK-NOT: batch_norm
func.func @main(%c: tensor<8xcomplex<f32>>, %x: tensor<1x4x8x8xf32>, %s: tensor<4xf32>)
    -> (tensor<8xcomplex<f32>>, tensor<1x4x4x4xf32>) {
  %f = stablehlo.fft %c, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %t = stablehlo.tuple %f, %x : tuple<tensor<8xcomplex<f32>>, tensor<1x4x8x8xf32>>
  %y = stablehlo.get_tuple_element %t[1] : (tuple<tensor<8xcomplex<f32>>, tensor<1x4x8x8xf32>>) -> tensor<1x4x8x8xf32>
  %b = stablehlo.optimization_barrier %y : tensor<1x4x8x8xf32>
  %n = "stablehlo.batch_norm_inference"(%b, %s, %s, %s, %s)
    {epsilon = 1.0e-5 : f32, feature_index = 1 : i64}
    : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %r = nn.relu %n : tensor<1x4x8x8xf32>
  %p = "nn.max_pool"(%r) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>}
    : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return %f, %p : tensor<8xcomplex<f32>>, tensor<1x4x4x4xf32>
}
