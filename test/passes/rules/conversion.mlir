// Conversions and complex numbers: a function a rule, called by the rule's label. RewriteRuleTest applies
// this rule alone: it must apply, and the results must stay what they were; in
// those called `label/stays-...` it must not apply.

func.func @"real-complex"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.complex %x, %y : tensor<2x3xcomplex<f32>>
  %r = stablehlo.real %c : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"imag-complex"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.complex %x, %y : tensor<2x3xcomplex<f32>>
  %r = stablehlo.imag %c : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"complex-parts"(%x: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>) {
  %a = stablehlo.real %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %e = stablehlo.imag %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %r = stablehlo.complex %a, %e : tensor<2x3xcomplex<f32>>
  return %r : tensor<2x3xcomplex<f32>>
}

func.func @"complex-parts/stays-swapped"(%x: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>) {
  %a = stablehlo.real %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %e = stablehlo.imag %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %r = stablehlo.complex %e, %a : tensor<2x3xcomplex<f32>>
  return %r : tensor<2x3xcomplex<f32>>
}

func.func @"real-real"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.real %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"imag-real"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.imag %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"convert-same"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.convert %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"convert-convert"(%x: tensor<2x3xbf16>) -> (tensor<2x3xbf16>) {
  %a = stablehlo.convert %x : (tensor<2x3xbf16>) -> tensor<2x3xf32>
  %r = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  return %r : tensor<2x3xbf16>
}

func.func @"convert-convert/stays-lossy"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %r = stablehlo.convert %a : (tensor<2x3xbf16>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"convert-iota"() -> (tensor<2x3xf32>) {
  %a = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %r = stablehlo.convert %a : (tensor<2x3xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"convert-iota/stays-wrapped"() -> (tensor<300xf32>) {
  %a = stablehlo.iota dim = 0 : tensor<300xi8>
  %r = stablehlo.convert %a : (tensor<300xi8>) -> tensor<300xf32>
  return %r : tensor<300xf32>
}

func.func @"convert-iota/stays-rounded"() -> (tensor<300xf8E4M3FN>) {
  %a = stablehlo.iota dim = 0 : tensor<300xi32>
  %r = stablehlo.convert %a : (tensor<300xi32>) -> tensor<300xf8E4M3FN>
  return %r : tensor<300xf8E4M3FN>
}

func.func @"bitcast-same"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"bitcast-bitcast/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %r = stablehlo.bitcast_convert %a : (tensor<2x3xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"bitcast-bitcast/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xui32>) {
  %a = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %r = stablehlo.bitcast_convert %a : (tensor<2x3xi32>) -> tensor<2x3xui32>
  return %r : tensor<2x3xui32>
}

func.func @"bitcast-bitcast/stays-wider"(%x: tensor<2x3xf32>) -> (tensor<2x3xi32>) {
  %a = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  %r = stablehlo.bitcast_convert %a : (tensor<2x3x4xi8>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"reduce-precision-full"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.reduce_precision %x, format = e8m23 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reduce-precision-full/stays-less"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.reduce_precision %x, format = e8m7 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// What does not fit is cut off.
func.func @"convert-convert/narrower"(%x: tensor<3xi16>) -> tensor<3xui8> {
  %a = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi64>
  %r = stablehlo.convert %a : (tensor<3xi64>) -> tensor<3xui8>
  return %r : tensor<3xui8>
}

func.func @"convert-convert/stays-narrowed"(%x: tensor<3xi16>) -> tensor<3xi64> {
  %a = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi8>
  %r = stablehlo.convert %a : (tensor<3xi8>) -> tensor<3xi64>
  return %r : tensor<3xi64>
}
