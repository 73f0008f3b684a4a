// RUN: sinter-opt %s --split-input-file --verify-diagnostics

func.func @main(%x: tensor<2x!text.string>) -> tensor<2xi1> {
  // expected-error @+1 {{'text.full_match' op '(' is no regular expression: missing )}}
  %0 = text.full_match %x, "(" : (tensor<2x!text.string>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

func.func @main(%x: tensor<2x!text.string>) -> tensor<2xi1> {
  // expected-error @+1 {{strings are equal or not; they have no order}}
  %0 = stablehlo.compare LT, %x, %x : (tensor<2x!text.string>, tensor<2x!text.string>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

func.func @main(%x: tensor<2x!text.string>, %k: tensor<1x!text.string>) -> tensor<3xi64> {
  // expected-error @+1 {{expects a result of the operand's shape}}
  %0 = text.find %x in %k : (tensor<2x!text.string>, tensor<1x!text.string>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

func.func @main(%x: tensor<2x!text.string>) -> tensor<2x!text.string> {
  // expected-error @+1 {{expects parts of the operand's shape with a last dimension}}
  %0, %1 = text.split %x by "," : (tensor<2x!text.string>) -> (tensor<2x!text.string>, tensor<2xi64>)
  return %0 : tensor<2x!text.string>
}

// -----

func.func @main(%x: tensor<2x!text.string>) -> tensor<2x?x!text.string> {
  // expected-error @+1 {{expects `most` to be no less than 0}}
  %0, %1 = text.split %x by "," most = -1 : (tensor<2x!text.string>) -> (tensor<2x?x!text.string>, tensor<2xi64>)
  return %0 : tensor<2x?x!text.string>
}

// -----

func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2x!text.string> {
  // expected-error @+1 {{operand #0 must be tensor of numbers}}
  %0 = text.format %x : (tensor<2xcomplex<f32>>) -> tensor<2x!text.string>
  return %0 : tensor<2x!text.string>
}
