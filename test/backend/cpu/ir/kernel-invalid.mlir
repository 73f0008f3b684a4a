// RUN: sinter-opt %s --split-input-file --verify-diagnostics
// Covers: backend/cpu/ir CpuDialect LayoutOps

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{says that input 1 is constant, and has 1 inputs}}
  %0 = cpu.kernel(%x) {constant_inputs = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = stablehlo.negate %a : tensor<4xf32>
    cpu.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{does not name its constant inputs in order}}
  %0 = cpu.kernel(%x, %y) {constant_inputs = array<i64: 1, 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = stablehlo.add %a, %b : tensor<4xf32>
    cpu.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{says that 2 dimensions number rows, and yields 1}}
  %0 = cpu.kernel(%x) {rows = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = stablehlo.negate %a : tensor<4xf32>
    cpu.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{says that it updates input 3, and has 1 inputs}}
  %0 = cpu.kernel(%x) {updated = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = stablehlo.negate %a : tensor<4xf32>
    cpu.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  // expected-error @+1 {{updates 'tensor<4xf32>' and gives 'tensor<2xf32>'}}
  %0 = cpu.kernel(%x, %i) {updated = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<i32>):
    %1 = stablehlo.dynamic_slice %a, %b, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    cpu.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  // expected-error @+1 {{updates an input that it reads besides}}
  %0 = cpu.kernel(%x, %u, %i) {updated = 0 : i64} : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<i32>):
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    %2 = stablehlo.dynamic_update_slice %1, %b, %c : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
    cpu.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Elements of other places are read.
func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{updates an input that it reads besides}}
  %0 = cpu.kernel(%x) {updated = 0 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %1 = stablehlo.tanh %a : tensor<2x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.add %a, %2 : tensor<2x2xf32>
    cpu.yield %3 : tensor<2x2xf32>
  }
  return %0 : tensor<2x2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{yields 'tensor<4xf32>' as 'tensor<4xf64>'}}
  %0 = cpu.kernel(%x) : (tensor<4xf32>) -> tensor<4xf64> {
  ^bb0(%a: tensor<4xf32>):
    %1 = stablehlo.negate %a : tensor<4xf32>
    cpu.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf64>
}
