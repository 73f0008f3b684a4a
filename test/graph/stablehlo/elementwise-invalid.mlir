// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo Verify VerifyDeprecated

func.func @abs_i1(%x: tensor<2xui8>) {
  // expected-error@+1 {{(I1) tensor of signed integer, floating-point or complex type or per-t}}
  %r = "stablehlo.abs"(%x) : (tensor<2xui8>) -> tensor<2xui8>
  return
}

// -----

func.func @abs_c2(%x: tensor<2xcomplex<f32>>) {
  // expected-error@+2 {{inferred type(s) 'tensor<2xf32>' are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.abs"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @add_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and result differ in element type}}
  %r = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @add_c2(%x: tensor<2x!quant.uniform<i8:f32, 1.0:17>>, %y: tensor<2xf32>) {
  // expected-error@+1 {{(C2) only some of operands and result are quantised}}
  %r = "stablehlo.add"(%x, %y) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @add_c3(%x: tensor<2x!quant.uniform<i8:f32, 1.0:17>>, %y: tensor<2x!quant.uniform<i16:f32, 1.0>>) {
  // expected-error@+1 {{(C3) operands and result differ in storage type}}
  %r = "stablehlo.add"(%x, %y) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x!quant.uniform<i16:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @add_c4(%x: tensor<2x!quant.uniform<i8:f32, 1.0:17>>, %y: tensor<2x!quant.uniform<i8:f16, 1.0>>) {
  // expected-error@+1 {{(C4) operands and result differ in expressed type}}
  %r = "stablehlo.add"(%x, %y) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>, tensor<2x!quant.uniform<i8:f16, 1.0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @add_c5(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C5) the result is quantised per axis and no operand is, or the other}}
  %r = "stablehlo.add"(%x, %x) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @add_c6(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C6) lhs and result are quantised along different axes}}
  %r = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @add_c7(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C7) rhs and result are quantised along different axes}}
  %r = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @and_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.and"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @and_i2(%x: tensor<2xi32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{(I2) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.and"(%x, %y) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @and_c1(%x: tensor<2xi32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.and"(%x, %y) : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @or_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.or"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @or_i2(%x: tensor<2xi32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{(I2) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.or"(%x, %y) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @or_c1(%x: tensor<2xi32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.or"(%x, %y) : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @xor_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.xor"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @xor_i2(%x: tensor<2xi32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{(I2) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.xor"(%x, %y) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @xor_c1(%x: tensor<2xi32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.xor"(%x, %y) : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @shift_left_i1(%x: tensor<2xi1>) {
  // expected-error@+1 {{(I1) tensor of integer type, but got 'tensor<2xi1>'}}
  %r = "stablehlo.shift_left"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @shift_left_i2(%x: tensor<2xi32>, %y: tensor<2xi1>) {
  // expected-error@+1 {{(I2) tensor of integer type, but got 'tensor<2xi1>'}}
  %r = "stablehlo.shift_left"(%x, %y) : (tensor<2xi32>, tensor<2xi1>) -> tensor<2xi32>
  return
}

// -----

func.func @shift_left_c1(%x: tensor<2xi32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.shift_left"(%x, %y) : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @shift_right_logical_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.shift_right_logical"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @shift_right_logical_i2(%x: tensor<2xi32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{(I2) tensor of integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.shift_right_logical"(%x, %y) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @shift_right_logical_c1(%x: tensor<2xi32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.shift_right_logical"(%x, %y) : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @shift_right_arithmetic_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.shift_right_arithmetic"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @shift_right_arithmetic_i2(%x: tensor<2xi32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{(I2) tensor of integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @shift_right_arithmetic_c1(%x: tensor<2xi32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @divide_i1(%x: tensor<2xi1>) {
  // expected-error@+1 {{(I1) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.divide"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @divide_i2(%x: tensor<2xf32>, %y: tensor<2xi1>) {
  // expected-error@+1 {{(I2) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.divide"(%x, %y) : (tensor<2xf32>, tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @divide_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.divide"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @remainder_i1(%x: tensor<2xi1>) {
  // expected-error@+1 {{(I1) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.remainder"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @remainder_i2(%x: tensor<2xf32>, %y: tensor<2xi1>) {
  // expected-error@+1 {{(I2) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.remainder"(%x, %y) : (tensor<2xf32>, tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @remainder_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.remainder"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @power_i1(%x: tensor<2xi1>) {
  // expected-error@+1 {{(I1) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.power"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @power_i2(%x: tensor<2xf32>, %y: tensor<2xi1>) {
  // expected-error@+1 {{(I2) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.power"(%x, %y) : (tensor<2xf32>, tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @power_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.power"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @subtract_i1(%x: tensor<2xi1>) {
  // expected-error@+1 {{(I1) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.subtract"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @subtract_i2(%x: tensor<2xf32>, %y: tensor<2xi1>) {
  // expected-error@+1 {{(I2) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.subtract"(%x, %y) : (tensor<2xf32>, tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @subtract_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.subtract"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @atan2_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.atan2"(%x, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @atan2_i2(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error@+1 {{(I2) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.atan2"(%x, %y) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @atan2_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.atan2"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @maximum_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.maximum"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @maximum_i1(%x: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(I1) tensor or per-tensor quantised tensor, but got 'tensor<2x!quant.u}}
  %r = "stablehlo.maximum"(%x, %x) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @minimum_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.minimum"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @minimum_i1(%x: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(I1) tensor or per-tensor quantised tensor, but got 'tensor<2x!quant.u}}
  %r = "stablehlo.minimum"(%x, %x) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @multiply_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.multiply"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @multiply_i1(%x: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(I1) tensor or per-tensor quantised tensor, but got 'tensor<2x!quant.u}}
  %r = "stablehlo.multiply"(%x, %x) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @cbrt_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.cbrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @cbrt_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.cbrt"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @cosine_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.cosine"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @cosine_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.cosine"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @exponential_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.exponential"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @exponential_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.exponential"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @exponential_minus_one_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.exponential_minus_one"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @exponential_minus_one_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.exponential_minus_one"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @log_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.log"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @log_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.log"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @log_plus_one_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.log_plus_one"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @log_plus_one_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.log_plus_one"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @logistic_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.logistic"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @logistic_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.logistic"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @rsqrt_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.rsqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @rsqrt_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.rsqrt"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @sine_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.sine"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @sine_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.sine"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @sqrt_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @sqrt_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.sqrt"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @tan_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.tan"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @tan_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.tan"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @tanh_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type or per-tensor quantised}}
  %r = "stablehlo.tanh"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @tanh_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.tanh"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @ceil_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point type or per-tensor quantised tensor, but}}
  %r = "stablehlo.ceil"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @ceil_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.ceil"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @floor_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point type or per-tensor quantised tensor, but}}
  %r = "stablehlo.floor"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @floor_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.floor"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @round_nearest_afz_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point type or per-tensor quantised tensor, but}}
  %r = "stablehlo.round_nearest_afz"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @round_nearest_afz_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.round_nearest_afz"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @round_nearest_even_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point type or per-tensor quantised tensor, but}}
  %r = "stablehlo.round_nearest_even"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @round_nearest_even_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.round_nearest_even"(%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @count_leading_zeros_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.count_leading_zeros"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @count_leading_zeros_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.count_leading_zeros"(%x) : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @popcnt_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.popcnt"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @popcnt_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.popcnt"(%x) : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @not_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of boolean or integer type, but got 'tensor<2xf32>'}}
  %r = "stablehlo.not"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @not_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.not"(%x) : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @negate_i1(%x: tensor<2xi1>) {
  // expected-error@+1 {{(I1) tensor of integer, floating-point or complex type or per-tensor q}}
  %r = "stablehlo.negate"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @negate_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.negate"(%x) : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @sign_i1(%x: tensor<2xui8>) {
  // expected-error@+1 {{(I1) tensor of signed integer, floating-point or complex type or per-t}}
  %r = "stablehlo.sign"(%x) : (tensor<2xui8>) -> tensor<2xui8>
  return
}

// -----

func.func @sign_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(C1) operands and results differ in element type}}
  %r = "stablehlo.sign"(%x) : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @bitcast_convert_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) the shapes do not fit the elements' widths}}
  %r = "stablehlo.bitcast_convert"(%x) : (tensor<2xf32>) -> tensor<2x3xi8>
  return
}

// -----

func.func @bitcast_convert_c2(%x: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C2) only one of operand and result is complex}}
  %r = "stablehlo.bitcast_convert"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @clamp_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{(C1) min is neither a scalar nor of the operand's shape}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.clamp"(%y, %x, %x) : (tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_c2(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{(C2) max is neither a scalar nor of the operand's shape}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.clamp"(%x, %x, %y) : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_c3(%x: tensor<2xf32>, %y: tensor<f64>) {
  // expected-error@+2 {{(C3) the bounds have another element type than the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.clamp"(%x, %x, %y) : (tensor<2xf32>, tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @compare_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{(C1) lhs and rhs have different element types}}
  %r = "stablehlo.compare"(%x, %y)
      {comparison_direction = #stablehlo<comparison_direction EQ>}
      : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_c3(%x: tensor<2xi32>) {
  // expected-error@+1 {{(C3) compares 'i32' as FLOAT}}
  %r = "stablehlo.compare"(%x, %x)
      {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}
      : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_c3_unsigned(%x: tensor<2xui32>) {
  // expected-error@+1 {{(C3) compares 'ui32' as SIGNED}}
  %r = "stablehlo.compare"(%x, %x)
      {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>}
      : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
  return
}

// -----

func.func @convert_index(%x: tensor<2xindex>) {
  // expected-error@+1 {{an index is converted from and to signless integers only}}
  %r = stablehlo.convert %x : (tensor<2xindex>) -> tensor<2xf32>
  return
}

// -----

func.func @complex_i1(%x: tensor<2xf16>) {
  // expected-error@+1 {{(I1) tensor of type f32 or f64, but got 'tensor<2xf16>'}}
  %r = "stablehlo.complex"(%x, %x) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @complex_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+2 {{(C1) lhs and rhs have different element types}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.complex"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @convert_i1(%x: tensor<2x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error@+1 {{(I1) tensor that is not quantised, but got 'tensor<2x!quant.uniform<i8}}
  %r = "stablehlo.convert"(%x) : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<2xf32>
  return
}

// -----

func.func @imag_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type, but got 'tensor<2xi32>'}}
  %r = "stablehlo.imag"(%x) : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @real_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point or complex type, but got 'tensor<2xi32>'}}
  %r = "stablehlo.real"(%x) : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @is_finite_i1(%x: tensor<2xi32>) {
  // expected-error@+1 {{(I1) tensor of floating-point type or per-tensor quantised tensor, but}}
  %r = "stablehlo.is_finite"(%x) : (tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @reduce_precision_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C2)}}
  %r = "stablehlo.reduce_precision"(%x)
      {exponent_bits = 0 : i32, mantissa_bits = 1 : i32}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_precision_c3(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C3)}}
  %r = "stablehlo.reduce_precision"(%x)
      {exponent_bits = 1 : i32, mantissa_bits = -1 : i32}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_i1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(I1) tensor of type i1, but got 'tensor<2xf32>'}}
  %r = "stablehlo.select"(%x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_c1(%p: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@+2 {{(C1) the predicate is neither a scalar nor of the operands' shape}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.select"(%p, %x, %x) : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_c2(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+2 {{(C2) on_true and on_false have different element types}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.select"(%p, %x, %y) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @uniform_quantize_c2(%x: tensor<2xf64>) {
  // expected-error@+1 {{(C2) the result expresses 'f32', not 'f64'}}
  %r = "stablehlo.uniform_quantize"(%x) : (tensor<2xf64>) -> tensor<2x!quant.uniform<i8:f32, 1.0:17>>
  return
}

// -----

func.func @uniform_dequantize_i1(%x: tensor<2xf64>) {
  // expected-error@+1 {{(I1) quantised tensor, but got 'tensor<2xf64>'}}
  %r = "stablehlo.uniform_dequantize"(%x) : (tensor<2xf64>) -> tensor<2xf64>
  return
}
