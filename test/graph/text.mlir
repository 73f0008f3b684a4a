// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// RUN: sinter run --backend interpreter %s --input 'x=["a b", "c", ""]' | FileCheck %s --check-prefix=VALUE
// RUN: sinter run --backend cpu %s --input 'x=["a b", "c", ""]' | FileCheck %s --check-prefix=VALUE

// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<3x!text.string>
func.func @main(%x: tensor<3x!text.string>) -> (tensor<3x!text.string>, tensor<3x?x!text.string>, tensor<3xi64>, tensor<3xi1>,
    tensor<3xi64>, tensor<3xi64>, tensor<2xf32>, tensor<3xi1>, tensor<3x!text.string>) {
  // CHECK: stablehlo.constant dense<["c", ""]> : tensor<2x!text.string>
  %keys = stablehlo.constant dense<["c", ""]> : tensor<2x!text.string>
  // CHECK: stablehlo.constant dense<"0x31"> : tensor<3x!text.string>
  %same = stablehlo.constant dense<"0x31"> : tensor<3x!text.string>
  %numbers = stablehlo.constant dense<["1.5", "-2e3"]> : tensor<2x!text.string>
  // CHECK: text.change_case %{{.*}} upper = true locale = "en_US"
  %upper = text.change_case %x upper = true locale = "en_US" : (tensor<3x!text.string>) -> tensor<3x!text.string>
  // CHECK: text.split %{{.*}} by " " most = 1
  %parts, %counts = text.split %x by " " most = 1 : (tensor<3x!text.string>) -> (tensor<3x?x!text.string>, tensor<3xi64>)
  %matches = text.full_match %x, "[a-c]*" : (tensor<3x!text.string>) -> tensor<3xi1>
  %rank = text.rank %x : (tensor<3x!text.string>) -> tensor<3xi64>
  %found = text.find %x in %keys : (tensor<3x!text.string>, tensor<2x!text.string>) -> tensor<3xi64>
  %parsed = text.parse %numbers : (tensor<2x!text.string>) -> tensor<2xf32>
  %equal = stablehlo.compare EQ, %x, %upper : (tensor<3x!text.string>, tensor<3x!text.string>) -> tensor<3xi1>
  %written = text.format %rank : (tensor<3xi64>) -> tensor<3x!text.string>
  %both = text.concat %written, %same : (tensor<3x!text.string>, tensor<3x!text.string>) -> tensor<3x!text.string>
  return %upper, %parts, %counts, %matches, %rank, %found, %parsed, %equal, %both
    : tensor<3x!text.string>, tensor<3x?x!text.string>, tensor<3xi64>, tensor<3xi1>, tensor<3xi64>, tensor<3xi64>, tensor<2xf32>,
      tensor<3xi1>, tensor<3x!text.string>
}

// VALUE: string [3]
// VALUE-NEXT: "A B" "C" ""
// VALUE: string [3, 2]
// VALUE-NEXT: "a" "b" "c" "" "" ""
// VALUE: i64 [3]
// VALUE-NEXT: 2 1 1
// VALUE: i1 [3]
// VALUE-NEXT: false true true
// VALUE: i64 [3]
// VALUE-NEXT: 1 2 0
// VALUE: i64 [3]
// VALUE-NEXT: -1 0 1
// VALUE: f32 [2]
// VALUE-NEXT: 1.5 -2000
// VALUE: i1 [3]
// VALUE-NEXT: false false true
// VALUE: string [3]
// VALUE-NEXT: "10x31" "20x31" "00x31"
