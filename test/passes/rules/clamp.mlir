// Clamps in front of quantising, which cuts numbers itself.

func.func @"quantize-clamp/relu"(%x: tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 0.02:-128>> {
  %0 = nn.relu %x : tensor<4x5xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 0.02:-128>>
  return %1 : tensor<4x5x!quant.uniform<i8:f32, 0.02:-128>>
}

func.func @"quantize-clamp/sums"(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i32:f32:1, {0.001, 0.002, 0.003}>>
  %0 = nn.relu %q : tensor<2x3x!quant.uniform<i32:f32:1, {0.001, 0.002, 0.003}>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2x3x!quant.uniform<i32:f32:1, {0.001, 0.002, 0.003}>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  return %1 : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

func.func @"quantize-clamp/maximum_per_axis"(%x: tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32:0, {0.02, 0.5}>> {
  %c = stablehlo.constant dense<0.0> : tensor<2x2xf32>
  %0 = stablehlo.maximum %c, %x : tensor<2x2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32:0, {0.02, 0.5}>>
  return %1 : tensor<2x2x!quant.uniform<u8:f32:0, {0.02, 0.5}>>
}

// The type holds negative numbers.
func.func @"quantize-clamp/stays_signed"(%x: tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 0.02:-100>> {
  %0 = nn.relu %x : tensor<4x5xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 0.02:-100>>
  return %1 : tensor<4x5x!quant.uniform<i8:f32, 0.02:-100>>
}

// The type holds numbers beyond the bound.
func.func @"quantize-clamp/stays_wider"(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 0.05>> {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<6.0> : tensor<f32>
  %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 0.05>>
  return %1 : tensor<4x!quant.uniform<u8:f32, 0.05>>
}

// Somebody else reads what was cut.
func.func @"quantize-clamp/stays_read"(%x: tensor<4x5xf32>) -> (tensor<4x5x!quant.uniform<i8:f32, 0.02:-128>>, tensor<4x5xf32>) {
  %0 = nn.relu %x : tensor<4x5xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 0.02:-128>>
  return %1, %0 : tensor<4x5x!quant.uniform<i8:f32, 0.02:-128>>, tensor<4x5xf32>
}

func.func @"quantize-clamp-rounded/relu6"(%x: tensor<16xf32>) -> tensor<16x!quant.uniform<u8:f32, 0.0234375:0>> {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<6.0> : tensor<f32>
  %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = nn.quantize %0 : (tensor<16xf32>) -> tensor<16x!quant.uniform<u8:f32, 0.0234375:0>>
  return %1 : tensor<16x!quant.uniform<u8:f32, 0.0234375:0>>
}

// 0 is not the first number of the type.
func.func @"quantize-clamp-rounded/stays_signed"(%x: tensor<16xf32>) -> tensor<16x!quant.uniform<u8:f32, 0.02:3>> {
  %0 = nn.relu %x : tensor<16xf32>
  %1 = nn.quantize %0 : (tensor<16xf32>) -> tensor<16x!quant.uniform<u8:f32, 0.02:3>>
  return %1 : tensor<16x!quant.uniform<u8:f32, 0.02:3>>
}
