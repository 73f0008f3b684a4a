// RUN: not sinter run %s --backend interpreter 2>&1 | FileCheck %s
// RUN: not sinter run %s --backend cpu 2>&1 | FileCheck %s
// CHECK: error: {{.*}}custom_call

// What compiled programs call is not for programs to name.
func.func @main() -> tensor<f32> {
  %0 = stablehlo.custom_call @sinter.fft() : () -> tensor<f32>
  return %0 : tensor<f32>
}
