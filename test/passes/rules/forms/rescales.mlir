// drop-rescale/same_type
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    return %arg0 : tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// drop-rescale/rounded_first
module {
  func.func @main(%arg0: tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>) -> tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>> {
    return %arg0 : tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>
  }
}

// -----
// absorb-rescale/in_front_of_numbers
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<6x4xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<6x4x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<6x4x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
}

// -----
// hoist-rescale/two
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
    return %0 : tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
  }
}

// -----
// hoist-rescale/there_and_back
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<24x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.reshape %arg0 : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<24x!quant.uniform<i8:f32, 5.000000e-01>>
    return %0 : tensor<24x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// hoist-rescale/repeated
module {
  func.func @main(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x!quant.uniform<i8:f32, 2.500000e-01:3>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %1 : tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// hoist-rescale/padded
module {
  func.func @main(%arg0: tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>) -> tensor<7x3x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>) -> tensor<4x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<4x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<5x4x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %2 = stablehlo.slice %1 [0:1, 0:4, 0:3] : (tensor<5x4x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x4x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %3 = stablehlo.reshape %2 : (tensor<1x4x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %4 = stablehlo.concatenate %3, %3,  dim = 0 : (tensor<4x3x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %5 = stablehlo.slice %4 [0:7, 0:3] : (tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<7x3x!quant.uniform<i8:f32, 5.000000e-01>>
    return %5 : tensor<7x3x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// hoist-rescale/constant
module {
  func.func @main(%arg0: tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = stablehlo.constant() <{value = dense<[-128, -11, 3, 13, 127, 127]> : tensor<6xi8>}> : () -> tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>>
    %1 = stablehlo.add %arg0, %0 : tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %1 : tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// sink-rescale/max_pool
module {
  func.func @main(%arg0: tensor<1x2x6x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x2x3x3x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = nn.max_pool %arg0, window = [3, 3] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_high = array<i64: 0, 0>, padding_low = array<i64: 1, 1>} : (tensor<1x2x6x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x2x3x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.uniform_quantize %0 : (tensor<1x2x3x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x2x3x3x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %1 : tensor<1x2x3x3x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// sink-rescale/several_at_once
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<3x2x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = nn.relu %arg0 : tensor<4x6x!quant.uniform<u8:f32, 5.000000e-01:128>>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<6x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
    %2 = stablehlo.slice %1 [0:3, 1:3] : (tensor<6x4x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<3x2x!quant.uniform<u8:f32, 5.000000e-01:128>>
    %3 = nn.quantize %2 : (tensor<3x2x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<3x2x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %3 : tensor<3x2x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// sink-rescale/joined
module {
  func.func @main(%arg0: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>, %arg1: tensor<2x5x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x8x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = stablehlo.concatenate %arg0, %arg1,  dim = 1 : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2x5x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.uniform_quantize %0 : (tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x8x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %1 : tensor<2x8x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// sink-rescale/beside_constants
module {
  func.func @main(%arg0: tensor<2x9x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = stablehlo.constant() <{value = dense<3> : tensor<1x1xi8>}> : () -> tensor<1x1x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x1x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x1x!quant.uniform<i8:f32, 5.000000e-01>>
    %2 = stablehlo.concatenate %arg0, %1,  dim = 1 : (tensor<2x9x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2x1x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x10x!quant.uniform<i8:f32, 5.000000e-01>>
    %3 = stablehlo.constant() <{value = dense<2> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %4 = stablehlo.pad %2, %3, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<2x10x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x12x!quant.uniform<i8:f32, 5.000000e-01>>
    %5 = stablehlo.slice %4 [0:1, 0:12:2] : (tensor<2x12x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x6x!quant.uniform<i8:f32, 5.000000e-01>>
    %6 = stablehlo.uniform_quantize %5 : (tensor<1x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x6x!quant.uniform<i8:f32, 2.500000e-01:3>>
    %7 = stablehlo.reshape %6 : (tensor<1x6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %7 : tensor<6x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// sink-rescale/per_axis
module {
  func.func @main(%arg0: tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>) -> tensor<3x4x!quant.uniform<i16:f32:0, {2.500000e-01,5.000000e-01:1,3.000000e-01}>> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>) -> tensor<3x4x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>
    %1 = stablehlo.uniform_quantize %0 : (tensor<3x4x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:3,1.250000e-01:-5}>>) -> tensor<3x4x!quant.uniform<i16:f32:0, {2.500000e-01,5.000000e-01:1,3.000000e-01}>>
    return %1 : tensor<3x4x!quant.uniform<i16:f32:0, {2.500000e-01,5.000000e-01:1,3.000000e-01}>>
  }
}

// -----
// sink-rescale/clamp
module {
  func.func @main(%arg0: tensor<8x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<3x!quant.uniform<i8:f32, 2.500000e-01:3>> {
    %0 = stablehlo.constant() <{value = dense<-128> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.constant() <{value = dense<12> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %2 = stablehlo.clamp %0, %arg0, %1 : (tensor<!quant.uniform<i8:f32, 5.000000e-01>>, tensor<8x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<8x!quant.uniform<i8:f32, 5.000000e-01>>
    %3 = stablehlo.slice %2 [2:5] : (tensor<8x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>
    %4 = stablehlo.uniform_quantize %3 : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<3x!quant.uniform<i8:f32, 2.500000e-01:3>>
    return %4 : tensor<3x!quant.uniform<i8:f32, 2.500000e-01:3>>
  }
}

// -----
// sink-rescale/window
module {
  func.func @main(%arg0: tensor<1x4x4x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x2x2x!quant.uniform<i16:f32, 2.500000e-01:-7>> {
    %0 = stablehlo.constant() <{value = dense<-128> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%arg1: tensor<!quant.uniform<i8:f32, 5.000000e-01>>, %arg2: tensor<!quant.uniform<i8:f32, 5.000000e-01>>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<!quant.uniform<i8:f32, 5.000000e-01>>
      stablehlo.return %3 : tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    }) : (tensor<1x4x4x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x2x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %2 = stablehlo.uniform_quantize %1 : (tensor<1x2x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x2x2x!quant.uniform<i16:f32, 2.500000e-01:-7>>
    return %2 : tensor<1x2x2x!quant.uniform<i16:f32, 2.500000e-01:-7>>
  }
}

// -----
// requantize-result/add
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, %arg1: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<6x4x!quant.uniform<i8:f32, 3.000000e-01:2>> {
    %0 = stablehlo.add %arg0, %arg1 : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 3.000000e-01:2>>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x!quant.uniform<i8:f32, 3.000000e-01:2>>) -> tensor<6x4x!quant.uniform<i8:f32, 3.000000e-01:2>>
    return %1 : tensor<6x4x!quant.uniform<i8:f32, 3.000000e-01:2>>
  }
}

// -----
// requantize-result/lrn
module {
  func.func @main(%arg0: tensor<1x4x3x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x4x3x3x!quant.uniform<i8:f32, 4.000000e-01:1>> {
    %0 = nn.lrn %arg0 {alpha = 1.000000e-02 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 3 : i64} : (tensor<1x4x3x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x4x3x3x!quant.uniform<i8:f32, 4.000000e-01:1>>
    return %0 : tensor<1x4x3x3x!quant.uniform<i8:f32, 4.000000e-01:1>>
  }
}

// -----
// requantize-result/quantize
module {
  func.func @main(%arg0: tensor<4x6xf32>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x6xf32>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
    return %0 : tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
  }
}

// -----
// requantize-result/two
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i16:f32, 2.500000e-01:-7>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x6x!quant.uniform<i16:f32, 2.500000e-01:-7>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
    return %0 : tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
  }
}

// -----
// requantize-result/not_negative
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 3.000000e-01:2>> {
    %0 = stablehlo.logistic %arg0 : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 3.000000e-01:2>>
    return %0 : tensor<4x6x!quant.uniform<i8:f32, 3.000000e-01:2>>
  }
}

// -----
// requantize-operand/add
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>, %arg1: tensor<24x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<24x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.reshape %arg0 : (tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<24x!quant.uniform<i8:f32, 2.500000e-01:3>>
    %1 = stablehlo.add %0, %arg1 : (tensor<24x!quant.uniform<i8:f32, 2.500000e-01:3>>, tensor<24x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<24x!quant.uniform<i8:f32, 5.000000e-01>>
    return %1 : tensor<24x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-operand/lrn
module {
  func.func @main(%arg0: tensor<1x4x3x3x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<1x4x3x3x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = nn.lrn %arg0 {alpha = 1.000000e-03 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 3 : i64} : (tensor<1x4x3x3x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<1x4x3x3x!quant.uniform<i8:f32, 5.000000e-01>>
    return %0 : tensor<1x4x3x3x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-operand/weighted
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]> : tensor<6x2xi8>}> : () -> tensor<6x2x!quant.uniform<i8:f32, 1.562500e-02>>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0]  : (tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>, tensor<6x2x!quant.uniform<i8:f32, 1.562500e-02>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
    return %1 : tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-operand/two_readers
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>, %arg1: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) {
    %0 = stablehlo.add %arg0, %arg1 : (tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = nn.relu %arg0 : (tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
    return %0, %1 : tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-operand/sums
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [-7, 8], [9, -10], [11, 12]]> : tensor<6x2xi8>}> : () -> tensor<6x2x!quant.uniform<i8:f32:1, {1.562500e-02,7.812500e-03}>>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0]  : (tensor<4x6x!quant.uniform<i8:f32, 2.500000e-01:3>>, tensor<6x2x!quant.uniform<i8:f32:1, {1.562500e-02,7.812500e-03}>>) -> tensor<4x2x!quant.uniform<i32:f32:1, {3.906250e-03,0.001953125}>>
    %2 = stablehlo.constant() <{value = dense<[200, -154]> : tensor<2xi32>}> : () -> tensor<2x!quant.uniform<i32:f32:0, {3.906250e-03,0.001953125}>>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2x!quant.uniform<i32:f32:0, {3.906250e-03,0.001953125}>>) -> tensor<4x2x!quant.uniform<i32:f32:1, {3.906250e-03,0.001953125}>>
    %4 = stablehlo.add %1, %3 : tensor<4x2x!quant.uniform<i32:f32:1, {3.906250e-03,0.001953125}>>
    %5 = stablehlo.uniform_quantize %4 : (tensor<4x2x!quant.uniform<i32:f32:1, {3.906250e-03,0.001953125}>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
    return %5 : tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-clamped/add
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, %arg1: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 2.000000e+00>> {
    %0 = stablehlo.add %arg0, %arg1 : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 2.000000e+00>>
    %1 = stablehlo.constant() <{value = dense<-32> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 2.000000e+00>>
    %2 = stablehlo.constant() <{value = dense<32> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 2.000000e+00>>
    %3 = stablehlo.clamp %1, %0, %2 : (tensor<!quant.uniform<i8:f32, 2.000000e+00>>, tensor<4x6x!quant.uniform<i8:f32, 2.000000e+00>>, tensor<!quant.uniform<i8:f32, 2.000000e+00>>) -> tensor<4x6x!quant.uniform<i8:f32, 2.000000e+00>>
    return %3 : tensor<4x6x!quant.uniform<i8:f32, 2.000000e+00>>
  }
}

// -----
// requantize-clamped/sums
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [-7, 8], [9, -10], [11, 12]]> : tensor<6x2xi8>}> : () -> tensor<6x2x!quant.uniform<i8:f32, 1.562500e-02>>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0]  : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<6x2x!quant.uniform<i8:f32, 1.562500e-02>>) -> tensor<4x2x!quant.uniform<i32:f32, 7.812500e-03>>
    %2 = nn.quantize %1 : (tensor<4x2x!quant.uniform<i32:f32, 7.812500e-03>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %3 = stablehlo.constant() <{value = dense<-66> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %4 = stablehlo.constant() <{value = dense<62> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %5 = stablehlo.clamp %3, %2, %4 : (tensor<!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
    return %5 : tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-clamped/quantize
module {
  func.func @main(%arg0: tensor<4x6xf32>) -> tensor<6x4x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x6xf32>) -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.constant() <{value = dense<-66> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %2 = stablehlo.constant() <{value = dense<62> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %3 = stablehlo.clamp %1, %0, %2 : (tensor<!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<6x4x!quant.uniform<i8:f32, 5.000000e-01>>
    return %4 : tensor<6x4x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-clamped/there_and_back
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>> {
    %0 = stablehlo.constant() <{value = dense<-66> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %1 = stablehlo.constant() <{value = dense<62> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01>>
    %2 = stablehlo.clamp %0, %arg0, %1 : (tensor<!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
    return %2 : tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>
  }
}

// -----
// requantize-clamped/one_side
module {
  func.func @main(%arg0: tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>> {
    %0 = stablehlo.add %arg0, %arg0 : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<4x6x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
    %1 = stablehlo.constant() <{value = dense<0> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 4.000000e-01:1>>
    %2 = stablehlo.constant() <{value = dense<127> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 4.000000e-01:1>>
    %3 = stablehlo.clamp %1, %0, %2 : (tensor<!quant.uniform<i8:f32, 4.000000e-01:1>>, tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>, tensor<!quant.uniform<i8:f32, 4.000000e-01:1>>) -> tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
    return %3 : tensor<4x6x!quant.uniform<i8:f32, 4.000000e-01:1>>
  }
}

// -----
