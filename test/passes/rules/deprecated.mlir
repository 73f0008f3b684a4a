// Tuples, deprecated operations, dynamic ones of constants: a function a rule,
// called by the rule's label (see arithmetic.mlir).

func.func @"tuple-element"(%x: tensor<2xf32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %t = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

func.func @"tuple-elements"(%x: tensor<2xf32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %t = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<3xi32>>
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<2xf32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  %u = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %u[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

func.func @"dot-to-dot-general"(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %r = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

func.func @"broadcast-to-in-dim"(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.broadcast %x, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"einsum-to-dot-general"(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %r = stablehlo.einsum %x, %y, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

func.func @"unary-einsum-to-reduce"(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %r = stablehlo.unary_einsum %x, config = "ij->i" : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"torch-index-select-to-gather"(%x: tensor<5x3xf32>) -> tensor<2x3xf32> {
  %i = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %r = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"dynamic-pad-constant"(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %l = stablehlo.constant dense<1> : tensor<1xi64>
  %h = stablehlo.constant dense<2> : tensor<1xi64>
  %i = stablehlo.constant dense<0> : tensor<1xi64>
  %r = stablehlo.dynamic_pad %x, %v, %l, %h, %i : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @"dynamic-gather-constant"(%x: tensor<5x3xf32>) -> tensor<2x3xf32> {
  %i = stablehlo.constant dense<[[3], [1]]> : tensor<2x1xi32>
  %s = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %r = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<5x3xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"dynamic-conv-constant"(%x: tensor<1x2x4xf32>, %k: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %p = stablehlo.constant dense<1> : tensor<1x2xi64>
  %r = "stablehlo.dynamic_conv"(%x, %k, %p) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x2x4xf32>, tensor<3x2x3xf32>, tensor<1x2xi64>) -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}

func.func @"dynamic-broadcast-broadcast"(%x: tensor<3xf32>) -> tensor<4x2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[4, 2, 3]> : tensor<3xi64>
  %a = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %r = stablehlo.dynamic_broadcast_in_dim %a, %t, dims = [1, 2] : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<4x2x3xf32>
  return %r : tensor<4x2x3xf32>
}

func.func @"set-dimension-size-same"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<3> : tensor<i32>
  %r = stablehlo.set_dimension_size %x, %s, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"create-token-to-after-all"(%x: tensor<3xf32>) -> tensor<3xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %o = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}> : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<3xf32>
}

func.func @"map-inline"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %r = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<0.5> : tensor<f32>
    %d = stablehlo.add %a, %c : tensor<f32>
    %e = stablehlo.clamp %b, %d, %c : tensor<f32>
    %f = stablehlo.compare LT, %e, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %f : tensor<i1>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}
// Something else than arithmetic of elements.
func.func @"map-inline/stays"(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %d = stablehlo.reduce(%b init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
