// RUN: sinter-opt %s --cpu-lower-strings | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<?xui64>) -> (tensor<?xui64>, tensor<?x?xui64>)
// A constant is made once, before all else.
// CHECK: cpu.host_call "sinter.strings"() with "1:a2:bc" {pure} : () -> tensor<2xui64>
// The result has as many elements as the operand.
// CHECK: cpu.host_call "sinter.change_case"({{.*}}) with "upper;en" {{.*}}sized = 1
// CHECK: cpu.host_call "sinter.count_parts"({{.*}}) with "-1;,"
// CHECK: cpu.host_call "sinter.split_strings"({{.*}}) with "-1;," {{.*}}sized = 2
// CHECK: stablehlo.concatenate {{.*}}xui64
// CHECK-NOT: text.
func.func @main(%x: tensor<?x!text.string>) -> (tensor<?x!text.string>, tensor<?x?x!text.string>) {
  %upper = text.change_case %x upper = true locale = "en" : (tensor<?x!text.string>) -> tensor<?x!text.string>
  %parts, %counts = text.split %x by "," : (tensor<?x!text.string>) -> (tensor<?x?x!text.string>, tensor<?xi64>)
  %c = stablehlo.constant dense<["a", "bc"]> : tensor<2x!text.string>
  %all = stablehlo.concatenate %upper, %c, dim = 0 : (tensor<?x!text.string>, tensor<2x!text.string>) -> tensor<?x!text.string>
  return %all, %parts : tensor<?x!text.string>, tensor<?x?x!text.string>
}
