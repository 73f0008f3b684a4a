// raise-quantize/per_tensor
module {
  func.func @main(%arg0: tensor<4x5xf32>) -> tensor<4x5xi8> {
    %0 = nn.quantize %arg0 : (tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 2.500000e-01:3>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<4x5x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<4x5xi8>
    return %1 : tensor<4x5xi8>
  }
}

// -----
// raise-quantize/per_axis_half
module {
  func.func @main(%arg0: tensor<4x3xf16>) -> tensor<4x3xui8> {
    %0 = nn.quantize %arg0 : (tensor<4x3xf16>) -> tensor<4x3x!quant.uniform<u8:f16:1, {2.500000e-01:3,0.0999755859375:128,0.01000213623046875:5}>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<4x3x!quant.uniform<u8:f16:1, {2.500000e-01:3,0.0999755859375:128,0.01000213623046875:5}>>) -> tensor<4x3xui8>
    return %1 : tensor<4x3xui8>
  }
}

// -----
// raise-quantize/wide_bounds
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xui8> {
    %0 = nn.quantize %arg0 : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3xui8>
    return %1 : tensor<2x3xui8>
  }
}

// -----
// raise-dequantize/negative_zero_point
module {
  func.func @main(%arg0: tensor<2x3xui8>) -> tensor<2x3xf32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xui8>) -> tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// raise-dequantize/zero_point
module {
  func.func @main(%arg0: tensor<2x3xi8>) -> tensor<2x3xf32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xi8>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.10000000149011612:3,0.20000000298023224,0.30000001192092896:-7}>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<2x3x!quant.uniform<i8:f32:1, {0.10000000149011612:3,0.20000000298023224,0.30000001192092896:-7}>>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// raise-dequantize/bias
module {
  func.func @main() -> tensor<3xf32> {
    %0 = stablehlo.constant() <{value = dense<[1000, -70000, 5]> : tensor<3xi32>}> : () -> tensor<3x!quant.uniform<i32:f32:0, {0.10000000149011612,0.20000000298023224,0.30000001192092896}>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!quant.uniform<i32:f32:0, {0.10000000149011612,0.20000000298023224,0.30000001192092896}>>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}

// -----
// raise-quantized-product/weights_of_another_storage
module {
  func.func @main(%arg0: tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant() <{value = dense<[[1, -2, 3], [4, 5, -128], [7, 127, 9], [0, 1, 2]]> : tensor<4x3xi8>}> : () -> tensor<4x3x!quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01,1.250000e-01}>>
    %1 = stablehlo.uniform_quantize %arg0 : (tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:-125>>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0]  : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:-125>>, tensor<4x3x!quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01,1.250000e-01}>>) -> tensor<2x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,6.250000e-02}>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<2x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,6.250000e-02}>>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// raise-quantized-product/convolution
module {
  func.func @main(%arg0: tensor<1x2x5x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x2x4xf32> {
    %0 = stablehlo.constant() <{value = dense<[[[1, -2], [3, -4]], [[5, 6], [7, -8]]]> : tensor<2x2x2xi8>}> : () -> tensor<2x2x2x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
    %1 = stablehlo.convolution(%arg0, %0) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x2x2x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>) -> tensor<1x2x4x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
    %2 = stablehlo.uniform_dequantize %1 : (tensor<1x2x4x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>) -> tensor<1x2x4xf32>
    return %2 : tensor<1x2x4xf32>
  }
}

// -----
// raise-quantized-product/any_storage
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>, %arg1: tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x2xf32> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-125>>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0]  : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-125>>, tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x2x!quant.uniform<i32:f32, 2.500000e-01>>
    %2 = stablehlo.uniform_dequantize %1 : (tensor<2x2x!quant.uniform<i32:f32, 2.500000e-01>>) -> tensor<2x2xf32>
    return %2 : tensor<2x2xf32>
  }
}

