// RUN: sinter-opt %s --split-input-file --cpu-infer-dimensions --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s

// Two parts of 96 blocks and a word of each for a row are 12,672 bytes; and 63
// for a line that is not whole, and 15 rows that the last tile may have more.
// CHECK: sizes = [{{.*}}, array<i64: 1023, 0, 1622016, 1, 0>]
// CHECK-LABEL: func.func @rows
// CHECK: cpu.split_terms %{{.*}} {beyond = 15 : i64, border = array<i64: 0, 0, 0, 0>, columns = 3072 : i64, images = 1 : i64, rows = 1 : i64, tile_rows = 1 : i64, unit_rows = 1 : i64, width = 1 : i64}
// CHECK-SAME: -> tensor<?xi8, array<i64:
// CHECK: cpu.recombine_terms
// CHECK-NEXT: stablehlo.dot_general
func.func @rows(%x: tensor<?x128x768xf32> {sinter.dims = ["N", "", ""]}) -> tensor<?x128x768xf32> {
  %w = stablehlo.constant dense<0.3> : tensor<768x3072xf32>
  %v = stablehlo.constant dense<0.7> : tensor<3072x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<?x128x768xf32>, tensor<768x3072xf32>) -> tensor<?x128x3072xf32>
  %b = stablehlo.tanh %a : tensor<?x128x3072xf32>
  %c = stablehlo.dot_general %b, %v, contracting_dims = [2] x [0] : (tensor<?x128x3072xf32>, tensor<3072x768xf32>) -> tensor<?x128x768xf32>
  return %c : tensor<?x128x768xf32>
}

// -----

// Who adds the value to another one reads numbers.
// CHECK-LABEL: func.func @others
// CHECK-NOT: _parts
// CHECK: return
func.func @others(%x: tensor<?x128x768xf32> {sinter.dims = ["N", "", ""]}) -> tensor<?x128x768xf32> {
  %w = stablehlo.constant dense<0.3> : tensor<768x768xf32>
  %v = stablehlo.constant dense<0.7> : tensor<768x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<?x128x768xf32>, tensor<768x768xf32>) -> tensor<?x128x768xf32>
  %c = stablehlo.dot_general %a, %v, contracting_dims = [2] x [0] : (tensor<?x128x768xf32>, tensor<768x768xf32>) -> tensor<?x128x768xf32>
  %d = stablehlo.add %c, %a : tensor<?x128x768xf32>
  return %d : tensor<?x128x768xf32>
}
