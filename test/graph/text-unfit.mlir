// RUN: not sinter run %s --input x=a,b 2>&1 | FileCheck %s

// CHECK: 'stablehlo.add' op takes no strings
func.func @main(%x: tensor<2x!text.string>) -> tensor<2x!text.string> {
  %0 = stablehlo.add %x, %x : tensor<2x!text.string>
  return %0 : tensor<2x!text.string>
}
