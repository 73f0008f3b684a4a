// RUN: sinter-opt %s -split-input-file -verify-diagnostics

// The elements of a quantised constant stand in its storage type, whose width
// and sign they have.

func.func @as_stored() {
  %signed = "stablehlo.constant"() {value = dense<[1, -2]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  %unsigned = "stablehlo.constant"() {value = dense<[1, 255]> : tensor<2xui8>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5:1>>
  %per_axis = "stablehlo.constant"() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 0.25}>>
  return
}

// -----

func.func @literal() {
  // expected-error@+2 {{the elements are no numbers; those of a quantised type stand in its storage type}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = stablehlo.constant dense<[1, 2]> : tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// -----

func.func @splat() {
  // expected-error@+2 {{the elements are no numbers; those of a quantised type stand in its storage type}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = stablehlo.constant dense<1> : tensor<2x!quant.uniform<u8:f32, 0.5:1>>
  return
}

// -----

func.func @resource() {
  // expected-error@+2 {{the elements are no numbers; those of a quantised type stand in its storage type}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = stablehlo.constant dense_resource<w> : tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return
}

{-#
  dialect_resources: { builtin: { w: "0x010000000102" } }
#-}

// -----

func.func @width() {
  // expected-error@+2 {{inferred type(s) 'tensor<2xi16>' are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = "stablehlo.constant"() {value = dense<[1, 2]> : tensor<2xi16>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// -----

func.func @sign() {
  // expected-error@+2 {{inferred type(s) 'tensor<2xui8>' are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = "stablehlo.constant"() {value = dense<[1, 2]> : tensor<2xui8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// -----

func.func @real() {
  // expected-error@+2 {{inferred type(s) 'tensor<2xf32>' are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = "stablehlo.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// -----

func.func @shape() {
  // expected-error@+2 {{inferred type(s) 'tensor<3xi8>' are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %c = "stablehlo.constant"() {value = dense<[1, 2, 3]> : tensor<3xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return
}
