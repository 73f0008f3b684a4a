// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// Covers: graph/check CheckDialect
// The operations of self-checking programs survive a round trip.

// CHECK-LABEL: func @checks
func.func @checks(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // CHECK: check.expect_eq %{{.*}}, %{{.*}} : tensor<2xf32>
  check.expect_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_eq_const %{{.*}}, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: check.expect_almost_eq %{{.*}}, %{{.*}} : tensor<2xf32>
  check.expect_almost_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_almost_eq %{{.*}}, %{{.*}}, tolerance = 1.000000e-02 : tensor<2xf32>
  check.expect_almost_eq %a, %b, tolerance = 1.0e-2 : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %{{.*}}, dense<1.000000e+00> : tensor<2xf32>, tolerance = 1.000000e-01
  check.expect_almost_eq_const %a, dense<1.0> : tensor<2xf32>, tolerance = 0.1
  // CHECK: check.expect_close %{{.*}}, %{{.*}}, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  // CHECK: %[[SEEN:.*]] = interpreter.probe %{{.*}}, probe_id = "here" : tensor<2xf32>
  %0 = interpreter.probe %a, probe_id = "here" : tensor<2xf32>
  // CHECK: check.expect_serialized_eq %[[SEEN]], probe_id = "here", iter = 1 : tensor<2xf32>
  check.expect_serialized_eq %0, probe_id = "here", iter = 1 : tensor<2xf32>
  // CHECK: interpreter.print %{{.*}} : tensor<2xf32>
  interpreter.print %a : tensor<2xf32>
  return
}

func.func @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func @parallel
func.func @parallel(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: "interpreter.run_parallel"(%{{.*}}, %{{.*}}) <{programs = {{\[\[}}@twice], [@twice]]}>
  %0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@twice], [@twice]]}
      : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
