// RUN: sinter-opt %s --split-input-file --cpu-form-kernels | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-form-kernels=disable-patterns=join-producer,collapse-dimensions' | FileCheck %s --check-prefix=OFF

// One loop, over dimensions that lie side by side as one.
// CHECK-LABEL: func.func @main
// CHECK: %[[K:.*]] = cpu.kernel(%arg0, %arg1)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<8x64x196xf32>, %{{.*}}: tensor<64xf32>)
// CHECK: stablehlo.exponential
// CHECK: stablehlo.add {{.*}} : tensor<8x64x196xf32>
// CHECK: cpu.yield
// CHECK: return %[[K]]
// OFF-COUNT-2: cpu.yield %{{.*}} : tensor<8x64x14x14xf32>
func.func @main(%x: tensor<8x64x14x14xf32>, %b: tensor<64xf32>) -> tensor<8x64x14x14xf32> {
  %s = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<8x64x14x14xf32>
  %e = stablehlo.exponential %x : tensor<8x64x14x14xf32>
  %a = stablehlo.add %e, %s : tensor<8x64x14x14xf32>
  return %a : tensor<8x64x14x14xf32>
}

// -----

// Distances from a mean are computed again by each who reads them: nobody
// writes them.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(
// CHECK: stablehlo.subtract
// CHECK: stablehlo.multiply
// CHECK: cpu.kernel(
// CHECK: stablehlo.subtract
// CHECK: stablehlo.tanh
// CHECK-NOT: cpu.kernel
func.func @main(%x: tensor<8x64x196xf32>, %m: tensor<64xf32>) -> (tensor<8x64x196xf32>, tensor<8x64x196xf32>) {
  %s = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<64xf32>) -> tensor<8x64x196xf32>
  %d = stablehlo.subtract %x, %s : tensor<8x64x196xf32>
  %a = stablehlo.multiply %d, %d : tensor<8x64x196xf32>
  %b = stablehlo.tanh %d : tensor<8x64x196xf32>
  return %a, %b : tensor<8x64x196xf32>, tensor<8x64x196xf32>
}

// -----

// Not where somebody reads them from memory (here as a result), nor what is
// computed of two tensors or takes long.
// CHECK-LABEL: func.func @main
// CHECK: %[[D:.*]] = cpu.kernel(
// CHECK: stablehlo.subtract
// CHECK: cpu.yield
// CHECK: %[[S:.*]] = cpu.kernel(
// CHECK: stablehlo.add
// CHECK: cpu.yield
// CHECK: %[[L:.*]] = cpu.kernel(
// CHECK: stablehlo.log
// CHECK: cpu.yield
// CHECK-COUNT-6: cpu.kernel(
// CHECK-NOT: cpu.kernel
func.func @main(%x: tensor<64x196xf32>, %y: tensor<64x196xf32>, %m: tensor<f32>)
    -> (tensor<64x196xf32>, tensor<64x196xf32>, tensor<64x196xf32>, tensor<64x196xf32>, tensor<64x196xf32>,
        tensor<64x196xf32>, tensor<64x196xf32>) {
  %n = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<64x196xf32>
  %d = stablehlo.subtract %x, %n : tensor<64x196xf32>
  %s = stablehlo.add %x, %y : tensor<64x196xf32>
  %l = stablehlo.log %x : tensor<64x196xf32>
  %0 = stablehlo.tanh %d : tensor<64x196xf32>
  %1 = stablehlo.sine %d : tensor<64x196xf32>
  %2 = stablehlo.tanh %s : tensor<64x196xf32>
  %3 = stablehlo.sine %s : tensor<64x196xf32>
  %4 = stablehlo.tanh %l : tensor<64x196xf32>
  %5 = stablehlo.sine %l : tensor<64x196xf32>
  return %0, %1, %2, %3, %4, %5, %d : tensor<64x196xf32>, tensor<64x196xf32>, tensor<64x196xf32>,
      tensor<64x196xf32>, tensor<64x196xf32>, tensor<64x196xf32>, tensor<64x196xf32>
}

