// RUN: sinter run %s --backend cpu --input random --no-cache | FileCheck %s
// RUN: sinter run %s --backend interpreter --input random | FileCheck %s
// RUN: sed 's/dense<2.0>/dense<3.0>/' %s > %t.mlir
// RUN: not sinter run %t.mlir --backend cpu --input random --no-cache 2>&1 | FileCheck %s --check-prefix=WRONG
// Covers: backend/cpu/legalize CheckCalls
// Covers: backend/cpu/pipeline Registration

// Expectations hold where a program runs, too, also element by element.
// CHECK: tensor<f32> {2.000000e+00}
// CHECK: tensor<f32> {2.000000e+00}
// WRONG: got 2, expected 3
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %two = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %y = "stablehlo.map"(%two) ({
  ^bb0(%a: tensor<f32>):
    %b = stablehlo.add %a, %a : tensor<f32>
    check.expect_eq_const %b, dense<2.0> : tensor<f32>
    interpreter.print %b : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_close %y, %y, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  check.expect_almost_eq %x, %x, tolerance = 0.5 : tensor<2xf32>
  // Nobody listens.
  %z = interpreter.probe %y, probe_id = "y" : tensor<2xf32>
  return %z : tensor<2xf32>
}
