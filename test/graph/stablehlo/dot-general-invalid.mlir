// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyProducts Windows

func.func @dot_general_c1(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C1) lhs and rhs have not as many batching dimensions}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c2(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C2) lhs and rhs have not as many contracting dimensions}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c3(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C3) a dimension stands twice among batching and contracting ones}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c4(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C4) a dimension stands twice among batching and contracting ones}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c5(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C5) a batching dimension is not one of the operand's}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c6(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C6) a contracting dimension is not one of the operand's}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c7(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C7) a batching dimension is not one of the operand's}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [3], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c8(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C8) a contracting dimension is not one of the operand's}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c9(%x: tensor<2x3x4xf32>, %y: tensor<3x4x5xf32>) {
  // expected-error@+1 {{(C9) batching dimensions differ in size}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c10(%x: tensor<2x3x4xf32>, %y: tensor<2x5x5xf32>) {
  // expected-error@+1 {{(C10) contracting dimensions differ in size}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x5x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c11(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C11) precision_config has 3 elements, more than 2}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c12(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C12) the result's shape does not follow from the operands'}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @dot_general_c13(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf64>) {
  // expected-error@+1 {{(C13) lhs and rhs have different element types: 'f32' and 'f64'}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf64>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c14(%x: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C14) rhs is not quantised, or only one of lhs and result is}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c15(%x: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x4x5x!quant.uniform<i8:f32, 1.0:1>>) {
  // expected-error@+1 {{(C15) a zero point of rhs is not 0}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0:1>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dot_general_c16(%x: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x4x5x!quant.uniform<i8:f32:1, {1.0, 2.0, 1.0, 2.0}>>) {
  // expected-error@+1 {{(C16) rhs is quantised along a contracting dimension}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32:1, {1.0, 2.0, 1.0, 2.0}>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dot_general_c17(%x: tensor<2x3x4x!quant.uniform<i4:f32, 1.0>>, %y: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C17) lhs and rhs differ in storage type}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4x!quant.uniform<i4:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dot_general_c18(%x: tensor<2x3x4x!quant.uniform<i8:f16, 1.0>>, %y: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C18) lhs, rhs and result differ in expressed type}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4x!quant.uniform<i8:f16, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dot_general_c19(%x: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C19) the result is quantised per axis and rhs is not}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @dot_general_c20(%x: tensor<2x3x4xf16>, %y: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C20) lhs and result are not of the type that rhs expresses}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
      : (tensor<2x3x4xf16>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5xf16>
  return
}

// -----

func.func @dot_general_c21(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C21) has an algorithm and a precision other than DEFAULT}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c22(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+2 {{(C22) lhs_component_count is not positive}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c23(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+2 {{(C23) rhs_component_count is not positive}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_c24(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+2 {{(C24) num_primitive_operations is not positive}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_general_unknown_algorithm(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+2 {{no machine is known to compute a product by this algorithm: 'f32' in 1 parts times 'f32' in 1, 3 products summed in 'f32'}}
  %r = "stablehlo.dot_general"(%x, %y)
      {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>}
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}