// -----

// What such an operation reads is computed once: a product with its bias and
// what takes long are written.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: stablehlo.dot_general
// CHECK-NOT: stablehlo.dot_general
// CHECK-COUNT-1: stablehlo.exponential
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>, %b: tensor<48xf32>)
    -> (tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>) {
  %s = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<48xf32>) -> tensor<64x48xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %a = stablehlo.add %p, %s : tensor<64x48xf32>
  %0 = stablehlo.tanh %a : tensor<64x48xf32>
  %1 = stablehlo.sine %a : tensor<64x48xf32>
  %e = stablehlo.exponential %0 : tensor<64x48xf32>
  %f = stablehlo.multiply %e, %s : tensor<64x48xf32>
  %2 = stablehlo.tanh %f : tensor<64x48xf32>
  %3 = stablehlo.sine %f : tensor<64x48xf32>
  return %0, %1, %2, %3 : tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>
}

// -----

// Of a chain behind a product that two kernels read, nothing is computed twice:
// the greatest is found among what the product's kernel wrote.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.multiply
// CHECK: stablehlo.add
// CHECK: stablehlo.clamp
// CHECK: cpu.yield
// CHECK: cpu.kernel(
// CHECK-NEXT: ^bb0
// CHECK-NOT: stablehlo.clamp
// CHECK: stablehlo.reduce
// CHECK: cpu.kernel(
// CHECK-NEXT: ^bb0
// CHECK-NOT: stablehlo.clamp
// CHECK: stablehlo.divide
// CHECK-NOT: cpu.kernel
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>, %b: tensor<48xf32>, %f: tensor<f32>) -> tensor<64x48xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %six = stablehlo.constant dense<6.0> : tensor<f32>
  %s = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<48xf32>) -> tensor<64x48xf32>
  %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<64x48xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %m = stablehlo.multiply %p, %g : tensor<64x48xf32>
  %a = stablehlo.add %m, %s : tensor<64x48xf32>
  %c = stablehlo.clamp %zero, %a, %six : (tensor<f32>, tensor<64x48xf32>, tensor<f32>) -> tensor<64x48xf32>
  %r = stablehlo.reduce(%c init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<64x48xf32>, tensor<f32>) -> tensor<48xf32>
  %t = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<48xf32>) -> tensor<64x48xf32>
  %d = stablehlo.divide %c, %t : tensor<64x48xf32>
  return %d : tensor<64x48xf32>
}

// -----

// Kernels do not say what constants are called, so that layers that compute the
// same have the same kernel.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(
// CHECK-NOT: sinter.name
// CHECK: return
func.func @main(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %a = stablehlo.constant {sinter.name = "layers.0.epsilon"} dense<1.0e-5> : tensor<8x64xf32>
  %z = stablehlo.constant {sinter.name = "zero"} dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %a {sinter.source = 3 : i64} : tensor<8x64xf32>
  %1 = stablehlo.reduce(%0 init: %z) across dimensions = [1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<8xf32>
   reducer(%l: tensor<f32>, %r: tensor<f32>) {
    %c = stablehlo.constant {sinter.name = "layers.0.factor"} dense<0.5> : tensor<f32>
    %m = stablehlo.multiply %r, %c {sinter.source = 3 : i64} : tensor<f32>
    %s = stablehlo.add %l, %m : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %1 : tensor<8xf32>
}

// -----

// A softmax passes over its rows several times.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(%arg0) {rows = 1 : i64}
// CHECK: stablehlo.reduce
// CHECK: stablehlo.divide
// CHECK-NOT: cpu.kernel
func.func @main(%x: tensor<16x100xf32>) -> tensor<16x100xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<16x100xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<16x100xf32>, tensor<f32>) -> tensor<16xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<16xf32>) -> tensor<16x100xf32>
  %d = stablehlo.divide %e, %b : tensor<16x100xf32>
  return %d : tensor<16x100xf32>
}