// -----
// raise-quantized-product/zero_point_on_the_right
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>, %arg1: tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:1>>) -> tensor<2x2xf32> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i16<0:255>:f32, 5.000000e-01:3>>
    %1 = stablehlo.uniform_quantize %arg1 : (tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:1>>) -> tensor<3x2x!quant.uniform<i16<-129:126>:f32, 5.000000e-01>>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]  : (tensor<2x3x!quant.uniform<i16<0:255>:f32, 5.000000e-01:3>>, tensor<3x2x!quant.uniform<i16<-129:126>:f32, 5.000000e-01>>) -> tensor<2x2x!quant.uniform<i32:f32, 2.500000e-01>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<2x2x!quant.uniform<i32:f32, 2.500000e-01>>) -> tensor<2x2xf32>
    return %3 : tensor<2x2xf32>
  }
}

// -----
// raise-quantized-bias/per_axis
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<i32:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01}>>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant() <{value = dense<[10, -20, 30]> : tensor<3xi32>}> : () -> tensor<3x!quant.uniform<i32:f32:0, {5.000000e-01,2.500000e-01,1.250000e-01}>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3x!quant.uniform<i32:f32:0, {5.000000e-01,2.500000e-01,1.250000e-01}>>) -> tensor<2x3x!quant.uniform<i32:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01}>>
    %2 = stablehlo.add %arg0, %1 : tensor<2x3x!quant.uniform<i32:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01}>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<2x3x!quant.uniform<i32:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01}>>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// raise-integer-product/zero_point
module {
  func.func @main(%arg0: tensor<2x4xui8>, %arg1: tensor<4x3xui8>) -> tensor<2x3xi32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x4xui8>) -> tensor<2x4x!quant.uniform<u8:f32, 1.000000e+00:5>>
    %1 = stablehlo.bitcast_convert %arg1 : (tensor<4x3xui8>) -> tensor<4x3x!quant.uniform<u8:f32, 1.000000e+00>>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]  {sinter.source.product_form = "integer"} : (tensor<2x4x!quant.uniform<u8:f32, 1.000000e+00:5>>, tensor<4x3x!quant.uniform<u8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i32:f32, 1.000000e+00>>
    %3 = stablehlo.bitcast_convert %2 : (tensor<2x3x!quant.uniform<i32:f32, 1.000000e+00>>) -> tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// raise-integer-product/convolution
module {
  func.func @main(%arg0: tensor<1x2x5xui8>) -> tensor<1x2x4xi32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<1x2x5xui8>) -> tensor<1x2x5x!quant.uniform<u8:f32, 1.000000e+00:5>>
    %1 = stablehlo.constant() <{value = dense<[[[129, 126], [131, 124]], [[133, 134], [135, 120]]]> : tensor<2x2x2xui8>}> {sinter.source.stored_as = !quant.uniform<i8:f32:0, {1.000000e+00:1,1.000000e+00:-2}>} : () -> tensor<2x2x2x!quant.uniform<u8:f32:0, {1.000000e+00:129,1.000000e+00:126}>>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sinter.source.product_form = "integer"} : (tensor<1x2x5x!quant.uniform<u8:f32, 1.000000e+00:5>>, tensor<2x2x2x!quant.uniform<u8:f32:0, {1.000000e+00:129,1.000000e+00:126}>>) -> tensor<1x2x4x!quant.uniform<i32:f32:1, {1.000000e+00,1.000000e+00}>>
    %3 = stablehlo.bitcast_convert %2 : (tensor<1x2x4x!quant.uniform<i32:f32:1, {1.000000e+00,1.000000e+00}>>) -> tensor<1x2x4xi32>
    return %3 : tensor<1x2x4xi32>
  }
}

