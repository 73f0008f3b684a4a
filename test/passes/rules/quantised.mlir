// Quantisation that is spelt out, raised to quantised types.

func.func @"raise-quantize/per_tensor"(%x: tensor<4x5xf32>) -> tensor<4x5xi8> {
  %s = stablehlo.constant dense<0.25> : tensor<f32>
  %z = stablehlo.constant dense<3.0> : tensor<f32>
  %least = stablehlo.constant dense<-128.0> : tensor<f32>
  %most = stablehlo.constant dense<127.0> : tensor<f32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
  %0 = stablehlo.divide %x, %sb : tensor<4x5xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<4x5xf32>
  %2 = stablehlo.add %1, %zb : tensor<4x5xf32>
  %3 = stablehlo.clamp %least, %2, %most : (tensor<f32>, tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %4 = stablehlo.convert %3 : (tensor<4x5xf32>) -> tensor<4x5xi8>
  return %4 : tensor<4x5xi8>
}

func.func @"raise-quantize/per_axis_half"(%x: tensor<4x3xf16>) -> tensor<4x3xui8> {
  %s = stablehlo.constant dense<[0.25, 0.1, 0.01]> : tensor<3xf16>
  %z = stablehlo.constant dense<[3, 128, 5]> : tensor<3xui8>
  %zc = stablehlo.convert %z : (tensor<3xui8>) -> tensor<3xf16>
  %least = stablehlo.constant dense<0.0> : tensor<f16>
  %most = stablehlo.constant dense<255.0> : tensor<f16>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf16>) -> tensor<4x3xf16>
  %zb = stablehlo.broadcast_in_dim %zc, dims = [1] : (tensor<3xf16>) -> tensor<4x3xf16>
  %0 = stablehlo.divide %x, %sb : tensor<4x3xf16>
  %1 = stablehlo.round_nearest_even %0 : tensor<4x3xf16>
  %2 = stablehlo.add %1, %zb : tensor<4x3xf16>
  %3 = stablehlo.clamp %least, %2, %most : (tensor<f16>, tensor<4x3xf16>, tensor<f16>) -> tensor<4x3xf16>
  %4 = stablehlo.convert %3 : (tensor<4x3xf16>) -> tensor<4x3xui8>
  return %4 : tensor<4x3xui8>
}

// Cut to other bounds than the type's.
func.func @"raise-quantize/stays_bounds"(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = stablehlo.constant dense<0.25> : tensor<4xf32>
  %least = stablehlo.constant dense<-127.0> : tensor<f32>
  %most = stablehlo.constant dense<127.0> : tensor<f32>
  %0 = stablehlo.divide %x, %s : tensor<4xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<4xf32>
  %3 = stablehlo.clamp %least, %1, %most : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xi8>
  return %4 : tensor<4xi8>
}

