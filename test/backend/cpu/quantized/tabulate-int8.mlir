// RUN: sinter-opt %s -split-input-file '--cpu-tabulate-int8=cpu=x86-64-v4 features=+avx512vbmi' | FileCheck %s
// RUN: sinter-opt %s -split-input-file '--cpu-tabulate-int8=cpu=x86-64-v4' | FileCheck %s
// RUN: sinter-opt %s -split-input-file '--cpu-tabulate-int8=cpu=x86-64-v2' | FileCheck %s
// RUN: sinter-opt %s -split-input-file '--cpu-tabulate-int8=cpu=x86-64' | FileCheck %s
// RUN: sinter-opt %s -split-input-file '--cpu-tabulate-int8=cpu=x86-64-v4 features=+avx512vbmi disable-patterns=tabulate-int8' | FileCheck %s --check-prefix=OFF
// Covers: backend/cpu/quantized TabulateInt8

// A function of bytes, through bytes in between that others read, too. Of 1 - x,
// erf is 0.84 for 0, and 1 for negative numbers, which are the second half.
// OFF-NOT: cpu.lookup
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = stablehlo.constant {{.*}} : tensor<256xui8>
// CHECK: %[[L:.*]] = cpu.lookup %arg0, %[[T]] : (tensor<4x8xi8>, tensor<256xui8>) -> tensor<4x8xui8>
// CHECK: %[[S:.*]] = cpu.lookup %arg0, %{{.*}} : (tensor<4x8xi8>, tensor<256xi8>) -> tensor<4x8xi8>
// CHECK: return %[[L]], %[[S]]
// CHECK: "0x01000000540000{{0+(64)+}}"
func.func @main(%x: tensor<4x8xi8>) -> (tensor<4x8xui8>, tensor<4x8xi8>) {
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<100.0> : tensor<f32>
  %spread = stablehlo.broadcast_in_dim %most, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %f = stablehlo.convert %x : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %one, %f : tensor<4x8xf32>
  %e = nn.erf %d : tensor<4x8xf32>
  %m = stablehlo.multiply %e, %spread : tensor<4x8xf32>
  %k = stablehlo.clamp %least, %m, %most : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %r = stablehlo.round_nearest_even %k : tensor<4x8xf32>
  %y = stablehlo.convert %r : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %g = stablehlo.convert %y : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %p = stablehlo.multiply %f, %g : tensor<4x8xf32>
  %t = stablehlo.tanh %p : tensor<4x8xf32>
  %z = stablehlo.convert %t : (tensor<4x8xf32>) -> tensor<4x8xi8>
  return %y, %z : tensor<4x8xui8>, tensor<4x8xi8>
}

// -----

// Not of bytes beside numbers of their own, of two tensors, or what takes no
// more than a lookup.
// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.lookup
func.func @main(%x: tensor<4x8xi8>, %a: tensor<4x8xf32>, %b: tensor<4x8xi8>) -> (tensor<4x8xi8>, tensor<4x8xi8>, tensor<4x8xui8>) {
  %f = stablehlo.convert %x : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %p = stablehlo.multiply %f, %a : tensor<4x8xf32>
  %t = stablehlo.tanh %p : tensor<4x8xf32>
  %0 = stablehlo.convert %t : (tensor<4x8xf32>) -> tensor<4x8xi8>
  %g = stablehlo.convert %b : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %q = stablehlo.multiply %f, %g : tensor<4x8xf32>
  %u = stablehlo.tanh %q : tensor<4x8xf32>
  %1 = stablehlo.convert %u : (tensor<4x8xf32>) -> tensor<4x8xi8>
  %i = stablehlo.convert %x : (tensor<4x8xi8>) -> tensor<4x8xi32>
  %v = stablehlo.add %i, %i : tensor<4x8xi32>
  %2 = stablehlo.convert %v : (tensor<4x8xi32>) -> tensor<4x8xui8>
  return %0, %1, %2 : tensor<4x8xi8>, tensor<4x8xi8>, tensor<4x8xui8>
}