// -----
// raise-whole-product/weights
module {
  func.func @main(%arg0: tensor<2x4xi8>) -> tensor<2x3xf32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x4xi8>) -> tensor<2x4x!quant.uniform<i8:f32, 1.000000e+00>>
    %1 = stablehlo.constant() <{value = dense<[[1, -2, 3], [4, 5, -6], [7, 8, -128], [0, 1, 127]]> : tensor<4x3xi8>}> : () -> tensor<4x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]  : (tensor<2x4x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<4x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i32:f32, 1.000000e+00>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<2x3x!quant.uniform<i32:f32, 1.000000e+00>>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// raise-whole-product/convolution
module {
  func.func @main(%arg0: tensor<1x2x5xi8>, %arg1: tensor<2x2x2xi8>) -> tensor<1x2x4xf32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<1x2x5xi8>) -> tensor<1x2x5x!quant.uniform<i8:f32, 1.000000e+00>>
    %1 = stablehlo.bitcast_convert %arg1 : (tensor<2x2x2xi8>) -> tensor<2x2x2x!quant.uniform<i8:f32, 1.000000e+00>>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x2x2x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<1x2x4x!quant.uniform<i32:f32, 1.000000e+00>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<1x2x4x!quant.uniform<i32:f32, 1.000000e+00>>) -> tensor<1x2x4xf32>
    return %3 : tensor<1x2x4xf32>
  }
}

// -----
// raise-qlinear/bias
module {
  func.func @main(%arg0: tensor<2x4xi8>) -> tensor<2x3xi8> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x4xi8>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:2>>
    %1 = stablehlo.constant() <{value = dense<[[1, -2, 3], [4, 5, -6], [7, 8, 9], [0, 1, 2]]> : tensor<4x3xi8>}> : () -> tensor<4x3x!quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01,1.000000e+00}>>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]  {sinter.source.product_form = "qlinear"} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:2>>, tensor<4x3x!quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01,1.000000e+00}>>) -> tensor<2x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>
    %3 = stablehlo.constant() <{value = dense<[10, -20, 30]> : tensor<3xi32>}> : () -> tensor<3x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01,5.000000e-01}>>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<3x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01,5.000000e-01}>>) -> tensor<2x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>
    %5 = stablehlo.add %2, %4 : tensor<2x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>
    %6 = nn.quantize %5 : (tensor<2x3x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01,5.000000e-01}>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00:4>>
    %7 = stablehlo.bitcast_convert %6 : (tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00:4>>) -> tensor<2x3xi8>
    return %7 : tensor<2x3xi8>
  }
}

// -----
// move-dequantize/transpose_per_axis
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01}>>) -> tensor<3x2xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01,1.250000e-01}>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<3x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01,1.250000e-01}>>) -> tensor<3x2xf32>
    return %1 : tensor<3x2xf32>
  }
}