// -----

// What follows a convolution is computed on its results, into another type,
// too.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel({{.*}}) {constant_inputs = array<i64: 1>} : {{.*}} -> tensor<1x1x8x8x16xi8>
// CHECK: "cpu.convolution"
// CHECK: stablehlo.convert {{.*}} -> tensor<1x1x8x8x16xi8>
// CHECK-NOT: cpu.kernel
func.func @main(%x: tensor<1x1x8x8x16xf32>) -> tensor<1x1x8x8x16xi8> {
  %w = stablehlo.constant dense<0.25> : tensor<16x16x1x1xf32>
  %0 = "cpu.convolution"(%x, %w) {output_channels = 16 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x1x8x8x16xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<1x1x8x8x16xf32>
  %2 = stablehlo.convert %1 : (tensor<1x1x8x8x16xf32>) -> tensor<1x1x8x8x16xi8>
  return %2 : tensor<1x1x8x8x16xi8>
}

// -----

// A part of an input is replaced in place.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel({{.*}}) {updated = {{[0-9]+}} : i64}
func.func @main(%x: tensor<64x8xf32>, %u: tensor<1x8xf32>, %i: tensor<i32>) -> tensor<64x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %zero
    : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

// Parts are copied in long rows, and so is what is padded: what lies behind a
// joined or padded dimension becomes one with it.
// CHECK-LABEL: func.func @main
// CHECK: ^bb0(%{{.*}}: tensor<4x6400xui8>, %{{.*}}: tensor<4x3200xui8>)
// CHECK: stablehlo.concatenate {{.*}}, dim = 1 : (tensor<4x6400xui8>, tensor<4x3200xui8>) -> tensor<4x9600xui8>
// CHECK: ^bb0(%{{.*}}: tensor<4x10x160xui8>, %{{.*}}: tensor<ui8>)
// CHECK: stablehlo.pad {{.*}}, low = [0, 1, 32], high = [0, 2, 0]
// CHECK-SAME: -> tensor<4x13x192xui8>
// Nothing becomes one of gaps between elements.
// CHECK: ^bb0(%{{.*}}: tensor<4x1x10x10x16xui8>, %{{.*}}: tensor<ui8>)
func.func @main(%a: tensor<4x4x10x10x16xui8>, %b: tensor<4x2x10x10x16xui8>, %c: tensor<4x1x10x10x16xui8>, %z: tensor<ui8>) -> (tensor<4x6x10x10x16xui8>, tensor<4x1x13x12x16xui8>, tensor<4x1x10x19x16xui8>) {
  %j = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x4x10x10x16xui8>, tensor<4x2x10x10x16xui8>) -> tensor<4x6x10x10x16xui8>
  %p = stablehlo.pad %c, %z, low = [0, 0, 1, 2, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0]
    : (tensor<4x1x10x10x16xui8>, tensor<ui8>) -> tensor<4x1x13x12x16xui8>
  %g = stablehlo.pad %c, %z, low = [0, 0, 0, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 1, 0]
    : (tensor<4x1x10x10x16xui8>, tensor<ui8>) -> tensor<4x1x10x19x16xui8>
  return %j, %p, %g : tensor<4x6x10x10x16xui8>, tensor<4x1x13x12x16xui8>, tensor<4x1x10x19x16xui8>
}

// -----

