// RUN: sinter-opt --split-input-file --cpu-absorb-transposes --cpu-simplify-products="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4 features=+avx512vnni" %s | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: sinter-opt --split-input-file --cpu-absorb-transposes --cpu-simplify-products="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3" %s | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: sinter-opt --split-input-file --cpu-absorb-transposes --cpu-simplify-products="triple=aarch64-unknown-linux-gnu cpu=neoverse-n1" %s | FileCheck %s --check-prefixes=CHECK,ARM

// What lies behind transposes is read there. Right operands are signed where
// bytes are multiplied four at a time: what 128 counts from is then 0.
// CHECK-LABEL: func.func @main
// VNNI: %[[A:.*]] = stablehlo.constant dense<9> : tensor<i32>
// VNNI-NEXT: "cpu.zero_point_product"(%arg0, %arg1, %[[A]]) <{lhs_batching = array<i64: 0, 2>, lhs_contracting = array<i64: 3>, operandSegmentSizes = array<i32: 1, 1, 1, 0>, rhs_batching = array<i64: 0, 2>, rhs_contracting = array<i64: 3>, turned}> : (tensor<2x40x3x64xui8>, tensor<2x50x3x64xui8>, tensor<i32>) -> tensor<2x3x40x50xi32>
// PAIRS: %[[A:.*]] = stablehlo.constant dense<9> : tensor<i32>
// PAIRS-NEXT: %[[B:.*]] = stablehlo.constant dense<128> : tensor<i32>
// PAIRS-NEXT: "cpu.zero_point_product"(%arg0, %arg1, %[[A]], %[[B]]) <{{{.*}}rhs_contracting = array<i64: 3>}>
// ARM: stablehlo.xor %arg0
// ARM: %[[A:.*]] = stablehlo.constant dense<-119> : tensor<i32>
// ARM-NEXT: "cpu.zero_point_product"({{.*}}, %arg1, %[[A]]) <{{{.*}}turned}>
func.func @main(%x: tensor<2x40x3x64xui8>, %y: tensor<2x50x3x64xui8>) -> tensor<2x3x40x50xi32> {
  %xt = stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<2x40x3x64xui8>) -> tensor<2x3x40x64xui8>
  %yt = stablehlo.transpose %y, dims = [0, 2, 3, 1] : (tensor<2x50x3x64xui8>) -> tensor<2x3x64x50xui8>
  %xi = stablehlo.convert %xt : (tensor<2x3x40x64xui8>) -> tensor<2x3x40x64xi32>
  %yi = stablehlo.convert %yt : (tensor<2x3x64x50xui8>) -> tensor<2x3x64x50xi32>
  %a = stablehlo.constant dense<9> : tensor<2x3x40x64xi32>
  %b = stablehlo.constant dense<128> : tensor<2x3x64x50xi32>
  %xd = stablehlo.subtract %xi, %a : tensor<2x3x40x64xi32>
  %yd = stablehlo.subtract %yi, %b : tensor<2x3x64x50xi32>
  %0 = stablehlo.dot_general %xd, %yd, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x40x64xi32>, tensor<2x3x64x50xi32>) -> tensor<2x3x40x50xi32>
  return %0 : tensor<2x3x40x50xi32>
}

// -----

// What is summed up lies apart, and is brought together.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.transpose {{.*}}, dims = [1, 0] : (tensor<64x40x{{.*}}>) -> tensor<40x64x
// CHECK: "cpu.zero_point_product"
func.func @main(%x: tensor<64x40xui8>, %y: tensor<64x50xui8>) -> tensor<40x50xi32> {
  %xi = stablehlo.convert %x : (tensor<64x40xui8>) -> tensor<64x40xi32>
  %yi = stablehlo.convert %y : (tensor<64x50xui8>) -> tensor<64x50xi32>
  %0 = stablehlo.dot_general %xi, %yi, contracting_dims = [0] x [0] : (tensor<64x40xi32>, tensor<64x50xi32>) -> tensor<40x50xi32>
  return %0 : tensor<40x50xi32>
}

// -----

// A vector, a number that is no byte, a zero point a row, sums of 64 bits, and
// constants.
// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.zero_point_product
func.func @main(%x: tensor<40x64xui8>, %y: tensor<64x50xui8>, %v: tensor<64x1xui8>, %z: tensor<40xi32>) -> (tensor<40x1xi32>, tensor<40x50xi32>, tensor<40x50xi32>, tensor<40x50xi64>, tensor<40x50xi32>) {
  %xi = stablehlo.convert %x : (tensor<40x64xui8>) -> tensor<40x64xi32>
  %yi = stablehlo.convert %y : (tensor<64x50xui8>) -> tensor<64x50xi32>
  %vi = stablehlo.convert %v : (tensor<64x1xui8>) -> tensor<64x1xi32>
  %0 = stablehlo.dot_general %xi, %vi, contracting_dims = [1] x [0] : (tensor<40x64xi32>, tensor<64x1xi32>) -> tensor<40x1xi32>
  %a = stablehlo.constant dense<300> : tensor<40x64xi32>
  %xa = stablehlo.subtract %xi, %a : tensor<40x64xi32>
  %1 = stablehlo.dot_general %xa, %yi, contracting_dims = [1] x [0] : (tensor<40x64xi32>, tensor<64x50xi32>) -> tensor<40x50xi32>
  %zs = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<40xi32>) -> tensor<40x64xi32>
  %xz = stablehlo.subtract %xi, %zs : tensor<40x64xi32>
  %2 = stablehlo.dot_general %xz, %yi, contracting_dims = [1] x [0] : (tensor<40x64xi32>, tensor<64x50xi32>) -> tensor<40x50xi32>
  %xl = stablehlo.convert %x : (tensor<40x64xui8>) -> tensor<40x64xi64>
  %yl = stablehlo.convert %y : (tensor<64x50xui8>) -> tensor<64x50xi64>
  %3 = stablehlo.dot_general %xl, %yl, contracting_dims = [1] x [0] : (tensor<40x64xi64>, tensor<64x50xi64>) -> tensor<40x50xi64>
  %w = stablehlo.constant dense<200> : tensor<64x50xui8>
  %wi = stablehlo.convert %w : (tensor<64x50xui8>) -> tensor<64x50xi32>
  %4 = stablehlo.dot_general %xi, %wi, contracting_dims = [1] x [0] : (tensor<40x64xi32>, tensor<64x50xi32>) -> tensor<40x50xi32>
  return %0, %1, %2, %3, %4 : tensor<40x1xi32>, tensor<40x50xi32>, tensor<40x50xi32>, tensor<40x50xi64>, tensor<40x50xi32>
}
