// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyProducts Windows

func.func @convolution_c1(%x: tensor<2x6x6x4xf32>, %k: tensor<3x4x8xf32>) {
  // expected-error@+1 {{(C1) lhs and rhs have not the same two or more dimensions}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c2(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C2) window_strides has not one element a spatial dimension}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c3(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C3) a stride is not positive}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1, 0>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c4(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C4) padding is not [low, high] for each spatial dimension}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<0> : tensor<2x1xi64>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c5(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C5) lhs_dilation has not one element a spatial dimension}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c6(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C6) an element of lhs_dilation is not positive}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1, 0>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c7(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C7) rhs_dilation has not one element a spatial dimension}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c8(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C8) an element of rhs_dilation is not positive}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1, 0>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c9(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C9) window_reversal has not one element a spatial dimension}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c10(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C10) the batch is not a multiple of batch_group_count}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 3 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c11(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C11) the input's features are not a multiple of feature_group_count}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 3 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c12(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C12) input_spatial_dimensions are not as many as the spatial dimensio}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c13(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C13) the input's dimension numbers are not its dimensions}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 1], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c14(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x3x8xf32>) {
  // expected-error@+1 {{(C14) the kernel has 3 input features, not the input's 4 over 1 groups}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x3x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c15(%x: tensor<3x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C15) the kernel's output features are not a multiple of batch_group_c}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 3 : i64}
      : (tensor<3x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c16(%x: tensor<2x6x6x3xf32>, %k: tensor<3x3x1x8xf32>) {
  // expected-error@+1 {{(C16) the kernel's output features are not a multiple of feature_group}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 3 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x3xf32>, tensor<3x3x1x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c17(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C17) kernel_spatial_dimensions are not as many as the spatial dimensi}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c18(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C18) the kernel's dimension numbers are not its dimensions}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 0], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c19(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C19) output_spatial_dimensions are not as many as the spatial dimensi}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c20(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C20) the output's dimension numbers are not its dimensions}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c21(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C21)}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 0 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c22(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C22)}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 0 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c23(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x2x8xf32>) {
  // expected-error@+1 {{(C23) feature_group_count and batch_group_count are both greater than}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 2 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x2x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c24(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C24) precision_config has 3 elements, more than 2}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c25(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C25) spatial dimension 0 of the result should have size 4}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x5x4x8xf32>
  return
}

// -----

func.func @convolution_c26(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C26) the result differs from lhs in rank}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @convolution_c27(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf64>) {
  // expected-error@+1 {{(C27) lhs and rhs have different element types: 'f32' and 'f64'}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf64>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c28(%x: tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, %k: tensor<3x3x4x8xf32>) {
  // expected-error@+1 {{(C28) rhs is not quantised, or only one of lhs and result is}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// -----

func.func @convolution_c29(%x: tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32:2, {1.0, 2.0, 1.0, 2.0}>>) {
  // expected-error@+1 {{(C29) rhs is quantised along another axis than its output features}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x4x8x!quant.uniform<i8:f32:2, {1.0, 2.0, 1.0, 2.0}>>) -> tensor<2x4x4x8x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @convolution_c30(%x: tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32:3, {1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0}>>) {
  // expected-error@+1 {{(C30) the result is quantised along another axis than its features}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x4x8x!quant.uniform<i8:f32:3, {1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0}>>) -> tensor<2x4x4x8x!quant.uniform<i32:f32:1, {1.0, 2.0, 1.0, 2.0}>>
  return
}

// -----

func.func @convolution_c31(%x: tensor<2x6x6x4x!quant.uniform<i4:f32, 1.0>>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C31) lhs and rhs differ in storage type}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4x!quant.uniform<i4:f32, 1.0>>, tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x4x8x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @convolution_c32(%x: tensor<2x6x6x4x!quant.uniform<i8:f16, 1.0>>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C32) lhs, rhs and result differ in expressed type}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4x!quant.uniform<i8:f16, 1.0>>, tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x4x8x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @convolution_c33(%x: tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C33) the result is quantised per axis and rhs is not}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x4x8x!quant.uniform<i8:f32:3, {1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0}>>
  return
}

// -----

func.func @convolution_c34(%x: tensor<2x6x6x4xf16>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C34) lhs and result are not of the type that rhs expresses}}
  %r = "stablehlo.convolution"(%x, %k)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf16>, tensor<3x3x4x8x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x4x8xf16>
  return
}