// Bytes are looked up beside what is elementwise, and by themselves before rows
// and what moves elements.
// CHECK-LABEL: func.func @main
// CHECK: ^bb0(%{{.*}}: tensor<1600xui8>, %{{.*}}: tensor<256xi8>)
// CHECK-NEXT: cpu.lookup
// CHECK-NEXT: cpu.yield
// CHECK: cpu.kernel({{.*}}) {rows = 1 : i64}
// CHECK: cpu.kernel
// CHECK: stablehlo.transpose
// CHECK-NOT: cpu.lookup
// CHECK: ^bb0(%{{.*}}: tensor<1600xf32>, %{{.*}}: tensor<256xi8>)
// CHECK: stablehlo.convert
// CHECK: cpu.lookup
// CHECK: stablehlo.convert {{.*}} -> tensor<1600xf32>
func.func @main(%x: tensor<16x100xui8>, %t: tensor<256xi8>, %f: tensor<16x100xf32>) -> (tensor<16xf32>, tensor<100x16xi8>, tensor<16x100xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %l = cpu.lookup %x, %t : (tensor<16x100xui8>, tensor<256xi8>) -> tensor<16x100xi8>
  %c = stablehlo.convert %l : (tensor<16x100xi8>) -> tensor<16x100xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<16x100xf32>, tensor<f32>) -> tensor<16xf32>
  %r = stablehlo.transpose %l, dims = [1, 0] : (tensor<16x100xi8>) -> tensor<100x16xi8>
  %b = stablehlo.convert %f : (tensor<16x100xf32>) -> tensor<16x100xui8>
  %m = cpu.lookup %b, %t : (tensor<16x100xui8>, tensor<256xi8>) -> tensor<16x100xi8>
  %y = stablehlo.convert %m : (tensor<16x100xi8>) -> tensor<16x100xf32>
  return %s, %r, %y : tensor<16xf32>, tensor<100x16xi8>, tensor<16x100xf32>
}

// -----

// What makes bytes of a product's sums is computed in its kernel, whoever reads
// them: rows, transposes, or the kernel of another product, which has its own
// sums in registers.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.int8_product"
// CHECK: cpu.yield %{{.*}} : tensor<32x48xi8>
// CHECK: stablehlo.transpose
// CHECK: cpu.yield %{{.*}} : tensor<48x32xf32>
// CHECK: "cpu.int8_product"
// CHECK: cpu.yield %{{.*}} : tensor<32x48xi8>
// CHECK: "cpu.int8_product"
// CHECK: stablehlo.add
// CHECK: cpu.yield %{{.*}} : tensor<32x48xf32>
func.func @main(%x: tensor<32x64xui8>, %y: tensor<32x64xui8>) -> (tensor<48x32xf32>, tensor<32x48xf32>) {
  %w = stablehlo.constant dense<3> : tensor<64x48xi8>
  %0 = "cpu.int8_product"(%x, %w) {contracting = array<i64: 0>} : (tensor<32x64xui8>, tensor<64x48xi8>) -> tensor<32x48xi32>
  %1 = stablehlo.convert %0 : (tensor<32x48xi32>) -> tensor<32x48xi8>
  %2 = stablehlo.convert %1 : (tensor<32x48xi8>) -> tensor<32x48xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<32x48xf32>) -> tensor<48x32xf32>
  %4 = "cpu.int8_product"(%x, %w) {contracting = array<i64: 0>} : (tensor<32x64xui8>, tensor<64x48xi8>) -> tensor<32x48xi32>
  %5 = stablehlo.convert %4 : (tensor<32x48xi32>) -> tensor<32x48xi8>
  %6 = stablehlo.convert %5 : (tensor<32x48xi8>) -> tensor<32x48xf32>
  %7 = "cpu.int8_product"(%y, %w) {contracting = array<i64: 0>} : (tensor<32x64xui8>, tensor<64x48xi8>) -> tensor<32x48xi32>
  %8 = stablehlo.convert %7 : (tensor<32x48xi32>) -> tensor<32x48xi8>
  %9 = stablehlo.convert %8 : (tensor<32x48xi8>) -> tensor<32x48xf32>
  %10 = stablehlo.add %6, %9 : tensor<32x48xf32>
  return %3, %10 : tensor<48x32xf32>, tensor<32x48xf32>
}

// -----

