// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids disable-patterns=split-once' | FileCheck %s --check-prefix=OFF
// RUN: sinter-opt %s --split-input-file --cpu-form-kernels '--cpu-keep-split-operands=triple=x86_64-unknown-linux-gnu cpu=x86-64-v4' | FileCheck %s --check-prefix=OFF

// Three products and a sum read one value, two of the products behind a
// reshape: parts are of the value in front of it, and the sum's are numbers.
// CHECK-LABEL: func.func @products
// CHECK: %[[T:.*]] = cpu.kernel(%arg0) {{.*}} {
// CHECK: stablehlo.tanh
// CHECK: %[[C:.*]] = cpu.kernel(%[[T]]) : (tensor<1x128x768xf32>) -> tensor<393984xi8> {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<1x128x768xf32>):
// CHECK-NEXT: %[[P:.*]] = cpu.split_terms %[[I]] {beyond = 0 : i64, border = array<i64: 0, 0, 0, 0>, columns = 768 : i64, images = 1 : i64, rows = 128 : i64, tile_rows = 16 : i64, unit_rows = 16 : i64, width = 128 : i64}
// CHECK-NEXT: cpu.yield %[[P]]
// CHECK: cpu.kernel(%[[C]],
// CHECK: cpu.recombine_terms {{.*}} -> tensor<128x768xf32>
// CHECK: cpu.kernel(%[[C]],
// CHECK: cpu.recombine_terms {{.*}} -> tensor<128x768xf32>
// CHECK: cpu.kernel(%[[C]],
// CHECK: cpu.recombine_terms {{.*}} -> tensor<1x128x768xf32>
// CHECK-NOT: _parts
// CHECK: cpu.kernel({{.*}}%[[T]]
// OFF-LABEL: func.func @products
// OFF-NOT: _parts
// OFF: return
func.func @products(%x: tensor<1x128x768xf32>) -> (tensor<128x768xf32>, tensor<128x768xf32>, tensor<1x128x768xf32>, tensor<1x128x768xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<768x768xf32>
  %v = stablehlo.constant dense<0.25> : tensor<768x768xf32>
  %t = stablehlo.tanh %x : tensor<1x128x768xf32>
  %r = stablehlo.reshape %t : (tensor<1x128x768xf32>) -> tensor<128x768xf32>
  %a = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<128x768xf32>, tensor<768x768xf32>) -> tensor<128x768xf32>
  %b = stablehlo.dot_general %r, %v, contracting_dims = [1] x [0] : (tensor<128x768xf32>, tensor<768x768xf32>) -> tensor<128x768xf32>
  %c = stablehlo.dot_general %t, %w, contracting_dims = [2] x [0] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
  %s = stablehlo.sine %t : tensor<1x128x768xf32>
  return %a, %b, %c, %s : tensor<128x768xf32>, tensor<128x768xf32>, tensor<1x128x768xf32>, tensor<1x128x768xf32>
}

// -----

// One product, one that reads three parts, and one of other rows: nobody cuts
// the same.
// CHECK-LABEL: func.func @others
// CHECK-NOT: _parts
// CHECK: return
// OFF-LABEL: func.func @others
// OFF-NOT: _parts
// OFF: return
func.func @others(%x: tensor<256x768xf32>) -> (tensor<256x768xf32>, tensor<256x768xf32>, tensor<128x768xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<768x768xf32>
  %v = stablehlo.constant dense<0.5> : tensor<1536x768xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sinter.precision = "f32-exact"} : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
  %r = stablehlo.reshape %x : (tensor<256x768xf32>) -> tensor<128x1536xf32>
  %c = stablehlo.dot_general %r, %v, contracting_dims = [1] x [0] : (tensor<128x1536xf32>, tensor<1536x768xf32>) -> tensor<128x768xf32>
  return %a, %b, %c : tensor<256x768xf32>, tensor<256x768xf32>, tensor<128x768xf32>
}

// -----

// Numbers from outside of a branch are cut in it.
// CHECK-LABEL: func.func @branch
// CHECK: "stablehlo.if"
// CHECK: %[[C:.*]] = cpu.kernel(%arg0) : (tensor<256x768xf32>) -> tensor<787968xi8> {
// CHECK: cpu.split_terms
// CHECK: cpu.kernel(%[[C]],
// CHECK: cpu.recombine_terms
// CHECK: cpu.kernel(%[[C]],
// CHECK: cpu.recombine_terms
// OFF-LABEL: func.func @branch
// OFF-NOT: _parts
// OFF: return
func.func @branch(%x: tensor<256x768xf32>, %n: tensor<i32>) -> (tensor<256x768xf32>, tensor<256x768xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<768x768xf32>
  %v = stablehlo.constant dense<0.25> : tensor<768x768xf32>
  %true = stablehlo.compare GT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r:2 = "stablehlo.if"(%true) ({
    %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
    %b = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<256x768xf32>, tensor<768x768xf32>) -> tensor<256x768xf32>
    stablehlo.return %a, %b : tensor<256x768xf32>, tensor<256x768xf32>
  }, {
    stablehlo.return %x, %x : tensor<256x768xf32>, tensor<256x768xf32>
  }) : (tensor<i1>) -> (tensor<256x768xf32>, tensor<256x768xf32>)
  return %r#0, %r#1 : tensor<256x768xf32>, tensor<256x768xf32>
}
