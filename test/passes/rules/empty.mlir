// What holds nothing, and what is done with it: a function a rule, called by
// the rule's label (see arithmetic.mlir).

func.func @"empty-result/of-several"(%x: tensor<0xi16>, %y: tensor<0xf32>) -> (tensor<0xi16>, tensor<0xf32>) {
  %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>, %c: tensor<f32>, %d: tensor<f32>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i16>, tensor<i16>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<0xi16>, tensor<0xf32>) -> (tensor<0xi16>, tensor<0xf32>)
  return %r#0, %r#1 : tensor<0xi16>, tensor<0xf32>
}

func.func @"empty-result/complex"(%x: tensor<0x2xcomplex<f32>>) -> tensor<0x2xcomplex<f32>> {
  %r = stablehlo.negate %x : tensor<0x2xcomplex<f32>>
  return %r : tensor<0x2xcomplex<f32>>
}

func.func @"while-invariant/nothing"(%x: tensor<i32>, %y: tensor<3x0xf32>) -> (tensor<i32>, tensor<3x0xf32>) {
  %r:2 = stablehlo.while(%i = %x, %j = %y) : tensor<i32>, tensor<3x0xf32>
  cond {
    %c = stablehlo.constant dense<7> : tensor<i32>
    %l = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %k = stablehlo.add %i, %c : tensor<i32>
    %n = stablehlo.negate %j : tensor<3x0xf32>
    stablehlo.return %k, %n : tensor<i32>, tensor<3x0xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<3x0xf32>
}

func.func @"select-and-scatter-nothing"(%x: tensor<3xf32>, %y: tensor<0xf32>, %i: tensor<f32>) -> tensor<3xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %y, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %g = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 4>} : (tensor<3xf32>, tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"reduce-window-empty"(%x: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// Two of the initial value count.
func.func @"reduce-window-empty/stays-counted"(%x: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %z = stablehlo.constant dense<0.5> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"convolution-nothing"(%x: tensor<2x0x4x4xf32>, %k: tensor<3x0x3x3xf32>) -> tensor<2x3x2x2xf32> {
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x0x4x4xf32>, tensor<3x0x3x3xf32>) -> tensor<2x3x2x2xf32>
  return %r : tensor<2x3x2x2xf32>
}

func.func @"gather-first"(%x: tensor<3x4xf32>, %i: tensor<5x0xi32>) -> tensor<5x2xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x4xf32>, tensor<5x0xi32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

func.func @"gather-first/stays-indexed"(%x: tensor<3x4xf32>, %i: tensor<5x1xi32>) -> tensor<5x2xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x4xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// Sizes that are unknown beside the one that is 0.
func.func @"dynamic-update-nothing/open"(%x0: tensor<2x4xf32>, %u0: tensor<2x0xf32>, %i: tensor<i32>) -> tensor<?x4xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x4xf32>) -> tensor<?x4xf32>
  %u = stablehlo.convert %u0 : (tensor<2x0xf32>) -> tensor<?x0xf32>
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<?x4xf32>, tensor<?x0xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @"scatter-nothing/open"(%x0: tensor<2x4xf32>, %i: tensor<0x1xi32>, %u: tensor<0x4xf32>) -> tensor<?x4xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x4xf32>) -> tensor<?x4xf32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<0x1xi32>, tensor<0x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @"reduce-empty/open"(%x0: tensor<2x0x3xf32>, %i: tensor<f32>) -> tensor<?x3xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x0x3xf32>) -> tensor<?x0x3xf32>
  %r = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<?x0x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @"dot-nothing/open"(%x0: tensor<2x0xf32>, %y0: tensor<0x2xf32>) -> tensor<?x?xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x0xf32>) -> tensor<?x0xf32>
  %y = stablehlo.convert %y0 : (tensor<0x2xf32>) -> tensor<0x?xf32>
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x0xf32>, tensor<0x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
