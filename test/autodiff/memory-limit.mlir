// RUN: sinter-opt --differentiate="arguments=0" %s | FileCheck %s --check-prefix=ALL
// RUN: sinter-opt --differentiate="arguments=0 memory-limit=100000" %s | FileCheck %s --check-prefix=LESS
// RUN: not sinter-opt --differentiate="arguments=0 memory-limit=1000" %s 2>&1 | FileCheck %s --check-prefix=LEAST

// Every value that is read on the way back is kept, or computed again behind a barrier, from what is kept.
// ALL-NOT: optimization_barrier
// ALL-COUNT-3: stablehlo.sine
// ALL-NOT: stablehlo.sine
// LESS-COUNT-3: stablehlo.sine
// LESS: stablehlo.optimization_barrier
// LESS: stablehlo.sine
// LEAST: the values that live at one time take at least
func.func @main(%x: tensor<64x64xf32>) -> tensor<f32> {
  %a = stablehlo.sine %x : tensor<64x64xf32>
  %b = stablehlo.multiply %a, %a : tensor<64x64xf32>
  %c = stablehlo.sine %b : tensor<64x64xf32>
  %d = stablehlo.multiply %c, %c : tensor<64x64xf32>
  %e = stablehlo.sine %d : tensor<64x64xf32>
  %f = stablehlo.multiply %e, %e : tensor<64x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
