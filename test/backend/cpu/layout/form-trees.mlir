// RUN: sinter-opt %s --cpu-form-trees | FileCheck %s
// RUN: sinter-opt %s '--cpu-form-trees=disable-patterns=form-trees' | FileCheck %s --check-prefix=OFF
// Covers: backend/cpu/ir TreeOps
// Covers: backend/cpu/layout FormTrees

// One target: weights stand in the nodes. f16 goes through f32.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = stablehlo.convert %arg0
// CHECK: cpu.tree_ensemble(%[[X]], %{{.*}}, %{{.*}}) "sum"
// CHECK-SAME: depth = 1 : i64
// CHECK-SAME: feature_bits = 1 : i64
// CHECK-SAME: starts = array<i32: 0, 1>
// CHECK-SAME: (tensor<?x2xf32>, tensor<3xi64>, tensor<3xi32>) -> tensor<?x1xf32>
// CHECK: stablehlo.convert
// Several targets a leaf: rows of weights, and f64 is wide.
// CHECK: cpu.tree_ensemble({{.*}}) "minimum"
// CHECK-SAME: rows
// CHECK-SAME: wide
// CHECK-SAME: (tensor<4x2xf64>, tensor<6xi64>, tensor<3xi32>, tensor<4xf32>) -> tensor<4x2xf64>
// The number of features is not known.
// CHECK: nn.tree_ensemble
// OFF-NOT: cpu.tree_ensemble
func.func @main(%x: tensor<?x2xf16>, %y: tensor<4x2xf64>, %z: tensor<4x?xf32>)
    -> (tensor<?x1xf16>, tensor<4x2xf64>, tensor<4x1xf32>) {
  %0 = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1>, thresholds = array<f64: 0.25>, modes = array<i8: 0>, true_children = array<i32: -1>, false_children = array<i32: -2>, leaf_starts = array<i32: 0, 1, 2>, targets = array<i32: 0, 0>, weights = array<f64: 1.0, 2.0>, target_count = 1 : i64} : (tensor<?x2xf16>) -> tensor<?x1xf16>
  %1 = nn.tree_ensemble %y, "minimum" {roots = array<i32: 0>, features = array<i32: 1>, thresholds = array<f64: 0.25>, modes = array<i8: 11>, true_children = array<i32: -1>, false_children = array<i32: -2>, leaf_starts = array<i32: 0, 1, 3>, targets = array<i32: 0, 0, 1>, weights = array<f64: 1.0, 2.0, 3.0>, target_count = 2 : i64} : (tensor<4x2xf64>) -> tensor<4x2xf64>
  %2 = nn.tree_ensemble %z, "sum" {roots = array<i32: 0>, features = array<i32: 1>, thresholds = array<f64: 0.25>, modes = array<i8: 0>, true_children = array<i32: -1>, false_children = array<i32: -2>, leaf_starts = array<i32: 0, 1, 2>, targets = array<i32: 0, 0>, weights = array<f64: 1.0, 2.0>, target_count = 1 : i64} : (tensor<4x?xf32>) -> tensor<4x1xf32>
  return %0, %1, %2 : tensor<?x1xf16>, tensor<4x2xf64>, tensor<4x1xf32>
}
