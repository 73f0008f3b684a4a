// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyExtensibility

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @composite_c1(%x: tensor<f32>) {
  // expected-error@+1 {{(C1) the name 'name' is not a namespace, a dot and a name}}
  %r = stablehlo.composite "name" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @composite_c2(%x: tensor<f32>) {
  // expected-error@+1 {{(C2) there is no function @g}}
  %r = stablehlo.composite "a.b" %x {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @composite_c3(%x: tensor<f64>) {
  // expected-error@+1 {{(C3) the operands' types are not those of @f}}
  %r = stablehlo.composite "a.b" %x {decomposition = @f} : (tensor<f64>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @composite_c4(%x: tensor<f32>) {
  // expected-error@+1 {{(C4) the results' types are not those of @f}}
  %r = stablehlo.composite "a.b" %x {decomposition = @f} : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @get_tuple_element_c1(%x: tuple<tensor<f32>>) {
  // expected-error@+2 {{(C1) index 1 is not one of the tuple's 1 elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = stablehlo.get_tuple_element %x[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @get_tuple_element_c2(%x: tuple<tensor<f32>>) {
  // expected-error@+2 {{inferred type(s) 'tensor<f32>' are incompatible with return type(s) of}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f64>
  return
}

// -----

func.func @tuple_c1(%x: tensor<f32>) {
  // expected-error@+2 {{inferred type(s) 'tuple<tensor<f32>>' are incompatible with return typ}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.tuple"(%x) : (tensor<f32>) -> tuple<tensor<f64>>
  return
}

// -----

func.func @custom_call_i4() {
  // expected-error@+1 {{(I4) backend_config is not a dictionary, as this api_version takes}}
  "stablehlo.custom_call"()
      {call_target_name = "f", api_version = 4 : i32, backend_config = "text"}
      : () -> ()
  return
}

// -----

func.func @custom_call_i7(%x: tensor<f32>) {
  // expected-error@+1 {{(I7) an alias names operand 1 of 1}}
  %r = "stablehlo.custom_call"(%x)
      {call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]}
      : (tensor<f32>) -> tensor<f32>
  return
}