// A scale that is computed.
func.func @"raise-quantize/stays_dynamic"(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xi8> {
  %least = stablehlo.constant dense<-128.0> : tensor<f32>
  %most = stablehlo.constant dense<127.0> : tensor<f32>
  %0 = stablehlo.divide %x, %s : tensor<4xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<4xf32>
  %3 = stablehlo.clamp %least, %1, %most : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xi8>
  return %4 : tensor<4xi8>
}

// A scale that is not positive, and a zero point that is no integer.
func.func @"raise-quantize/stays_no_type"(%x: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi8>) {
  %s = stablehlo.constant dense<-0.25> : tensor<4xf32>
  %t = stablehlo.constant dense<0.25> : tensor<4xf32>
  %z = stablehlo.constant dense<0.5> : tensor<4xf32>
  %least = stablehlo.constant dense<-128.0> : tensor<f32>
  %most = stablehlo.constant dense<127.0> : tensor<f32>
  %0 = stablehlo.divide %x, %s : tensor<4xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<4xf32>
  %3 = stablehlo.clamp %least, %1, %most : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xi8>
  %5 = stablehlo.divide %x, %t : tensor<4xf32>
  %6 = stablehlo.round_nearest_even %5 : tensor<4xf32>
  %7 = stablehlo.add %6, %z : tensor<4xf32>
  %8 = stablehlo.clamp %least, %7, %most : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %9 = stablehlo.convert %8 : (tensor<4xf32>) -> tensor<4xi8>
  return %4, %9 : tensor<4xi8>, tensor<4xi8>
}

// Rounded within bounds that cut nothing off once the zero point is added.
func.func @"raise-quantize/wide_bounds"(%x: tensor<2x3xf32>) -> tensor<2x3xui8> {
  %s = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %z = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %a = stablehlo.constant dense<-512.0> : tensor<f32>
  %b = stablehlo.constant dense<511.0> : tensor<f32>
  %l = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.constant dense<255.0> : tensor<f32>
  %0 = stablehlo.divide %x, %s : tensor<2x3xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<2x3xf32>
  %2 = stablehlo.clamp %a, %1, %b : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = stablehlo.add %2, %z : tensor<2x3xf32>
  %4 = stablehlo.clamp %l, %3, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = stablehlo.convert %4 : (tensor<2x3xf32>) -> tensor<2x3xui8>
  return %5 : tensor<2x3xui8>
}

// With a zero point of 3 numbers below -2 were cut off.
func.func @"raise-quantize/stays_cut_off"(%x: tensor<2x3xf32>) -> tensor<2x3xui8> {
  %s = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %z = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %a = stablehlo.constant dense<-2.0> : tensor<f32>
  %b = stablehlo.constant dense<511.0> : tensor<f32>
  %l = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.constant dense<255.0> : tensor<f32>
  %0 = stablehlo.divide %x, %s : tensor<2x3xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<2x3xf32>
  %2 = stablehlo.clamp %a, %1, %b : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = stablehlo.add %2, %z : tensor<2x3xf32>
  %4 = stablehlo.clamp %l, %3, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = stablehlo.convert %4 : (tensor<2x3xf32>) -> tensor<2x3xui8>
  return %5 : tensor<2x3xui8>
}

func.func @"raise-dequantize/negative_zero_point"(%x: tensor<2x3xui8>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %z = stablehlo.constant dense<-3.0> : tensor<2x3xf32>
  %0 = stablehlo.convert %x : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %1 = stablehlo.add %0, %z : tensor<2x3xf32>
  %2 = stablehlo.multiply %1, %s : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

func.func @"raise-dequantize/zero_point"(%q: tensor<2x3xi8>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[0.1, 0.2, 0.3]> : tensor<3xf32>
  %z = stablehlo.constant dense<[3.0, 0.0, -7.0]> : tensor<3xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.convert %q : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = stablehlo.subtract %0, %zb : tensor<2x3xf32>
  %2 = stablehlo.multiply %1, %sb : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

func.func @"raise-dequantize/bias"() -> tensor<3xf32> {
  %q = stablehlo.constant dense<[1000, -70000, 5]> : tensor<3xi32>
  %s = stablehlo.constant dense<[0.1, 0.2, 0.3]> : tensor<3xf32>
  %0 = stablehlo.convert %q : (tensor<3xi32>) -> tensor<3xf32>
  %2 = stablehlo.multiply %0, %s : tensor<3xf32>
  return %2 : tensor<3xf32>
}

// bf16 does not hold what lies between i16 numbers and their zero point, nor
// f32 any i32.
func.func @"raise-dequantize/stays_wide"(%q: tensor<4xi16>, %p: tensor<4xi32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %s = stablehlo.constant dense<0.5> : tensor<4xbf16>
  %t = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.convert %q : (tensor<4xi16>) -> tensor<4xbf16>
  %1 = stablehlo.multiply %0, %s : tensor<4xbf16>
  %2 = stablehlo.convert %p : (tensor<4xi32>) -> tensor<4xf32>
  %3 = stablehlo.multiply %2, %t : tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

func.func @"raise-quantized-product/weights_of_another_storage"(%a: tensor<2x4x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3xf32> {
  %w = "stablehlo.constant"() {value = dense<[[1, -2, 3], [4, 5, -128], [7, 127, 9], [0, 1, 2]]> : tensor<4x3xi8>} : () -> tensor<4x3x!quant.uniform<i8:f32:1, {0.25, 0.5, 0.125}>>
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x4x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x4xf32>
  %1 = stablehlo.uniform_dequantize %w : (tensor<4x3x!quant.uniform<i8:f32:1, {0.25, 0.5, 0.125}>>) -> tensor<4x3xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

func.func @"raise-quantized-product/convolution"(%a: tensor<1x2x5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x2x4xf32> {
  %w = "stablehlo.constant"() {value = dense<[[[1, -2], [3, -4]], [[5, 6], [7, -8]]]> : tensor<2x2x2xi8>} : () -> tensor<2x2x2x!quant.uniform<i8:f32:0, {0.25, 0.5}>>
  %0 = stablehlo.uniform_dequantize %a : (tensor<1x2x5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x2x5xf32>
  %1 = stablehlo.uniform_dequantize %w : (tensor<2x2x2x!quant.uniform<i8:f32:0, {0.25, 0.5}>>) -> tensor<2x2x2xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5xf32>, tensor<2x2x2xf32>) -> tensor<1x2x4xf32>
  return %2 : tensor<1x2x4xf32>
}

func.func @"raise-quantized-product/any_storage"(%a: tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>, %c: tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %c : (tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

func.func @"raise-quantized-product/zero_point_on_the_right"(%a: tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>, %c: tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %c : (tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// Scales along what is summed up; several zero points of what a dot_general
// reads on the right; sums that 32 bits do not hold.
func.func @"raise-quantized-product/stays"(%a: tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>, %b: tensor<3x2x!quant.uniform<u8:f32:0, {0.25, 0.5, 1.0}>>, %c: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 0.5:2}>>, %d: tensor<2x3x!quant.uniform<u16:f32, 0.5>>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %b : (tensor<3x2x!quant.uniform<u8:f32:0, {0.25, 0.5, 1.0}>>) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.uniform_dequantize %c : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 0.5:2}>>) -> tensor<3x2xf32>
  %4 = stablehlo.dot_general %0, %3, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.uniform_dequantize %d : (tensor<2x3x!quant.uniform<u16:f32, 0.5>>) -> tensor<2x3xf32>
  %6 = stablehlo.dot_general %5, %5, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %2, %4, %6 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

func.func @"raise-quantized-bias/per_axis"(%sum: tensor<2x3x!quant.uniform<i32:f32:1, {0.5, 0.25, 0.125}>>) -> tensor<2x3xf32> {
  %b = "stablehlo.constant"() {value = dense<[10, -20, 30]> : tensor<3xi32>} : () -> tensor<3x!quant.uniform<i32:f32:0, {0.5, 0.25, 0.125}>>
  %0 = stablehlo.uniform_dequantize %sum : (tensor<2x3x!quant.uniform<i32:f32:1, {0.5, 0.25, 0.125}>>) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %b : (tensor<3x!quant.uniform<i32:f32:0, {0.5, 0.25, 0.125}>>) -> tensor<3xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.add %0, %2 : tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// Of numbers between those of the scale, and of one that was not quantised.
func.func @"raise-quantized-bias/stays"(%sum: tensor<2x3x!quant.uniform<i32:f32, 0.5>>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %b = "stablehlo.constant"() {value = dense<[10, -20, 31]> : tensor<3xi32>} : () -> tensor<3x!quant.uniform<i32:f32, 0.25>>
  %f = stablehlo.constant dense<1.5> : tensor<2x3xf32>
  %0 = stablehlo.uniform_dequantize %sum : (tensor<2x3x!quant.uniform<i32:f32, 0.5>>) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %b : (tensor<3x!quant.uniform<i32:f32, 0.25>>) -> tensor<3xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.add %0, %2 : tensor<2x3xf32>
  %4 = stablehlo.add %0, %f : tensor<2x3xf32>
  return %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>
}

func.func @"raise-integer-product/zero_point"(%a: tensor<2x4xui8>, %b: tensor<4x3xui8>) -> tensor<2x3xi32> {
  %z = stablehlo.constant dense<5> : tensor<2x4xi32>
  %0 = stablehlo.convert %a : (tensor<2x4xui8>) -> tensor<2x4xi32>
  %1 = stablehlo.subtract %0, %z : tensor<2x4xi32>
  %2 = stablehlo.convert %b : (tensor<4x3xui8>) -> tensor<4x3xi32>
  %4 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<2x4xi32>, tensor<4x3xi32>) -> tensor<2x3xi32>
  return %4 : tensor<2x3xi32>
}

func.func @"raise-integer-product/convolution"(%a: tensor<1x2x5xui8>) -> tensor<1x2x4xi32> {
  %w = stablehlo.constant dense<[[[1, -2], [3, -4]], [[5, 6], [7, -8]]]> : tensor<2x2x2xi8>
  %z = stablehlo.constant dense<5> : tensor<1x2x5xi32>
  %y = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<2xi32>) -> tensor<2x2x2xi32>
  %0 = stablehlo.convert %a : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %1 = stablehlo.subtract %0, %z : tensor<1x2x5xi32>
  %2 = stablehlo.convert %w : (tensor<2x2x2xi8>) -> tensor<2x2x2xi32>
  %3 = stablehlo.subtract %2, %yb : tensor<2x2x2xi32>
  %4 = stablehlo.convolution(%1, %3) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5xi32>, tensor<2x2x2xi32>) -> tensor<1x2x4xi32>
  return %4 : tensor<1x2x4xi32>
}

// A zero point for each row of the left operand.
func.func @"raise-integer-product/stays"(%a: tensor<2x4xi8>, %b: tensor<4x3xi8>) -> tensor<2x3xi32> {
  %z = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<2xi32>) -> tensor<2x4xi32>
  %0 = stablehlo.convert %a : (tensor<2x4xi8>) -> tensor<2x4xi32>
  %1 = stablehlo.subtract %0, %zb : tensor<2x4xi32>
  %2 = stablehlo.convert %b : (tensor<4x3xi8>) -> tensor<4x3xi32>
  %4 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<2x4xi32>, tensor<4x3xi32>) -> tensor<2x3xi32>
  return %4 : tensor<2x3xi32>
}

func.func @"raise-whole-product/weights"(%a: tensor<2x4xi8>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<[[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [7.0, 8.0, -128.0], [0.0, 1.0, 127.0]]> : tensor<4x3xf32>
  %0 = stablehlo.convert %a : (tensor<2x4xi8>) -> tensor<2x4xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

func.func @"raise-whole-product/convolution"(%a: tensor<1x2x5xi8>, %w: tensor<2x2x2xi8>) -> tensor<1x2x4xf32> {
  %0 = stablehlo.convert %a : (tensor<1x2x5xi8>) -> tensor<1x2x5xf32>
  %1 = stablehlo.convert %w : (tensor<2x2x2xi8>) -> tensor<2x2x2xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5xf32>, tensor<2x2x2xf32>) -> tensor<1x2x4xf32>
  return %2 : tensor<1x2x4xf32>
}

// A weight that is no whole number, and one that no byte has.
func.func @"raise-whole-product/stays"(%a: tensor<2x2xi8>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %v = stablehlo.constant dense<[[1.0, -2.0], [4.0, 0.5]]> : tensor<2x2xf32>
  %w = stablehlo.constant dense<[[1.0, -2.0], [4.0, 128.0]]> : tensor<2x2xf32>
  %0 = stablehlo.convert %a : (tensor<2x2xi8>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}

func.func @"raise-qlinear/bias"(%a: tensor<2x4xi8>) -> tensor<2x3xi8> {
  %w = "stablehlo.constant"() {value = dense<[[1, -2, 3], [4, 5, -6], [7, 8, 9], [0, 1, 2]]> : tensor<4x3xi8>} : () -> tensor<4x3x!quant.uniform<i8:f32, 1.0>>
  %b = stablehlo.constant dense<[10, -20, 30]> : tensor<3xi32>
  %sa = stablehlo.constant dense<0.5> : tensor<3xf32>
  %sb = stablehlo.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %sy = stablehlo.constant dense<2.0> : tensor<3xf32>
  %least = stablehlo.constant dense<-128.0> : tensor<f32>
  %most = stablehlo.constant dense<127.0> : tensor<f32>
  %z = stablehlo.constant dense<4.0> : tensor<2x3xf32>
  %q = stablehlo.bitcast_convert %a : (tensor<2x4xi8>) -> tensor<2x4x!quant.uniform<i8:f32, 1.0:2>>
  %p = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] {sinter.source.product_form = "integer"} : (tensor<2x4x!quant.uniform<i8:f32, 1.0:2>>, tensor<4x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x!quant.uniform<i32:f32, 1.0>>
  %0 = stablehlo.bitcast_convert %p : (tensor<2x3x!quant.uniform<i32:f32, 1.0>>) -> tensor<2x3xi32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
  %1 = stablehlo.add %0, %bb : tensor<2x3xi32>
  %2 = stablehlo.multiply %sa, %sb : tensor<3xf32>
  %3 = stablehlo.divide %2, %sy : tensor<3xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %5 = stablehlo.convert %1 : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<2x3xf32>
  %7 = stablehlo.round_nearest_even %6 : tensor<2x3xf32>
  %8 = stablehlo.add %7, %z : tensor<2x3xf32>
  %9 = stablehlo.clamp %least, %8, %most : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %10 = stablehlo.convert %9 : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %10 : tensor<2x3xi8>
}

func.func @"move-dequantize/transpose_per_axis"(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>>) -> tensor<3x2xf32> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>>) -> tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

func.func @"move-dequantize/pad"(%q: tensor<2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<5xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<2xf32>
  %1 = stablehlo.pad %0, %z, low = [1], high = [2], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

func.func @"move-dequantize/relu_of_sums"(%q: tensor<2x!quant.uniform<i32:f32, 0.5>>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i32:f32, 0.5>>) -> tensor<2xf32>
  %1 = nn.relu %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A number that no element stands for, other scales, a copy of each element,
// and what is cheaper in fewer bits only where it is quantised again.
func.func @"move-dequantize/stays"(%q: tensor<2x!quant.uniform<i8:f32, 0.1:3>>, %p: tensor<2x!quant.uniform<i8:f32, 0.2:3>>) -> (tensor<5xf32>, tensor<4xf32>, tensor<7x2xf32>, tensor<2xf32>) {
  %z = stablehlo.constant dense<0.05> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<2xf32>
  %1 = stablehlo.uniform_dequantize %p : (tensor<2x!quant.uniform<i8:f32, 0.2:3>>) -> tensor<2xf32>
  %2 = stablehlo.pad %0, %z, low = [1], high = [2], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  %3 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %4 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xf32>) -> tensor<7x2xf32>
  %5 = nn.relu %0 : tensor<2xf32>
  return %2, %3, %4, %5 : tensor<5xf32>, tensor<4xf32>, tensor<7x2xf32>, tensor<2xf32>
}

func.func @"move-storage/concatenate"(%q: tensor<2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<4xi8> {
  %c = stablehlo.constant dense<[5, 6]> : tensor<2xi8>
  %0 = stablehlo.bitcast_convert %q : (tensor<2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<2xi8>
  %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<2xi8>, tensor<2xi8>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

func.func @"move-storage/clip"(%q: tensor<2x3x!quant.uniform<u8:f32, 0.1:3>>) -> tensor<2x3xui8> {
  %low = stablehlo.constant dense<3> : tensor<ui8>
  %high = stablehlo.constant dense<200> : tensor<ui8>
  %0 = stablehlo.bitcast_convert %q : (tensor<2x3x!quant.uniform<u8:f32, 0.1:3>>) -> tensor<2x3xui8>
  %1 = stablehlo.clamp %low, %0, %high : (tensor<ui8>, tensor<2x3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  return %1 : tensor<2x3xui8>
}

// Elements of two scales, of a scale a column, and what looks at zero.
func.func @"move-storage/stays"(%p: tensor<2x!quant.uniform<i8:f32, 0.1:3>>, %q: tensor<2x!quant.uniform<i8:f32, 0.2:3>>, %r: tensor<4x2x!quant.uniform<i8:f32:1, {0.1, 0.2}>>) -> (tensor<2xi8>, tensor<4x2xi8>, tensor<2xi8>) {
  %c = stablehlo.constant dense<7> : tensor<4x2xi8>
  %0 = stablehlo.bitcast_convert %p : (tensor<2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<2xi8>
  %1 = stablehlo.bitcast_convert %q : (tensor<2x!quant.uniform<i8:f32, 0.2:3>>) -> tensor<2xi8>
  %2 = stablehlo.bitcast_convert %r : (tensor<4x2x!quant.uniform<i8:f32:1, {0.1, 0.2}>>) -> tensor<4x2xi8>
  %3 = stablehlo.maximum %0, %1 : tensor<2xi8>
  %4 = stablehlo.minimum %2, %c : tensor<4x2xi8>
  %5 = nn.relu %0 : tensor<2xi8>
  return %3, %4, %5 : tensor<2xi8>, tensor<4x2xi8>, tensor<2xi8>
}

func.func @"requantize/rescale"(%q: tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6x!quant.uniform<u8:f32, 0.3>> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<6xf32>) -> tensor<6x!quant.uniform<u8:f32, 0.3>>
  return %1 : tensor<6x!quant.uniform<u8:f32, 0.3>>
}

func.func @"requantize/same"(%q: tensor<6x!quant.uniform<i8:f32, 0.3:3>>) -> tensor<6x!quant.uniform<i8:f32, 0.3:3>> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.3:3>>) -> tensor<6xf32>
  %1 = nn.quantize %0 : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.3:3>>
  return %1 : tensor<6x!quant.uniform<i8:f32, 0.3:3>>
}

func.func @"quantize-parts/with_numbers"(%q: tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>, %x: tensor<2x4xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 0.3>> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3xf32>
  %1 = stablehlo.concatenate %0, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2x7xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 0.3>>
  return %2 : tensor<2x7x!quant.uniform<u8:f32, 0.3>>
}

func.func @"raise-quantized-operation/function"(%q: tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6x!quant.uniform<i8:f32, 0.3>> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xf32>
  %1 = nn.gelu %0 {approximate = false} : tensor<6xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.3>>
  return %2 : tensor<6x!quant.uniform<i8:f32, 0.3>>
}

func.func @"raise-quantized-operation/with_a_constant"(%q: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %p: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.3>>, tensor<6x!quant.uniform<i8:f32, 0.3>>) {
  %c = stablehlo.constant dense<2.5> : tensor<6xf32>
  %0 = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xf32>
  %1 = stablehlo.multiply %0, %c : tensor<6xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.3>>
  %3 = stablehlo.uniform_dequantize %p : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6xf32>
  %4 = stablehlo.add %0, %3 : tensor<6xf32>
  %5 = stablehlo.uniform_quantize %4 : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.3>>
  return %2, %5 : tensor<6x!quant.uniform<i8:f32, 0.3>>, tensor<6x!quant.uniform<i8:f32, 0.3>>
}

// A constant that no element stands for, other storage, another reader.
func.func @"raise-quantized-operation/stays"(%q: tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.5>>, tensor<6x!quant.uniform<u8:f32, 0.5>>, tensor<6x!quant.uniform<i8:f32, 0.5>>, tensor<6xf32>) {
  %c = stablehlo.constant dense<2.6> : tensor<6xf32>
  %0 = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xf32>
  %1 = stablehlo.multiply %0, %c : tensor<6xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5>>
  %3 = nn.relu %0 : tensor<6xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<6xf32>) -> tensor<6x!quant.uniform<u8:f32, 0.5>>
  %5 = nn.silu %0 {alpha = 1.0} : tensor<6xf32>
  %6 = stablehlo.uniform_quantize %5 : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5>>
  return %2, %4, %6, %5 : tensor<6x!quant.uniform<i8:f32, 0.5>>, tensor<6x!quant.uniform<u8:f32, 0.5>>, tensor<6x!quant.uniform<i8:f32, 0.5>>, tensor<6xf32>
}

func.func @"cancel-bitcasts/there_and_back"(%q: tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xi8>
  %1 = stablehlo.bitcast_convert %0 : (tensor<6xi8>) -> tensor<6x!quant.uniform<i8:f32, 0.5:3>>
  return %1 : tensor<6x!quant.uniform<i8:f32, 0.5:3>>
}

func.func @"cancel-bitcasts/stays"(%q: tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6x!quant.uniform<i8:f32, 0.25:3>> {
  %0 = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xi8>
  %1 = stablehlo.bitcast_convert %0 : (tensor<6xi8>) -> tensor<6x!quant.uniform<i8:f32, 0.25:3>>
  return %1 : tensor<6x!quant.uniform<i8:f32, 0.25:3>>
}
