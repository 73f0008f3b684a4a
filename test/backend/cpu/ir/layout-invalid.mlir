// RUN: sinter-opt %s --split-input-file --verify-diagnostics
// Covers: backend/cpu/ir CpuDialect LayoutOps

func.func @f(%x: tensor<1x20x8x8xf32>) -> tensor<1x1x8x8x16xf32> {
  // expected-error @+1 {{the result is not the blocked form of the operand}}
  %0 = cpu.pack %x : (tensor<1x20x8x8xf32>) -> tensor<1x1x8x8x16xf32>
  return %0 : tensor<1x1x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf32>) -> tensor<1x33x8x8xf32> {
  // expected-error @+1 {{the operand is not the blocked form of the result}}
  %0 = cpu.unpack %x : (tensor<1x2x8x8x16xf32>) -> tensor<1x33x8x8xf32>
  return %0 : tensor<1x33x8x8xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{strides, dilations and padding are not [height, width]}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64,
    strides = array<i64: 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>, tensor<32x32x1x1xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<?x2x?x?x16xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<?x2x?x?x16xf32> {
  // expected-error @+1 {{estimated_area is not [height, width]}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64, estimated_area = array<i64: 7, 0>,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>}
    : (tensor<?x2x?x?x16xf32>, tensor<32x32x1x1xf32>) -> tensor<?x2x?x?x16xf32>
  return %0 : tensor<?x2x?x?x16xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf32>, %w: tensor<32x32x1xf32>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{the operands' ranks are wrong}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>, tensor<32x32x1xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf32>, %w: tensor<1024xf32>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{packed_from is not [K, C / groups, R, S]}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64, packed_from = array<i64: 32, 32>,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>, tensor<1024xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf32>, %w: tensor<48x32x1x1xf32>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{the result has not the weights' output channels}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 48 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>, tensor<48x32x1x1xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x3x8x8x16xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{the input has not the weights' input channels}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x3x8x8x16xf32>, tensor<32x32x1x1xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x4x8x8x8xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{input and result have blocks of other sizes}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x4x8x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf32>) -> tensor<1x2x4x4x16xf32> {
  // expected-error @+1 {{kind is not max, average_window or average_present}}
  %0 = "cpu.pool"(%x) {kind = "median", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>) -> tensor<1x2x4x4x16xf32>
  return %0 : tensor<1x2x4x4x16xf32>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xf16>) -> tensor<1x2x4x4x16xf16> {
  // expected-error @+1 {{input and result are not of f32, nor bytes or half precision and what becomes of them}}
  %0 = "cpu.pool"(%x) {kind = "max", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf16>) -> tensor<1x2x4x4x16xf16>
  return %0 : tensor<1x2x4x4x16xf16>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xui8>) -> tensor<1x2x4x4x16xui8> {
  // expected-error @+1 {{input and result are not of f32, nor bytes or half precision and what becomes of them}}
  %0 = "cpu.pool"(%x) {kind = "average_window", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xui8>) -> tensor<1x2x4x4x16xui8>
  return %0 : tensor<1x2x4x4x16xui8>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xi8>) -> tensor<1x2x4x4x16xi8> {
  // expected-error @+1 {{the zero point is no element of bytes with a mean}}
  %0 = "cpu.pool"(%x) {kind = "max", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, zero_point = 3 : i64}
    : (tensor<1x2x8x8x16xi8>) -> tensor<1x2x4x4x16xi8>
  return %0 : tensor<1x2x4x4x16xi8>
}

// -----

func.func @f(%x: tensor<1x2x8x8x16xi8>) -> tensor<1x2x4x4x16xf32> {
  // expected-error @+1 {{the zero point is no element of bytes with a mean}}
  %0 = "cpu.pool"(%x) {kind = "average_present", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, zero_point = 128 : i64}
    : (tensor<1x2x8x8x16xi8>) -> tensor<1x2x4x4x16xf32>
  return %0 : tensor<1x2x4x4x16xf32>
}

// -----

func.func @f(%x: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  // expected-error @+1 {{dimensions are not those of the tensors}}
  %0 = "cpu.attention"(%x, %x, %x) {scale = 1.0 : f64, query_dims = array<i64: 0, 1, 1>,
    key_dims = array<i64: 0, 1, 2>, value_dims = array<i64: 0, 1, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x64x32xf32>, tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %0 : tensor<4x64x32xf32>
}

// -----

func.func @f(%x: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  // expected-error @+1 {{the last dimensions are not the last in memory}}
  %0 = "cpu.attention"(%x, %x, %x) {scale = 1.0 : f64, query_dims = array<i64: 0, 1, 2>,
    key_dims = array<i64: 0, 1, 2>, value_dims = array<i64: 0, 2, 1>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x64x32xf32>, tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %0 : tensor<4x64x32xf32>
}

// -----

func.func @f(%x: tensor<4xi32>, %t: tensor<256xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{does not make bytes of as many bytes}}
  %0 = cpu.lookup %x, %t : (tensor<4xi32>, tensor<256xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// Eight weights of four bits lie in a word.
func.func @f(%x: tensor<1x2x8x8x16xf32>, %w: tensor<32x20x1x1xi4>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{no kernel multiplies and sums such elements}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>, tensor<32x20x1x1xi4>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

// Channel by channel, weights are of the input's type.
func.func @f(%x: tensor<1x2x8x8x16xf32>, %w: tensor<32x1x3x3xf16>) -> tensor<1x2x6x6x16xf32> {
  // expected-error @+1 {{no kernel multiplies and sums such elements}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 32 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf32>, tensor<32x1x3x3xf16>) -> tensor<1x2x6x6x16xf32>
  return %0 : tensor<1x2x6x6x16xf32>
}

// -----

func.func @f(%x: tensor<4xi8>, %t: tensor<255xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{the table has not an element of the result's for each byte}}
  %0 = cpu.lookup %x, %t : (tensor<4xi8>, tensor<255xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @f(%x: tensor<4xi8>, %t: tensor<256xui8>) -> tensor<4xi8> {
  // expected-error @+1 {{the table has not an element of the result's for each byte}}
  %0 = cpu.lookup %x, %t : (tensor<4xi8>, tensor<256xui8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// What a half-precision input would be multiplied in is not said.
func.func @f(%x: tensor<1x2x8x8x16xf16>, %w: tensor<32x32x1x1xf16>) -> tensor<1x2x8x8x16xf32> {
  // expected-error @+1 {{no kernel multiplies and sums such elements}}
  %0 = "cpu.convolution"(%x, %w) {output_channels = 32 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x2x8x8x16xf16>, tensor<32x32x1x1xf16>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// -----

// The greatest of f16 is computed in f32.
func.func @f(%x: tensor<1x1x8x8x16xf16>) -> tensor<1x1x4x4x16xf16> {
  // expected-error @+1 {{input and result are not of f32, nor bytes or half precision}}
  %0 = "cpu.pool"(%x) {kind = "max", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xf16>) -> tensor<1x1x4x4x16xf16>
  return %0 : tensor<1x1x4x4x16xf16>
}

// -----

func.func @f(%x: tensor<4x2x8x8x16xf32>, %g: tensor<4x1x8x8x16xf32>) -> tensor<2x1x2x3x3x16x16xf32> {
  // expected-error @+1 {{strides, dilations and padding are not [height, width]}}
  %0 = "cpu.weight_gradient"(%x, %g) {input_channels = 32 : i64, output_channels = 16 : i64, strides = array<i64: 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}
    : (tensor<4x2x8x8x16xf32>, tensor<4x1x8x8x16xf32>) -> tensor<2x1x2x3x3x16x16xf32>
  return %0 : tensor<2x1x2x3x3x16x16xf32>
}

// -----

func.func @f(%x: tensor<4x2x8x8x16xf32>, %g: tensor<4x1x8x8x8xf32>) -> tensor<2x1x2x3x3x16x16xf32> {
  // expected-error @+1 {{operands are not blocks of the same images, or the result is not of blocks}}
  %0 = "cpu.weight_gradient"(%x, %g) {input_channels = 32 : i64, output_channels = 8 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}
    : (tensor<4x2x8x8x16xf32>, tensor<4x1x8x8x8xf32>) -> tensor<2x1x2x3x3x16x16xf32>
  return %0 : tensor<2x1x2x3x3x16x16xf32>
}

// -----

func.func @f(%x: tensor<4x2x8x8x16xf32>, %g: tensor<4x1x8x8x16xf32>) -> tensor<2x1x2x3x3x16x16xf32> {
  // expected-error @+1 {{the result has not the blocks of the operands}}
  %0 = "cpu.weight_gradient"(%x, %g) {input_channels = 33 : i64, output_channels = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}
    : (tensor<4x2x8x8x16xf32>, tensor<4x1x8x8x16xf32>) -> tensor<2x1x2x3x3x16x16xf32>
  return %0 : tensor<2x1x2x3x3x16x16xf32>
}

// -----

func.func @f(%x: tensor<4x2x8x8x16xf32>, %g: tensor<4x1x8x8x16xf32>) -> tensor<3x1x2x3x3x16x16xf32> {
  // expected-error @+1 {{parts are not of as many images each}}
  %0 = "cpu.weight_gradient"(%x, %g) {input_channels = 32 : i64, output_channels = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}
    : (tensor<4x2x8x8x16xf32>, tensor<4x1x8x8x16xf32>) -> tensor<3x1x2x3x3x16x16xf32>
  return %0 : tensor<3x1x2x3x3x16x16xf32>
}

// -----

func.func @f(%x: tensor<4x2x8x8x16xf32>, %g: tensor<4x1x8x8x16xf32>) -> tensor<4x2x3x3x16xf32> {
  // expected-error @+1 {{operands and result are not blocks of the same channels, of f32}}
  %0 = "cpu.depthwise_gradient"(%x, %g) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}
    : (tensor<4x2x8x8x16xf32>, tensor<4x1x8x8x16xf32>) -> tensor<4x2x3x3x16xf32>
  return %0 : tensor<4x2x3x3x16xf32>
}

// -----

func.func @f(%x: tensor<1x1x8x8x16xui8>, %w: tensor<16x16x1x1xi8>, %z: tensor<1xui8>) -> tensor<1x1x8x8x16xi32> {
  // expected-error @+1 {{a zero point that is an operand stands beside one that is an attribute, or is of no bytes}}
  %0 = "cpu.convolution"(%x, %w, %z) {output_channels = 16 : i64, groups = 1 : i64, zero_point = 3 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xui8>, tensor<16x16x1x1xi8>, tensor<1xui8>) -> tensor<1x1x8x8x16xi32>
  return %0 : tensor<1x1x8x8x16xi32>
}

// -----

func.func @f(%x: tensor<1x1x8x8x16xf32>, %w: tensor<16x16x1x1xf32>, %z: tensor<1xf32>) -> tensor<1x1x8x8x16xf32> {
  // expected-error @+1 {{a zero point that is an operand stands beside one that is an attribute, or is of no bytes}}
  %0 = "cpu.convolution"(%x, %w, %z) {output_channels = 16 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xf32>, tensor<16x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x8x8x16xf32>
  return %0 : tensor<1x1x8x8x16xf32>
}

// -----

func.func @f(%x: tensor<1x1x8x8x16xui8>, %w: tensor<16x16x1x1xi8>, %z: tensor<1xi8>) -> tensor<1x1x8x8x16xi32> {
  // expected-error @+1 {{the zero point is not one element of the input}}
  %0 = "cpu.convolution"(%x, %w, %z) {output_channels = 16 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xui8>, tensor<16x16x1x1xi8>, tensor<1xi8>) -> tensor<1x1x8x8x16xi32>
  return %0 : tensor<1x1x8x8x16xi32>
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<64x128xi8>, %s: tensor<2x4xf32>) -> tensor<1x128xf32> {
  // expected-error @+1 {{has blocks of columns that are not of one row, or of more columns than there are}}
  %0 = "cpu.low_bit_product"(%x, %w, %s) {contracting = array<i64: 0>, block = 32 : i64, columns = 32 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x64xf32>, tensor<64x128xi8>, tensor<2x4xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<64x128xi8>, %s: tensor<64x1xf32>) -> tensor<1x128xf32> {
  // expected-error @+1 {{has blocks of columns that are not of one row, or of more columns than there are}}
  %0 = "cpu.low_bit_product"(%x, %w, %s) {contracting = array<i64: 0>, block = 1 : i64, columns = 144 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x64xf32>, tensor<64x128xi8>, tensor<64x1xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<64x128xi8>, %s: tensor<64x6xf32>) -> tensor<1x128xf32> {
  // expected-error @+1 {{has blocks of columns that are no multiples of 16}}
  %0 = "cpu.low_bit_product"(%x, %w, %s) {contracting = array<i64: 0>, block = 1 : i64, columns = 24 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x64xf32>, tensor<64x128xi8>, tensor<64x6xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<64x128xi8>, %s: tensor<64x3xf32>) -> tensor<1x128xf32> {
  // expected-error @+1 {{scales and zero points are not [blocks, columns]}}
  %0 = "cpu.low_bit_product"(%x, %w, %s) {contracting = array<i64: 0>, block = 1 : i64, columns = 32 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x64xf32>, tensor<64x128xi8>, tensor<64x3xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x5xui8>) -> tensor<4x5xi32> {
  // expected-error @+1 {{is not of bytes with such dimensions}}
  %0 = "cpu.zero_point_product"(%x, %y) {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>,
    operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<4x8xf32>, tensor<8x5xui8>) -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// -----

func.func @f(%x: tensor<4x8xui8>, %y: tensor<8x5xui8>) -> tensor<4x5xi32> {
  // expected-error @+1 {{is not of bytes with such dimensions}}
  %0 = "cpu.zero_point_product"(%x, %y) {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1, 1>, rhs_contracting = array<i64: 0, 2>,
    operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<4x8xui8>, tensor<8x5xui8>) -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// -----

func.func @f(%x: tensor<4x8xui8>, %y: tensor<8x5xui8>, %z: tensor<4xi32>) -> tensor<4x5xi32> {
  // expected-error @+1 {{has a zero point that is not one element of i32}}
  %0 = "cpu.zero_point_product"(%x, %y, %z) {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<4x8xui8>, tensor<8x5xui8>, tensor<4xi32>) -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// -----

func.func @f(%x: tensor<4x8xui8>, %y: tensor<7x5xui8>) -> tensor<4x5xi32> {
  // expected-error @+1 {{operands have other sizes}}
  %0 = "cpu.zero_point_product"(%x, %y) {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>,
    operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<4x8xui8>, tensor<7x5xui8>) -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// -----

func.func @f(%x: tensor<4x8xui8>, %y: tensor<8x5xui8>) -> tensor<5x4xi32> {
  // expected-error @+1 {{the result is not of i32 in what is left of both}}
  %0 = "cpu.zero_point_product"(%x, %y) {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>,
    operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<4x8xui8>, tensor<8x5xui8>) -> tensor<5x4xi32>
  return %0 : tensor<5x4xi32>
}

// -----

func.func @parts_of_rows_of_pixels(%x: tensor<1x2x7x9x16xf32>) -> tensor<9000xi8> {
  // expected-error @+1 {{has rows of pixels that are not whole}}
  %0 = cpu.split_terms %x {images = 1 : i64, rows = 63 : i64, columns = 32 : i64, width = 8 : i64, tile_rows = 9 : i64, unit_rows = 9 : i64, border = array<i64: 0, 0, 0, 0>, beyond = 0 : i64} : (tensor<1x2x7x9x16xf32>) -> tensor<9000xi8>
  return %0 : tensor<9000xi8>
}

// -----

func.func @parts_with_a_border(%x: tensor<1x2x7x9x16xf32>) -> tensor<9000xi8> {
  // expected-error @+1 {{has a border that is not of four sides}}
  %0 = cpu.split_terms %x {images = 1 : i64, rows = 63 : i64, columns = 32 : i64, width = 9 : i64, tile_rows = 9 : i64, unit_rows = 9 : i64, border = array<i64: 1, 1>, beyond = 0 : i64} : (tensor<1x2x7x9x16xf32>) -> tensor<9000xi8>
  return %0 : tensor<9000xi8>
}
