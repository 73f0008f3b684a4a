// Transposes, reshapes, broadcasts, slices, joins and padding: a function a
// rule, called by the rule's label (see arithmetic.mlir).

func.func @"transpose-identity"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.transpose %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"transpose-transpose"(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %a = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %r = stablehlo.transpose %a, dims = [2, 1, 0] : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  return %r : tensor<4x2x3xf32>
}

func.func @"transpose-to-reshape"(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
  %r = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}

func.func @"transpose-splat"(%s: tensor<f32>) -> tensor<3x2xf32> {
  %a = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @"transpose-broadcast"(%x: tensor<3xf32>) -> tensor<3x2xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %r = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @"reshape-same"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reshape-reshape"(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %a = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = stablehlo.reshape %a : (tensor<3x2xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @"reshape-splat"(%s: tensor<f32>) -> tensor<6xf32> {
  %a = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @"broadcast-same"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"broadcast-broadcast"(%x: tensor<3xf32>) -> tensor<4x2x3xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %r = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  return %r : tensor<4x2x3xf32>
}

func.func @"broadcast-to-reshape"(%x: tensor<3xf32>) -> tensor<1x3x1xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1xf32>
  return %r : tensor<1x3x1xf32>
}

func.func @"broadcast-to-transpose"(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @"broadcast-to-transpose/stays-repeating"(%x: tensor<1x3xf32>) -> tensor<3x2xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @"broadcast-reshape"(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %a = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<1x3x1xf32>
  %r = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

func.func @"broadcast-reshape/unit"(%x: tensor<1x3xf32>) -> tensor<1x3x4xf32> {
  %a = stablehlo.reshape %x : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
  %r = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}

func.func @"broadcast-reshape/stays-split"(%x: tensor<6xf32>) -> tensor<2x3x4xf32> {
  %a = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
  %r = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

func.func @"reverse-nothing"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.reverse %x, dims = [] : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reverse-reverse"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = stablehlo.reverse %x, dims = [1, 0] : tensor<2x3xf32>
  %r = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reverse-unit"(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %r = stablehlo.reverse %x, dims = [0, 1] : tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

func.func @"reverse-unit/stays-longer"(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %r = stablehlo.reverse %x, dims = [1] : tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

func.func @"reverse-splat"(%s: tensor<f32>) -> tensor<2x3xf32> {
  %a = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"slice-full"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.slice %x [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"slice-slice"(%x: tensor<20xf32>) -> tensor<3xf32> {
  %a = stablehlo.slice %x [2:20:3] : (tensor<20xf32>) -> tensor<6xf32>
  %r = stablehlo.slice %a [1:6:2] : (tensor<6xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"slice-concatenate"(%x: tensor<2xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %a = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %r = stablehlo.slice %a [3:5] : (tensor<6xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"slice-concatenate-part"(%x: tensor<2xf32>, %y: tensor<4xf32>, %z: tensor<3xf32>) -> tensor<4xf32> {
  %a = stablehlo.concatenate %x, %y, %z, dim = 0 : (tensor<2xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<9xf32>
  %r = stablehlo.slice %a [4:8] : (tensor<9xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @"slice-concatenate-part/stays-all"(%x: tensor<2xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %r = stablehlo.slice %a [1:5] : (tensor<6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @"slice-splat"(%s: tensor<f32>) -> tensor<1x2xf32> {
  %a = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.slice %a [1:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

func.func @"slice-broadcast"(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<5x3xf32>
  %r = stablehlo.slice %a [1:3, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"slice-broadcast/stays-cut"(%x: tensor<3xf32>) -> tensor<2x2xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<5x3xf32>
  %r = stablehlo.slice %a [1:3, 1:3] : (tensor<5x3xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

func.func @"slice-pad"(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<2xf32> {
  %a = stablehlo.pad %x, %v, low = [2], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  %r = stablehlo.slice %a [3:5] : (tensor<7xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"slice-pad/stays-outside"(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<3xf32> {
  %a = stablehlo.pad %x, %v, low = [2], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  %r = stablehlo.slice %a [1:4] : (tensor<7xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"concatenate-one"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = stablehlo.concatenate %x, dim = 0 : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"concatenate-nested"(%x: tensor<2xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %a = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %r = stablehlo.concatenate %a, %x, dim = 0 : (tensor<6xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func @"concatenate-slices"(%x: tensor<5xf32>) -> tensor<4xf32> {
  %a = stablehlo.slice %x [0:2] : (tensor<5xf32>) -> tensor<2xf32>
  %b = stablehlo.slice %x [2:4] : (tensor<5xf32>) -> tensor<2xf32>
  %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @"concatenate-empty"(%x: tensor<2xf32>, %y: tensor<0xf32>) -> tensor<2xf32> {
  %r = stablehlo.concatenate %y, %x, dim = 0 : (tensor<0xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// One that has no elements, but a size along the dimension.
func.func @"concatenate-empty/stays"(%x: tensor<1x0xf32>, %y: tensor<0xf32>) -> tensor<?x0xf32> {
  %s = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %y, %s : (tensor<0xf32>, tensor<2xi64>) -> tensor<?x0xf32>
  %r = stablehlo.concatenate %x, %d, dim = 0 : (tensor<1x0xf32>, tensor<?x0xf32>) -> tensor<?x0xf32>
  return %r : tensor<?x0xf32>
}

func.func @"concatenate-splats"(%s: tensor<f32>, %x: tensor<1x2xf32>) -> tensor<6x2xf32> {
  %a = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %r = stablehlo.concatenate %x, %a, %b, dim = 0 : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

func.func @"pad-nothing"(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  %r = stablehlo.pad %x, %v, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @"pad-pad"(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<9xf32> {
  %a = stablehlo.pad %x, %v, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %r = stablehlo.pad %a, %v, low = [1], high = [3], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}

func.func @"pad-pad/stays-other"(%x: tensor<4xf32>, %v: tensor<f32>, %w: tensor<f32>) -> tensor<9xf32> {
  %a = stablehlo.pad %x, %v, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %r = stablehlo.pad %a, %w, low = [1], high = [3], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}

func.func @"pad-to-slice"(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<1xf32> {
  %r = stablehlo.pad %x, %v, low = [-2], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}

func.func @"pad-to-slice/stays-adding"(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  %r = stablehlo.pad %x, %v, low = [-1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @"pad-empty"(%x: tensor<0xf32>, %v: tensor<f32>) -> tensor<3xf32> {
  %r = stablehlo.pad %x, %v, low = [1], high = [2], interior = [0] : (tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"pad-splat"(%v: tensor<f32>) -> tensor<5xf32> {
  %a = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %r = stablehlo.pad %a, %v, low = [1], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"pad-convolution"(%x: tensor<1x2x4xf32>, %k: tensor<3x2x3xf32>) -> tensor<1x3x5xf32> {
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.pad %x, %v, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
  return %r : tensor<1x3x5xf32>
}

func.func @"pad-convolution/dilated-by-one"(%x: tensor<1x2x4xf32>, %k: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.pad %x, %v, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}

func.func @"pad-convolution/stays-dilated"(%x: tensor<1x2x4xf32>, %k: tensor<3x2x3xf32>) -> tensor<1x3x9xf32> {
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.pad %x, %v, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x9xf32>
  return %r : tensor<1x3x9xf32>
}

func.func @"take-to-slice"(%x: tensor<4x2xf32>) -> tensor<1x2xf32> {
  %i = stablehlo.constant dense<3> : tensor<1xi64>
  %r = nn.take %x, %i, axis = 0 : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

func.func @"move-transpose"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = stablehlo.exponential %a : tensor<3x2xf32>
  %r = stablehlo.transpose %b, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"move-reshape"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = stablehlo.exponential %a : tensor<6xf32>
  %r = stablehlo.reshape %b : (tensor<6xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
