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

// -----

// Elements lie in the range of the type.

func.func @in_range() {
  %least = "stablehlo.constant"() {value = dense<[-127, 127]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8<-127:127>:f32, 0.5>>
  %few = "stablehlo.constant"() {value = dense<[3, 20]> : tensor<2xui8>} : () -> tensor<2x!quant.uniform<u8<3:20>:f32, 0.5:3>>
  return
}

// -----

func.func @below() {
  // expected-error@+1 {{element 1 is -128, outside of -127 to 127, which the type '!quant.uniform<i8<-127:127>:f32, 5.000000e-01>' allows}}
  %c = "stablehlo.constant"() {value = dense<[1, -128]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8<-127:127>:f32, 0.5>>
  return
}

// -----

func.func @above_splat() {
  // expected-error@+1 {{element 0 is 200, outside of 0 to 100}}
  %c = "stablehlo.constant"() {value = dense<200> : tensor<4xui8>} : () -> tensor<4x!quant.uniform<u8<0:100>:f32, 0.5>>
  return
}

// -----

func.func @per_axis() {
  // expected-error@+1 {{element 1 is 8, outside of -7 to 7}}
  %c = "stablehlo.constant"() {value = dense<[1, 8]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8<-7:7>:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @resource_out_of_range() {
  // expected-error@+1 {{element 1 is -128, outside of -127 to 127}}
  %c = "stablehlo.constant"() {value = dense_resource<w> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8<-127:127>:f32, 0.5>>
  return
}

{-#
  dialect_resources: { builtin: { w: "0x010000000180" } }
#-}
