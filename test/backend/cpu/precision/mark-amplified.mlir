// RUN: sinter-opt %s --split-input-file '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=x86-64-v4' | FileCheck %s --check-prefix=OTHERS
// Machines without matrix units have no use for it.
// OTHERS-NOT: {{sinter.amplified|sinter.last}}

// The first of twelve products have eight and more behind them; what is beside
// them counts by what is behind it, and a loop as one product.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.convolution{{.*}} sinter.amplified
// CHECK: stablehlo.convolution{{.*}} sinter.amplified
// CHECK: stablehlo.convolution{{.*}} sinter.amplified
// CHECK: while
// CHECK-NOT: sinter.amplified
func.func @main(%x: tensor<1x4x3x3xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) {
  %a1 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a2 = stablehlo.convolution(%a1, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %t = stablehlo.tanh %a2 : tensor<1x4x3x3xf32>
  %a3 = stablehlo.convolution(%t, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %l:2 = stablehlo.while(%i = %n, %v = %a3) : tensor<i32>, tensor<1x4x3x3xf32>
  cond {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %k = stablehlo.convolution(%v, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
    %m = stablehlo.convolution(%k, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
    stablehlo.return %j, %m : tensor<i32>, tensor<1x4x3x3xf32>
  }
  %b = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a5 = stablehlo.convolution(%l#1, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a6 = stablehlo.convolution(%a5, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a7 = stablehlo.convolution(%a6, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a8 = stablehlo.convolution(%a7, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a9 = stablehlo.convolution(%a8, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a10 = stablehlo.convolution(%a9, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a11 = stablehlo.convolution(%a10, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a12 = stablehlo.convolution(%a11, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %a12, %b : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>
}

// -----

// Eleven add up little.
// CHECK-LABEL: func.func @main
// CHECK-NOT: sinter.amplified
// CHECK: return
func.func @main(%x: tensor<1x4x3x3xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32> {
  %a1 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a2 = stablehlo.convolution(%a1, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a3 = stablehlo.convolution(%a2, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a4 = stablehlo.convolution(%a3, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a5 = stablehlo.convolution(%a4, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a6 = stablehlo.convolution(%a5, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a7 = stablehlo.convolution(%a6, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a8 = stablehlo.convolution(%a7, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a9 = stablehlo.convolution(%a8, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a10 = stablehlo.convolution(%a9, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %a11 = stablehlo.convolution(%a10, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %a11 : tensor<1x4x3x3xf32>
}

// -----

// The last product has a weight in fifty, and nothing behind it; the one before
// it as few, but another product behind it, and a convolution's work is by
// pixels.
// CHECK-LABEL: func.func @pooler
// CHECK-NOT: sinter.last
// CHECK: stablehlo.dot_general %{{.*}} {sinter.last} : (tensor<8x10xf32>, tensor<10x10xf32>)
// CHECK-NEXT: stablehlo.tanh
// CHECK: stablehlo.convolution
// CHECK-NOT: sinter.last
// CHECK: return
func.func @pooler(%x: tensor<8x40xf32>, %i: tensor<1x4x3x3xf32>) -> (tensor<8x10xf32>, tensor<1x4x3x3xf32>) {
  %u = stablehlo.constant dense<0.5> : tensor<40x10xf32>
  %s = stablehlo.constant dense<0.5> : tensor<10x460xf32>
  %h = stablehlo.constant dense<0.5> : tensor<460x10xf16>
  %v = stablehlo.convert %h : (tensor<460x10xf16>) -> tensor<460x10xf32>
  %w = stablehlo.constant dense<0.25> : tensor<10x10xf32>
  %k = stablehlo.constant dense<0.25> : tensor<4x4x1x1xf32>
  %a = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<8x40xf32>, tensor<40x10xf32>) -> tensor<8x10xf32>
  %b = stablehlo.dot_general %a, %s, contracting_dims = [1] x [0] : (tensor<8x10xf32>, tensor<10x460xf32>) -> tensor<8x460xf32>
  %c = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0] : (tensor<8x460xf32>, tensor<460x10xf32>) -> tensor<8x10xf32>
  %d = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<8x10xf32>, tensor<10x10xf32>) -> tensor<8x10xf32>
  %t = stablehlo.tanh %d : tensor<8x10xf32>
  %z = stablehlo.convolution(%i, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %t, %z : tensor<8x10xf32>, tensor<1x4x3x3xf32>
}

// -----

// More than a fiftieth of the weights, or none: what is computed of an input is
// no weight.
// CHECK-LABEL: func.func @heads
// CHECK-NOT: sinter.last
// CHECK: return
func.func @heads(%x: tensor<8x40xf32>) -> (tensor<8x12xf32>, tensor<8x8xf32>) {
  %u = stablehlo.constant dense<0.5> : tensor<40x40xf32>
  %w = stablehlo.constant dense<0.25> : tensor<40x12xf32>
  %a = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<8x40xf32>, tensor<40x40xf32>) -> tensor<8x40xf32>
  %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x40xf32>, tensor<40x12xf32>) -> tensor<8x12xf32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x40xf32>) -> tensor<40x8xf32>
  %c = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<8x40xf32>, tensor<40x8xf32>) -> tensor<8x8xf32>
  return %b, %c : tensor<8x12xf32>, tensor<8x8xf32>
}
