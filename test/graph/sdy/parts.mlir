// RUN: not sinter run %s --backend interpreter --input random 2>&1 | FileCheck %s
// RUN: not sinter run %s --backend cpu --input random 2>&1 | FileCheck %s
// Covers: graph/sdy SdyDialect
// CHECK: sdy.manual_computation: computes on shards of its operands, one per device

sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<1xf32>) {
    sdy.return %part : tensor<1xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
