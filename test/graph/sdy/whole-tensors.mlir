// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu
// RUN: sinter convert %s -o %t.mlir.bc && sinter convert %t.mlir.bc -o %t.mlir && FileCheck %s < %t.mlir
// Covers: graph/sdy DropShardings

// Where each device computes on whole tensors, one process does the same; and
// the artifact keeps what was said.
// CHECK: sdy.mesh @mesh = <["a"=1, "b"=2]>
// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"a"}]>
// CHECK: sdy.sharding_group %{{.*}} group_id=3
// CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"a"}], replicated={"b"}>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%{{.*}}: tensor<2xf32>) {
sdy.mesh @mesh = <["a"=1, "b"=2]>
func.func @main() {
  %x = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>, other.place = [#other.place<1>]} dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<2xf32>
  sdy.sharding_group %0 group_id=3 : tensor<2xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a"}], replicated={"b"}>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%arg1: tensor<2xf32>) {
    %2 = stablehlo.add %arg1, %arg1 : tensor<2xf32>
    sdy.return %2 : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  return
}
