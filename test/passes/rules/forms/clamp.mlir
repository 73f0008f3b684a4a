// quantize-clamp/relu
module {
  func.func @main(%arg0: tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 2.000000e-02:-128>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 2.000000e-02:-128>>
    return %0 : tensor<4x5x!quant.uniform<i8:f32, 2.000000e-02:-128>>
  }
}

// -----
// quantize-clamp/sums
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i32:f32:1, {1.000000e-03,2.000000e-03,3.000000e-03}>>
    %1 = stablehlo.uniform_quantize %0 : (tensor<2x3x!quant.uniform<i32:f32:1, {1.000000e-03,2.000000e-03,3.000000e-03}>>) -> tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02>>
    return %1 : tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02>>
  }
}

// -----
// quantize-clamp/maximum_per_axis
module {
  func.func @main(%arg0: tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32:0, {2.000000e-02,5.000000e-01}>> {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32:0, {2.000000e-02,5.000000e-01}>>
    return %0 : tensor<2x2x!quant.uniform<u8:f32:0, {2.000000e-02,5.000000e-01}>>
  }
}

// -----
// quantize-clamp-rounded/relu6
module {
  func.func @main(%arg0: tensor<16xf32>) -> tensor<16x!quant.uniform<u8:f32, 2.343750e-02>> {
    %0 = nn.quantize %arg0 : (tensor<16xf32>) -> tensor<16x!quant.uniform<u8:f32, 2.343750e-02>>
    return %0 : tensor<16x!quant.uniform<u8:f32, 2.343750e-02>>
  }
}

// -----
