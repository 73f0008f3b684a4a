// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu
// Covers: interpreter ChloOperations KnownCalls CustomCalls

// What exports write as custom calls means the same wherever it runs.
func.func @main() {
  %x = stablehlo.constant dense<[0.5, -1.0, 2.0]> : tensor<3xf32>
  %marked = stablehlo.custom_call @Sharding(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %moved = stablehlo.custom_call @MoveToHost(%marked) : (tensor<3xf32>) -> tensor<3xf32>
  %erf = stablehlo.custom_call @mhlo.erf(%moved) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_almost_eq_const %erf, dense<[0.5204999, -0.8427008, 0.9953223]> : tensor<3xf32>
  %composite = stablehlo.composite "chlo.erfc" %marked {decomposition = @erfc} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_almost_eq_const %composite, dense<[0.4795001, 1.8427008, 0.0046777]> : tensor<3xf32>
  %values, %places = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %values, dense<[2.0, 0.5]> : tensor<2xf32>
  check.expect_eq_const %places, dense<[2, 0]> : tensor<2xi32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%true) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

func.func private @erfc(%x: tensor<3xf32>) -> tensor<3xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<3xf32>
  %erf = chlo.erf %x : tensor<3xf32> -> tensor<3xf32>
  %r = stablehlo.subtract %one, %erf : tensor<3xf32>
  return %r : tensor<3xf32>
}
