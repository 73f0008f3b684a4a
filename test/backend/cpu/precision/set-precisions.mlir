// RUN: sinter-opt %s --cpu-set-precision | FileCheck %s
// RUN: sinter-opt %s '--cpu-set-precision=precision=f32-exact' | FileCheck %s --check-prefix=EXACT
// RUN: sinter-opt %s '--cpu-set-precision=precision=bf16' | FileCheck %s --check-prefix=BF16
// Covers: graph ProductPrecision

// A product that is asked for nothing is computed as the option says, one that
// is keeps what it is asked for; products of integers say nothing.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] :
// CHECK: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} :
// CHECK: stablehlo.dot_general {{.*}}precision = [HIGH, DEFAULT] :
// CHECK: stablehlo.dot_general {{.*}}num_primitive_operations = 6{{.*}} {sinter.precision = "f32-exact"} :
// CHECK: stablehlo.dot_general {{.*}}num_primitive_operations = 1{{.*}} {sinter.precision = "bf16"} :
// CHECK: stablehlo.dot_general {{.*}} : (tensor<8x8xi32>
// EXACT: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} :
// EXACT: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} :
// EXACT: stablehlo.dot_general {{.*}} {sinter.precision = "f32"} :
// EXACT: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} :
// EXACT: stablehlo.dot_general {{.*}} {sinter.precision = "bf16"} :
// EXACT: stablehlo.dot_general {{.*}}contracting_dims = [1] x [0] : (tensor<8x8xi32>
// BF16: stablehlo.dot_general {{.*}} {sinter.precision = "bf16"} :
// BF16: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} :
// BF16: stablehlo.dot_general {{.*}} {sinter.precision = "f32"} :
// BF16: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} :
// BF16: stablehlo.dot_general {{.*}} {sinter.precision = "bf16"} :
// BF16: stablehlo.dot_general {{.*}}contracting_dims = [1] x [0] : (tensor<8x8xi32>
func.func @main(%x: tensor<8x8xf32>, %i: tensor<8x8xi32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xi32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16,
    rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 3,
    num_primitive_operations = 6, allow_imprecise_accumulation = false>
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16,
    rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
    num_primitive_operations = 1, allow_imprecise_accumulation = false>
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.dot_general %i, %i, contracting_dims = [1] x [0] : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xi32>
}
