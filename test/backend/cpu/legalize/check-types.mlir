// RUN: not sinter-opt %s --cpu-check-types 2>&1 | FileCheck %s
// Covers: backend/cpu/legalize CheckProgram

// CHECK: the CPU backend has no arithmetic on tensor<?xf32>
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.negate %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
