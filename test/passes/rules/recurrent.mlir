// Recurrent layers: a function a rule, called by the rule's label (see
// arithmetic.mlir).

func.func @"recurrent-zero-state"(%x: tensor<4x2x3xf32>, %w: tensor<1x20x3xf32>, %r: tensor<1x20x5xf32>, %b: tensor<1x40xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x2x5xf32>
  %y, %h, %c = "nn.lstm"(%x, %w, %r, %b, %s, %s) <{direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"], input_forget = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1, 0>}> : (tensor<4x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>, tensor<1x40xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return %y, %h, %c : tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>
}
func.func @"recurrent-zero-state/stays"(%x: tensor<4x2x3xf32>, %w: tensor<1x5x3xf32>, %r: tensor<1x5x5xf32>) -> tensor<4x1x2x5xf32> {
  %s = stablehlo.constant dense<0.5> : tensor<1x2x5xf32>
  %y, %h = "nn.rnn"(%x, %w, %r, %s) <{direction = "forward", activations = ["Relu"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>}> : (tensor<4x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>, tensor<1x2x5xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)
  return %y : tensor<4x1x2x5xf32>
}