// So it is with sums of integers that are taken in f32; sums of floats are read
// again.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general
// CHECK-NEXT: stablehlo.convert {{.*}} -> tensor<4x32x48xi8>
// CHECK-NEXT: cpu.yield
// CHECK: stablehlo.dot_general
// CHECK-NEXT: cpu.yield
func.func @main(%x: tensor<4x32x64xf32>, %y: tensor<4x64x48xf32>) -> (tensor<4x32x48xi8>, tensor<4x32x48xi8>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sinter.exact}
    : (tensor<4x32x64xf32>, tensor<4x64x48xf32>) -> tensor<4x32x48xf32>
  %1 = stablehlo.convert %0 : (tensor<4x32x48xf32>) -> tensor<4x32x48xi8>
  %2 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<4x32x64xf32>, tensor<4x64x48xf32>) -> tensor<4x32x48xf32>
  %3 = stablehlo.convert %2 : (tensor<4x32x48xf32>) -> tensor<4x32x48xi8>
  return %1, %3 : tensor<4x32x48xi8>, tensor<4x32x48xi8>
}

// -----

// What is padded has fewer dimensions than the result, which stay two.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel
// CHECK: stablehlo.pad {{.*}} -> tensor<40xf32>
// CHECK: stablehlo.add {{.*}} : tensor<8x40xf32>
func.func @main(%x: tensor<8x40xf32>, %v: tensor<32xf32>) -> tensor<8x40xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %v, %zero, low = [3], high = [5], interior = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<40xf32>
  %b = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<40xf32>) -> tensor<8x40xf32>
  %a = stablehlo.add %x, %b : tensor<8x40xf32>
  return %a : tensor<8x40xf32>
}

// -----

// A number that two kernels of one number want is computed in both.
// CHECK-LABEL: func.func @numbers
// CHECK: %[[A:.*]] = cpu.kernel(%arg0{{.*}}
// CHECK: stablehlo.minimum
// CHECK: stablehlo.exponential
// CHECK: cpu.kernel(%arg0{{.*}}
// CHECK: stablehlo.minimum
// CHECK: stablehlo.divide
// CHECK-NOT: cpu.kernel
func.func @numbers(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %l = stablehlo.minimum %x, %y : tensor<f32>
  %a = stablehlo.exponential %l : tensor<f32>
  %d = stablehlo.divide %l, %y : tensor<f32>
  return %a, %d : tensor<f32>, tensor<f32>
}

// -----

// What is repeated often is computed once, if that takes several operations: a
// kernel of its own makes the mask.
// CHECK-LABEL: func.func @main
// CHECK: %[[MASK:.*]] = cpu.kernel(%arg1)
// CHECK: stablehlo.round_nearest_even
// CHECK: cpu.yield %{{.*}} : tensor<128xf32>
// CHECK: cpu.kernel(
// CHECK-NOT: stablehlo.round_nearest_even
// CHECK: cpu.yield
func.func @main(%x: tensor<1536x128xf32>, %m: tensor<1x128xi64>) -> tensor<1536x128xf32> {
  %c = stablehlo.constant dense<3.0> : tensor<1x128xf32>
  %f = stablehlo.convert %m : (tensor<1x128xi64>) -> tensor<1x128xf32>
  %a = stablehlo.multiply %f, %c : tensor<1x128xf32>
  %b = stablehlo.round_nearest_even %a : tensor<1x128xf32>
  %d = stablehlo.subtract %b, %c : tensor<1x128xf32>
  %r = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1536x128xf32>
  %y = stablehlo.add %x, %r : tensor<1536x128xf32>
  return %y : tensor<1536x128xf32>
}

// -----

