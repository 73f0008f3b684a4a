// RUN: sinter-opt %s --move-rescales | FileCheck %s
// RUN: sinter-opt %s --move-rescales=allow=requantize | FileCheck %s --check-prefix=NEAR

!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25:3>
!c = !quant.uniform<i8:f32, 0.4:1>

// A max pool between two scales: less to rescale behind it.
// CHECK-LABEL: @max_pool_between_scales
// CHECK: nn.max_pool %arg0
// CHECK: stablehlo.uniform_quantize
// NEAR-LABEL: @max_pool_between_scales
// NEAR-NOT: uniform_quantize
// NEAR: nn.max_pool %arg0
// NEAR-NEXT: return
func.func @max_pool_between_scales(%x: tensor<1x2x6x6x!b>) -> tensor<1x2x3x3x!a> {
  %r = stablehlo.uniform_quantize %x : (tensor<1x2x6x6x!b>) -> tensor<1x2x6x6x!c>
  %m = nn.max_pool %r, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<1x2x6x6x!c>) -> tensor<1x2x3x3x!c>
  %k = stablehlo.uniform_quantize %m : (tensor<1x2x3x3x!c>) -> tensor<1x2x3x3x!a>
  return %k : tensor<1x2x3x3x!a>
}

// CHECK-LABEL: @window
func.func @window(%x: tensor<1x1x4x4x!a>) -> tensor<1x1x2x2x!b> {
  %r = stablehlo.uniform_quantize %x : (tensor<1x1x4x4x!a>) -> tensor<1x1x4x4x!b>
  %i = stablehlo.constant() {value = dense<-128> : tensor<i8>} : () -> tensor<!b>
  // CHECK: "stablehlo.reduce_window"(%arg0
  // CHECK: stablehlo.uniform_quantize
  %m = "stablehlo.reduce_window"(%r, %i) ({ ^bb0(%p: tensor<!b>, %q: tensor<!b>):
    %s = stablehlo.maximum %p, %q : tensor<!b>
    stablehlo.return %s : tensor<!b> }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>} : (tensor<1x1x4x4x!b>, tensor<!b>) -> tensor<1x1x2x2x!b>
  return %m : tensor<1x1x2x2x!b>
}

// Wide to the left: LRN rounds to any scale.
// NEAR-LABEL: @lrn
// NEAR: nn.lrn {{.*}}4.000000e-01:1
// NEAR-NEXT: nn.max_pool
// NEAR-NEXT: return
func.func @lrn(%x: tensor<1x2x6x6x!b>) -> tensor<1x2x3x3x!c> {
  %l = nn.lrn %x {size = 3 : i64, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : (tensor<1x2x6x6x!b>) -> tensor<1x2x6x6x!a>
  %m = nn.max_pool %l, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<1x2x6x6x!a>) -> tensor<1x2x3x3x!a>
  %k = stablehlo.uniform_quantize %m : (tensor<1x2x3x3x!a>) -> tensor<1x2x3x3x!c>
  return %k : tensor<1x2x3x3x!c>
}

// Rows are kept, however many.
// CHECK-LABEL: @unknown_rows
// CHECK: %[[R:.*]] = nn.relu %arg0
// CHECK: %[[T:.*]] = nn.take %[[R]]
// CHECK: stablehlo.uniform_quantize %[[T]]
func.func @unknown_rows(%x: tensor<?x6x!a>, %i: tensor<3xi64>) -> tensor<?x3x!b> {
  %r = stablehlo.uniform_quantize %x : (tensor<?x6x!a>) -> tensor<?x6x!b>
  %t = nn.relu %r : tensor<?x6x!b>
  %u = nn.take %t, %i, axis = 1 : (tensor<?x6x!b>, tensor<3xi64>) -> tensor<?x3x!b>
  return %u : tensor<?x3x!b>
}