// -----
// move-dequantize/pad
module {
  func.func @main(%arg0: tensor<2x!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<5xf32> {
    %0 = stablehlo.constant() <{value = dense<3> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 1.000000e-01:3>>
    %1 = stablehlo.pad %arg0, %0, low = [1], high = [2], interior = [0] : (tensor<2x!quant.uniform<i8:f32, 1.000000e-01:3>>, tensor<!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<5x!quant.uniform<i8:f32, 1.000000e-01:3>>
    %2 = stablehlo.uniform_dequantize %1 : (tensor<5x!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<5xf32>
    return %2 : tensor<5xf32>
  }
}

// -----
// move-dequantize/relu_of_sums
module {
  func.func @main(%arg0: tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>) -> tensor<2xf32> {
    %0 = nn.relu %arg0 : tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}

// -----
// move-storage/concatenate
module {
  func.func @main(%arg0: tensor<2x!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<4xi8> {
    %0 = stablehlo.constant() <{value = dense<[5, 6]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.000000e-01:3>>
    %1 = stablehlo.concatenate %arg0, %0,  dim = 0 : (tensor<2x!quant.uniform<i8:f32, 1.000000e-01:3>>, tensor<2x!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e-01:3>>
    %2 = stablehlo.bitcast_convert %1 : (tensor<4x!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<4xi8>
    return %2 : tensor<4xi8>
  }
}

// -----
// move-storage/clip
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<u8:f32, 1.000000e-01:3>>) -> tensor<2x3xui8> {
    %0 = stablehlo.constant() <{value = dense<3> : tensor<ui8>}> : () -> tensor<!quant.uniform<u8:f32, 1.000000e-01:3>>
    %1 = stablehlo.constant() <{value = dense<200> : tensor<ui8>}> : () -> tensor<!quant.uniform<u8:f32, 1.000000e-01:3>>
    %2 = stablehlo.clamp %0, %arg0, %1 : (tensor<!quant.uniform<u8:f32, 1.000000e-01:3>>, tensor<2x3x!quant.uniform<u8:f32, 1.000000e-01:3>>, tensor<!quant.uniform<u8:f32, 1.000000e-01:3>>) -> tensor<2x3x!quant.uniform<u8:f32, 1.000000e-01:3>>
    %3 = stablehlo.bitcast_convert %2 : (tensor<2x3x!quant.uniform<u8:f32, 1.000000e-01:3>>) -> tensor<2x3xui8>
    return %3 : tensor<2x3xui8>
  }
}

// -----
// requantize/rescale
module {
  func.func @main(%arg0: tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<6x!quant.uniform<u8:f32, 3.000000e-01>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<6x!quant.uniform<u8:f32, 3.000000e-01>>
    return %0 : tensor<6x!quant.uniform<u8:f32, 3.000000e-01>>
  }
}

// -----
// requantize/same
module {
  func.func @main(%arg0: tensor<6x!quant.uniform<i8:f32, 3.000000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 3.000000e-01:3>> {
    return %arg0 : tensor<6x!quant.uniform<i8:f32, 3.000000e-01:3>>
  }
}

// -----
// quantize-parts/with_numbers
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>, %arg1: tensor<2x4xf32>) -> tensor<2x7x!quant.uniform<u8:f32, 3.000000e-01>> {
    %0 = stablehlo.uniform_dequantize %arg0 : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x3xf32>
    %1 = stablehlo.uniform_quantize %0 : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 3.000000e-01>>
    %2 = stablehlo.uniform_quantize %arg1 : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<u8:f32, 3.000000e-01>>
    %3 = stablehlo.concatenate %1, %2,  dim = 1 : (tensor<2x3x!quant.uniform<u8:f32, 3.000000e-01>>, tensor<2x4x!quant.uniform<u8:f32, 3.000000e-01>>) -> tensor<2x7x!quant.uniform<u8:f32, 3.000000e-01>>
    return %3 : tensor<2x7x!quant.uniform<u8:f32, 3.000000e-01>>
  }
}

// -----
// raise-quantized-operation/function
module {
  func.func @main(%arg0: tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 3.000000e-01>> {
    %0 = nn.gelu %arg0 {approximate = false} : (tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>
    return %0 : tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>
  }
}

// -----
// raise-quantized-operation/with_a_constant
module {
  func.func @main(%arg0: tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>, %arg1: tensor<6x!quant.uniform<i8:f32, 2.500000e-01:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>, tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>) {
    %0 = stablehlo.constant() <{value = dense<8> : tensor<6xi8>}> : () -> tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %1 = stablehlo.multiply %arg0, %0 : (tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>
    %2 = stablehlo.add %arg0, %arg1 : (tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<6x!quant.uniform<i8:f32, 2.500000e-01:-3>>) -> tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>
    return %1, %2 : tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>, tensor<6x!quant.uniform<i8:f32, 3.000000e-01>>
  }
}

// -----
// cancel-bitcasts/there_and_back
module {
  func.func @main(%arg0: tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>> {
    return %arg0 : tensor<6x!quant.uniform<i8:f32, 5.000000e-01:3>>
  }
}

// -----