// The same along sizes that are not known, of what a gather finds its slices by
// and of what it multiplies them by: the indices and weights of a resize.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(%arg1)
// CHECK: stablehlo.convert {{.*}}xi64
// CHECK: cpu.yield
// CHECK: cpu.kernel(%arg1)
// CHECK: stablehlo.abs
// CHECK: cpu.yield
// CHECK: cpu.kernel(
// CHECK-NOT: stablehlo.abs
// CHECK: "stablehlo.gather"
// CHECK: cpu.yield
#w = array<i64: 4611686019938890697>
#y = array<i64: 1, 64, 4611686019938890697, 16>
func.func @main(%x: tensor<1x64x32x16xf32>, %m: tensor<?xf32, #w>) -> tensor<1x64x?x16xf32, #y> {
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %r = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<?xf32, #w>
  %a = stablehlo.add %m, %r : tensor<?xf32, #w>
  %b = stablehlo.maximum %a, %r : tensor<?xf32, #w>
  %d = stablehlo.minimum %b, %r : tensor<?xf32, #w>
  %i = stablehlo.convert %d : (tensor<?xf32, #w>) -> tensor<?xi64, #w>
  %e = stablehlo.subtract %m, %r : tensor<?xf32, #w>
  %f = stablehlo.abs %e : tensor<?xf32, #w>
  %g = stablehlo.subtract %r, %f : tensor<?xf32, #w>
  %h = stablehlo.maximum %g, %r : tensor<?xf32, #w>
  %t = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64, 1, 16>}> : (tensor<1x64x32x16xf32>, tensor<?xi64, #w>) -> tensor<1x64x?x16xf32, #y>
  %s = stablehlo.broadcast_in_dim %h, dims = [2] : (tensor<?xf32, #w>) -> tensor<1x64x?x16xf32, #y>
  %z = stablehlo.multiply %t, %s : tensor<1x64x?x16xf32, #y>
  return %z : tensor<1x64x?x16xf32, #y>
}

// -----

// Few operations, or for few elements, are not worth a kernel.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: cpu.kernel(
// CHECK-NOT: cpu.kernel(
func.func @main(%x: tensor<1536x128xf32>, %z: tensor<256x128xf32>, %m: tensor<1x128xi64>) -> (tensor<1536x128xf32>, tensor<256x128xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<1x128xf32>
  %f = stablehlo.convert %m : (tensor<1x128xi64>) -> tensor<1x128xf32>
  %a = stablehlo.multiply %f, %c : tensor<1x128xf32>
  %r = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1536x128xf32>
  %y = stablehlo.add %x, %r : tensor<1536x128xf32>
  %g = stablehlo.convert %m : (tensor<1x128xi64>) -> tensor<1x128xf32>
  %b = stablehlo.add %g, %c : tensor<1x128xf32>
  %d = stablehlo.round_nearest_even %b : tensor<1x128xf32>
  %e = stablehlo.subtract %d, %c : tensor<1x128xf32>
  %s = stablehlo.broadcast_in_dim %e, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<256x128xf32>
  %w = stablehlo.add %z, %s : tensor<256x128xf32>
  return %y, %w : tensor<1536x128xf32>, tensor<256x128xf32>
}

// -----

// Operations stand in the order in which the result needs them, wherever they
// stood, so that both kernels have one text.
// CHECK-LABEL: func.func @main
// CHECK: cpu.kernel(%arg0, %arg1)
// CHECK: exponential
// CHECK-NEXT: tanh
// CHECK: cpu.kernel(%arg2, %arg1)
// CHECK: exponential
// CHECK-NEXT: tanh
func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %z: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %a = stablehlo.exponential %x : tensor<8x64xf32>
  %b = stablehlo.tanh %y : tensor<8x64xf32>
  %c = stablehlo.add %a, %b : tensor<8x64xf32>
  %e = stablehlo.tanh %y : tensor<8x64xf32>
  %d = stablehlo.exponential %z : tensor<8x64xf32>
  %f = stablehlo.add %d, %e : tensor<8x64xf32>
  return %c, %f : tensor<8x64xf32>, tensor<8x64xf32>
}
