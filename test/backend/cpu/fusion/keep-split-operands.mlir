// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids disable-patterns=keep-split-operands,split-once' | FileCheck %s --check-prefix=OFF
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=x86-64-v4' | FileCheck %s --check-prefix=OFF

// A product stores what the next one reads, 128 rows of two parts and 8 times
// 96 words; a reshape between them is the readers'.
// CHECK-LABEL: func.func @products
// CHECK: %[[Y:.*]] = cpu.kernel(%arg0,
// CHECK-SAME: -> tensor<1575936xi8> {
// CHECK: %[[T:.*]] = stablehlo.tanh
// CHECK-NEXT: %[[C:.*]] = cpu.split_terms %[[T]] {beyond = 0 : i64, border = array<i64: 0, 0, 0, 0>, columns = 3072 : i64, images = 1 : i64, rows = 128 : i64, tile_rows = 16 : i64, unit_rows = 16 : i64, width = 128 : i64} : (tensor<1x128x3072xf32>) -> tensor<1575936xi8>
// CHECK-NEXT: cpu.yield %[[C]]
// CHECK: cpu.kernel(%[[Y]],
// CHECK-SAME: {constant_inputs = array<i64: 1>} : (tensor<1575936xi8>, tensor<3072x768xf32>) -> tensor<128x768xf32> {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<1575936xi8>,
// CHECK-NEXT: %[[J:.*]] = cpu.recombine_terms %[[I]] {beyond = 0 : i64, border = array<i64: 0, 0, 0, 0>, columns = 3072 : i64, images = 1 : i64, rows = 128 : i64, tile_rows = 16 : i64, unit_rows = 16 : i64, width = 128 : i64} : (tensor<1575936xi8>) -> tensor<128x3072xf32>
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
// CHECK: cpu.split_terms
// CHECK: cpu.kernel(%[[Y]],
// CHECK: cpu.recombine_terms
// CHECK: cpu.kernel(%[[Y]],
// CHECK: cpu.recombine_terms
// CHECK-NOT: cpu.split_terms
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

// -----

// In front of windows the pixels have zeros around them, 15 by 16 and one more
// in place of 14 by 14; who reads pixels with strides reads among them.
// CHECK-LABEL: func.func @windows
// CHECK: %[[Y:.*]] = cpu.kernel(%arg0,
// CHECK: cpu.split_terms %{{.*}} {beyond = 0 : i64, border = array<i64: 1, 1, 1, 1>, columns = 256 : i64, images = 1 : i64, rows = 196 : i64, tile_rows = 14 : i64, unit_rows = 14 : i64, width = 14 : i64} : (tensor<1x16x14x14x16xf32>) -> tensor<247232xi8>
// CHECK: cpu.kernel(%[[Y]],
// CHECK: cpu.recombine_terms %{{.*}} {beyond = 0 : i64, border = array<i64: 1, 1, 1, 1>,
// CHECK-NEXT: "cpu.convolution"
// CHECK: cpu.kernel(%[[Y]],
// CHECK: cpu.recombine_terms
// CHECK: return
// OFF-LABEL: func.func @windows
// OFF-NOT: _parts
func.func @windows(%x: tensor<1x16x14x14x16xf32>) -> (tensor<1x16x14x14x16xf32>, tensor<1x32x7x7x16xf32>) {
  %w = stablehlo.constant dense<0.3> : tensor<256x256x1x1xf32>
  %v = stablehlo.constant dense<0.7> : tensor<256x256x3x3xf32>
  %u = stablehlo.constant dense<0.7> : tensor<512x256x3x3xf32>
  %a = "cpu.convolution"(%x, %w) {output_channels = 256 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x14x14x16xf32>, tensor<256x256x1x1xf32>) -> tensor<1x16x14x14x16xf32>
  %b = "cpu.convolution"(%a, %v) {output_channels = 256 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x14x14x16xf32>, tensor<256x256x3x3xf32>) -> tensor<1x16x14x14x16xf32>
  %c = "cpu.convolution"(%a, %u) {output_channels = 512 : i64, groups = 1 : i64, strides = array<i64: 2, 2>, padding_low = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x14x14x16xf32>, tensor<512x256x3x3xf32>) -> tensor<1x32x7x7x16xf32>
  return %b, %c : tensor<1x16x14x14x16xf32>, tensor<1x32x7x7x16xf32>
}

// -----

// Seven results of a row are a tile then, where pixels that are brought together
// are tiles of 13; so they are brought together.
// CHECK-LABEL: func.func @strides_of_small_images
// CHECK-NOT: _parts
// CHECK: return
func.func @strides_of_small_images(%x: tensor<1x64x14x14x16xf32>) -> tensor<1x128x7x7x16xf32> {
  %w = stablehlo.constant dense<0.3> : tensor<1024x1024x1x1xf32>
  %v = stablehlo.constant dense<0.7> : tensor<2048x1024x1x1xf32>
  %a = "cpu.convolution"(%x, %w) {output_channels = 1024 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x14x14x16xf32>, tensor<1024x1024x1x1xf32>) -> tensor<1x64x14x14x16xf32>
  %b = "cpu.convolution"(%a, %v) {output_channels = 2048 : i64, groups = 1 : i64, strides = array<i64: 2, 2>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x14x14x16xf32>, tensor<2048x1024x1x1xf32>) -> tensor<1x128x7x7x16xf32>
  return %b : tensor<1x128x7x7x16xf32>
}

// -----

// Of images that are 28 high and 14 wide another one's pixels are not those of
// a window, which go by rows.
// CHECK-LABEL: func.func @other_widths
// CHECK-NOT: _parts
// CHECK: return
func.func @other_widths(%x: tensor<1x16x14x28x16xf32>) -> tensor<1x16x28x14x16xf32> {
  %w = stablehlo.constant dense<0.3> : tensor<256x256x1x1xf32>
  %v = stablehlo.constant dense<0.7> : tensor<256x256x3x3xf32>
  %a = "cpu.convolution"(%x, %w) {output_channels = 256 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x14x28x16xf32>, tensor<256x256x1x1xf32>) -> tensor<1x16x14x28x16xf32>
  %r = stablehlo.reshape %a : (tensor<1x16x14x28x16xf32>) -> tensor<1x16x28x14x16xf32>
  %b = "cpu.convolution"(%r, %v) {output_channels = 256 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x28x14x16xf32>, tensor<256x256x3x3xf32>) -> tensor<1x16x28x14x16xf32>
  return %b : tensor<1x16x28x14x16xf32>
}
