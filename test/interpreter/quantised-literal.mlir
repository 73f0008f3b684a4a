// RUN: not sinter run %s --backend interpreter 2>&1 | FileCheck %s
// RUN: not sinter run %s --backend cpu 2>&1 | FileCheck %s
// Covers: interpreter Quantized
// CHECK: the elements are no numbers

// The elements of a quantised constant are of its storage type; these are none.
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[10, 10]> : tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
