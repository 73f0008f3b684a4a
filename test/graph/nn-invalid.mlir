// RUN: sinter-opt %s -verify-diagnostics -split-input-file

func.func @take(%x: tensor<2x3xf32>, %i: tensor<1xi64>) -> tensor<2x1xf32> {
  // expected-error@+1 {{axis 2 is not a dimension of the operand}}
  %r = nn.take %x, %i, axis = 2 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// -----

func.func @broadcast(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{shapes do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = nn.broadcast_like %x, %y : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
