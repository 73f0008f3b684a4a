// RUN: sinter-opt %s '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s

// Channels that fill a block up are numbers of any type where they are zeros.
// CHECK-LABEL: func.func @main
// CHECK: cpu.convolution{{.*}}{sinter.operand_types = [bf16, bf16]} :
// CHECK: cpu.convolution
// CHECK-NOT: sinter.operand_types
func.func @main(%x: tensor<?x10x?x?xbf16>, %shape: tensor<5xi32>, %w: tensor<8x10x1x1xbf16>)
    -> (tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>) {
  %0 = stablehlo.convert %x : (tensor<?x10x?x?xbf16>) -> tensor<?x10x?x?xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.pad %0, %z, low = [0, 0, 0, 0], high = [0, 6, 0, 0], interior = [0, 0, 0, 0] : (tensor<?x10x?x?xf32>, tensor<f32>) -> tensor<?x16x?x?xf32>
  %2 = stablehlo.dynamic_reshape %1, %shape : (tensor<?x16x?x?xf32>, tensor<5xi32>) -> tensor<?x1x16x?x?xf32>
  %3 = stablehlo.transpose %2, dims = [0, 1, 3, 4, 2] : (tensor<?x1x16x?x?xf32>) -> tensor<?x1x?x?x16xf32>
  %4 = "cpu.convolution"(%3, %w) <{dilations = array<i64: 1, 1>, groups = 1 : i64, output_channels = 8 : i64, padding_high = array<i64: 0, 0>, padding_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, zero_point = 0 : i64}> : (tensor<?x1x?x?x16xf32>, tensor<8x10x1x1xbf16>) -> tensor<?x1x?x?x16xf32>
  %h = stablehlo.constant dense<0.3> : tensor<f32>
  %5 = stablehlo.pad %0, %h, low = [0, 0, 0, 0], high = [0, 6, 0, 0], interior = [0, 0, 0, 0] : (tensor<?x10x?x?xf32>, tensor<f32>) -> tensor<?x16x?x?xf32>
  %6 = stablehlo.dynamic_reshape %5, %shape : (tensor<?x16x?x?xf32>, tensor<5xi32>) -> tensor<?x1x16x?x?xf32>
  %7 = stablehlo.transpose %6, dims = [0, 1, 3, 4, 2] : (tensor<?x1x16x?x?xf32>) -> tensor<?x1x?x?x16xf32>
  %8 = "cpu.convolution"(%7, %w) <{dilations = array<i64: 1, 1>, groups = 1 : i64, output_channels = 8 : i64, padding_high = array<i64: 0, 0>, padding_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, zero_point = 0 : i64}> : (tensor<?x1x?x?x16xf32>, tensor<8x10x1x1xbf16>) -> tensor<?x1x?x?x16xf32>
  return %4, %8 : tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>
}
