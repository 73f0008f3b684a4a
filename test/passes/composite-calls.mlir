// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu

// What composites stand for may call functions and have composites.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.composite "a.outer" %x {decomposition = @outer} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[4.0, 8.0]> : tensor<2xf32>
  return
}
func.func private @outer(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "a.inner" %x {decomposition = @inner} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
