// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-parts=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-parts=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids disable-patterns=keep-parts' | FileCheck %s --check-prefix=OFF
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-parts=triple=x86_64-unknown-linux-gnu cpu=x86-64-v4' | FileCheck %s --check-prefix=OFF

// A product stores what the next one reads, 128 rows of two parts and 8 times
// 96 words; a reshape between them is the readers'.
// CHECK-LABEL: func.func @products
// CHECK: %[[Y:.*]] = cpu.kernel(%arg0,
// CHECK-SAME: -> tensor<1575936xi8> {
// CHECK: %[[T:.*]] = stablehlo.tanh
// CHECK-NEXT: %[[C:.*]] = cpu.cut_parts %[[T]] {columns = 3072 : i64, images = 1 : i64, rows = 128 : i64, tile_rows = 16 : i64, unit_rows = 16 : i64} : (tensor<1x128x3072xf32>) -> tensor<1575936xi8>
// CHECK-NEXT: cpu.yield %[[C]]
// CHECK: cpu.kernel(%[[Y]],
// CHECK-SAME: {constant_inputs = array<i64: 1>} : (tensor<1575936xi8>, tensor<3072x768xf32>) -> tensor<128x768xf32> {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<1575936xi8>,
// CHECK-NEXT: %[[J:.*]] = cpu.join_parts %[[I]] {columns = 3072 : i64, images = 1 : i64, rows = 128 : i64, tile_rows = 16 : i64, unit_rows = 16 : i64} : (tensor<1575936xi8>) -> tensor<128x3072xf32>
// CHECK-NEXT: stablehlo.dot_general %[[J]]
// OFF-LABEL: func.func @products
// OFF-NOT: _parts
func.func @products(%x: tensor<1x128x768xf32>) -> tensor<128x768xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<768x3072xf32>
  %v = stablehlo.constant dense<0.5> : tensor<3072x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
  %b = stablehlo.tanh %a : tensor<1x128x3072xf32>
  %c = stablehlo.reshape %b : (tensor<1x128x3072xf32>) -> tensor<128x3072xf32>
  %d = stablehlo.dot_general %c, %v, contracting_dims = [1] x [0] : (tensor<128x3072xf32>, tensor<3072x768xf32>) -> tensor<128x768xf32>
  return %d : tensor<128x768xf32>
}

// -----

// All readers read what one stores; the last product is read by nobody who
// would.
// CHECK-LABEL: func.func @several_readers
// CHECK: %[[Y:.*]] = cpu.kernel(%arg0,
// CHECK: cpu.cut_parts
// CHECK: cpu.kernel(%[[Y]],
// CHECK: cpu.join_parts
// CHECK: cpu.kernel(%[[Y]],
// CHECK: cpu.join_parts
// CHECK-NOT: cpu.cut_parts
func.func @several_readers(%x: tensor<256x768xf32>) -> (tensor<256x768xf32>, tensor<256x768xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<768x768xf32>
  %v = stablehlo.constant dense<0.25> : tensor<768x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %c = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  return %b, %c : tensor<256x768xf32>, tensor<256x768xf32>
}

// -----

// Others read numbers: an epilogue, a result of the function, a product of
// other rows.
// CHECK-LABEL: func.func @other_readers
// CHECK-NOT: _parts
// CHECK: return
func.func @other_readers(%x: tensor<256x768xf32>) -> (tensor<256x768xf32>, tensor<256x768xf32>, tensor<128x768xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<768x768xf32>
  %v = stablehlo.constant dense<0.5> : tensor<1536x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %c = stablehlo.add %b, %a : tensor<256x768xf32>
  %d = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %e = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %f = stablehlo.reshape %e : (tensor<256x768xf32>) -> tensor<128x1536xf32>
  %g = stablehlo.dot_general %f, %v, contracting_dims = [1] x [0] : (tensor<128x1536xf32>, tensor<1536x768xf32>) -> tensor<128x768xf32>
  return %c, %d, %g : tensor<256x768xf32>, tensor<256x768xf32>, tensor<128x768xf32>
}

// -----

// Three parts would take half as much memory again.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: _parts
// CHECK: return
func.func @exact(%x: tensor<256x768xf32>) -> tensor<256x768xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<768x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sinter.precision = "f32-exact"} : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sinter.precision = "f32-exact"} : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  return %b : tensor<256x768xf32>
}
