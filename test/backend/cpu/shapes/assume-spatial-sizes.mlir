// RUN: sinter-opt %s --split-input-file --cpu-infer-dimensions --cpu-assume-spatial-sizes | FileCheck %s

// Half of the height and the model's own width, of 224 each; the batch says nothing.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.convolution"{{.*}}estimated_area = array<i64: 112, 224>
func.func @main(%x: tensor<?x1x?x?x16xf32> {sinter.dims = ["batch", "", "height", "width", ""]}, %w: tensor<16x16x3x3xf32>) -> tensor<?x1x?x?x16xf32> {
  %b = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64, strides = array<i64: 2, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x?x?x16xf32>, tensor<16x16x3x3xf32>) -> tensor<?x1x?x?x16xf32>
  return %b : tensor<?x1x?x?x16xf32>
}

// -----

// A height that is known is taken as it is.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.convolution"{{.*}}estimated_area = array<i64: 8, 224>
func.func @main(%x: tensor<2x1x8x?x16xf32> {sinter.dims = ["", "", "", "width", ""]}, %w: tensor<16x16x1x1xf32>) -> tensor<2x1x8x?x16xf32> {
  %b = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x1x8x?x16xf32>, tensor<16x16x1x1xf32>) -> tensor<2x1x8x?x16xf32>
  return %b : tensor<2x1x8x?x16xf32>
}

// -----

// Images that nobody has are not larger than those that are counted.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.convolution"{{.*}}estimated_area = array<i64: 4096, 224>
func.func @main(%x: tensor<?x1x?x?x16xf32> {sinter.dims = ["batch", "", "height", "width", ""]}, %w: tensor<16x16x1x1xf32>) -> tensor<?x1x?x?x16xf32> {
  %b = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 4611686018427387904, 0>, padding_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x1x?x?x16xf32>, tensor<16x16x1x1xf32>) -> tensor<?x1x?x?x16xf32>
  return %b : tensor<?x1x?x?x16xf32>
}

// -----

// Nothing is said where only the number of images is unknown.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.convolution"
// CHECK-NOT: estimated_area
func.func @main(%x: tensor<?x1x8x8x16xf32> {sinter.dims = ["batch", "", "", "", ""]}, %w: tensor<16x16x1x1xf32>) -> tensor<?x1x8x8x16xf32> {
  %b = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<?x1x8x8x16xf32>
  return %b : tensor<?x1x8x8x16xf32>
}
