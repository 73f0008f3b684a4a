// Slices and updates at positions known only at run time, gather, scatter, iota, and what
// has no elements: a function a rule, called by the rule's label (see
// arithmetic.mlir).

func.func @"dynamic-slice-full"(%x: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x3xf32> {
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"dynamic-slice-to-slice"(%x: tensor<5x3xf32>) -> tensor<2x3xf32> {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %j = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// Starts outside are moved inside.
func.func @"dynamic-slice-to-slice/clamped"(%x: tensor<5x3xf32>) -> tensor<2x2xf32> {
  %i = stablehlo.constant dense<9> : tensor<i32>
  %j = stablehlo.constant dense<-4> : tensor<i32>
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

func.func @"dynamic-slice-to-slice/unsigned"(%x: tensor<5xf32>) -> tensor<2xf32> {
  %i = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<ui64>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"dynamic-slice-to-slice/stays-unknown"(%x: tensor<5xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"dynamic-slice-splat"(%s: tensor<f32>, %i: tensor<i32>) -> tensor<2xf32> {
  %x = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<5xf32>
  %r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"dynamic-slice-update"(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %a = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %r = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"dynamic-slice-update/stays-longer"(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %a = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %r = stablehlo.dynamic_slice %a, %i, sizes = [3] : (tensor<5xf32>, tensor<i32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"dynamic-update-nothing"(%x: tensor<5xf32>, %u: tensor<0xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<5xf32>, tensor<0xf32>, tensor<i32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"dynamic-update-full"(%x: tensor<5xf32>, %u: tensor<5xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<5xf32>, tensor<5xf32>, tensor<i32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"dynamic-update-again"(%x: tensor<5xf32>, %u: tensor<2xf32>, %v: tensor<2xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %a = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %r = stablehlo.dynamic_update_slice %a, %v, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"gather-to-slice"(%x: tensor<5x3xf32>) -> tensor<3xf32> {
  %i = stablehlo.constant dense<[3]> : tensor<1xi32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<1xi32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"gather-to-slice/clamped"(%x: tensor<5x3xf32>) -> tensor<1x2x3xf32> {
  %i = stablehlo.constant dense<[[9, 1]]> : tensor<1x2xi32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>}> : (tensor<5x3xf32>, tensor<1x2xi32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}

func.func @"gather-steps"(%x: tensor<7x3xf32>) -> tensor<3x3xf32> {
  %i = stablehlo.constant dense<[[1], [3], [5]]> : tensor<3x1xi32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

func.func @"gather-steps/last"(%x: tensor<2x7xf32>) -> tensor<2x3xf32> {
  %i = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}> : (tensor<2x7xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"gather-steps/stays-uneven"(%x: tensor<7x3xf32>) -> tensor<3x3xf32> {
  %i = stablehlo.constant dense<[[1], [3], [4]]> : tensor<3x1xi32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

func.func @"scatter-nothing"(%x: tensor<5xf32>, %u: tensor<0xf32>, %i: tensor<0x1xi32>) -> tensor<5xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"iota-unit"() -> tensor<1x3xf32> {
  %r = stablehlo.iota dim = 0 : tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

func.func @"iota-broadcast"() -> tensor<2x3xf32> {
  %r = stablehlo.iota dim = 1 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"empty-result"(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %r = stablehlo.exponential %x : tensor<0x3xf32>
  return %r : tensor<0x3xf32>
}

func.func @"dimension-size-constant"(%x: tensor<2x3xf32>) -> tensor<i32> {
  %r = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  return %r : tensor<i32>
}

func.func @"dynamic-reshape-constant"(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @"dynamic-broadcast-constant"(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"dynamic-iota-constant"() -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"dynamic-slice-constant"(%x: tensor<5xf32>) -> tensor<2xf32> {
  %a = stablehlo.constant dense<1> : tensor<1xi64>
  %b = stablehlo.constant dense<4> : tensor<1xi64>
  %c = stablehlo.constant dense<2> : tensor<1xi64>
  %r = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"shape-constant"(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %r = nn.shape %x : (tensor<2x3xf32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

func.func @"broadcast-like-static"(%x: tensor<3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.broadcast_like %x, %y : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"gather-splat"(%s: tensor<f32>, %i: tensor<2x1xi32>) -> tensor<2x3xf32> {
  %x = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @"gather-splat/constant"(%i: tensor<2x1xi32>) -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<2.5> : tensor<5x3xf32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @"dynamic-slice-splat/constant"(%i: tensor<i32>) -> tensor<1xcomplex<f32>> {
  %x = stablehlo.constant dense<(1.0, 2.0)> : tensor<5xcomplex<f32>>
  %r = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<5xcomplex<f32>>, tensor<i32>) -> tensor<1xcomplex<f32>>
  return %r : tensor<1xcomplex<f32>>
}

func.func @"set-dimension-size-slice"(%x: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @"scatter-full"(%x: tensor<2x3xf32>, %u: tensor<1x2x3xf32>) -> tensor<2x3xf32> {
  %i = stablehlo.constant dense<0> : tensor<1x2xi32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<1x2xi32>, tensor<1x2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"scatter-full/no-index"(%x: tensor<f32>, %i: tensor<1x0xi32>, %u: tensor<1xf32>) -> tensor<f32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], scatter_dims_to_operand_dims = [], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>, tensor<1x0xi32>, tensor<1xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @"scatter-full/stays-elsewhere"(%x: tensor<3xf32>, %u: tensor<1x3xf32>) -> tensor<3xf32> {
  %i = stablehlo.constant dense<1> : tensor<1x1xi32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3xf32>, tensor<1x1xi32>, tensor<1x3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"scatter-full/stays-part"(%x: tensor<3xf32>, %u: tensor<1x2xf32>) -> tensor<3xf32> {
  %i = stablehlo.constant dense<0> : tensor<1x1xi32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3xf32>, tensor<1x1xi32>, tensor<1x2xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"raise-rows"(%x: tensor<6x3x5xf32>, %i: tensor<4xi64>, %j: tensor<4x3x5x1xi64>, %u: tensor<4x3x5xf32>) -> tensor<6x3x5xf32> {
  %z = stablehlo.constant dense<0> : tensor<4x3x5xi64>
  %n = stablehlo.constant dense<6> : tensor<4x3x5xi64>
  %w = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<4xi64>) -> tensor<4x3x5xi64>
  %c = stablehlo.compare LT, %w, %z : (tensor<4x3x5xi64>, tensor<4x3x5xi64>) -> tensor<4x3x5xi1>
  %m = stablehlo.add %w, %n : tensor<4x3x5xi64>
  %e = stablehlo.select %c, %m, %w : tensor<4x3x5xi1>, tensor<4x3x5xi64>
  %f = stablehlo.reshape %e : (tensor<4x3x5xi64>) -> tensor<4x3x5x1xi64>
  %g = stablehlo.iota dim = 1 : tensor<4x3x5x1xi64>
  %v = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi64>
  %h = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<5xi64>) -> tensor<4x3x5x1xi64>
  %k = stablehlo.concatenate %f, %g, %h, dim = 3 : (tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>) -> tensor<4x3x5x3xi64>
  %r = "stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x3x5xf32>, tensor<4x3x5x3xi64>, tensor<4x3x5xf32>) -> tensor<6x3x5xf32>
  return %r : tensor<6x3x5xf32>
}

// The middle dimension has indices of its own, the same along the last one.
func.func @"raise-rows/of-columns"(%x: tensor<6x3x5xf32>, %i: tensor<4xi64>, %j: tensor<4x3x5x1xi64>, %u: tensor<4x3x5xf32>) -> tensor<6x3x5xf32> {
  %z = stablehlo.constant dense<0> : tensor<4x3x5xi64>
  %n = stablehlo.constant dense<6> : tensor<4x3x5xi64>
  %w = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<4xi64>) -> tensor<4x3x5xi64>
  %c = stablehlo.compare LT, %w, %z : (tensor<4x3x5xi64>, tensor<4x3x5xi64>) -> tensor<4x3x5xi1>
  %m = stablehlo.add %w, %n : tensor<4x3x5xi64>
  %e = stablehlo.select %c, %m, %w : tensor<4x3x5xi1>, tensor<4x3x5xi64>
  %f = stablehlo.reshape %e : (tensor<4x3x5xi64>) -> tensor<4x3x5x1xi64>
  %v = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi64>
  %h = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<5xi64>) -> tensor<4x3x5x1xi64>
  %k = stablehlo.concatenate %f, %f, %h, dim = 3 : (tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>) -> tensor<4x3x5x3xi64>
  %r = "stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x3x5xf32>, tensor<4x3x5x3xi64>, tensor<4x3x5xf32>) -> tensor<6x3x5xf32>
  return %r : tensor<6x3x5xf32>
}

// Each element has its own.
func.func @"raise-rows/stays-elements"(%x: tensor<6x3x5xf32>, %i: tensor<4xi64>, %j: tensor<4x3x5x1xi64>, %u: tensor<4x3x5xf32>) -> tensor<6x3x5xf32> {
  %g = stablehlo.iota dim = 1 : tensor<4x3x5x1xi64>
  %v = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi64>
  %h = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<5xi64>) -> tensor<4x3x5x1xi64>
  %k = stablehlo.concatenate %j, %g, %h, dim = 3 : (tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>) -> tensor<4x3x5x3xi64>
  %r = "stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x3x5xf32>, tensor<4x3x5x3xi64>, tensor<4x3x5xf32>) -> tensor<6x3x5xf32>
  return %r : tensor<6x3x5xf32>
}

// Elements of a row are turned round.
func.func @"raise-rows/stays-turned"(%x: tensor<6x3x5xf32>, %i: tensor<4xi64>, %j: tensor<4x3x5x1xi64>, %u: tensor<4x3x5xf32>) -> tensor<6x3x5xf32> {
  %z = stablehlo.constant dense<0> : tensor<4x3x5xi64>
  %n = stablehlo.constant dense<6> : tensor<4x3x5xi64>
  %w = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<4xi64>) -> tensor<4x3x5xi64>
  %c = stablehlo.compare LT, %w, %z : (tensor<4x3x5xi64>, tensor<4x3x5xi64>) -> tensor<4x3x5xi1>
  %m = stablehlo.add %w, %n : tensor<4x3x5xi64>
  %e = stablehlo.select %c, %m, %w : tensor<4x3x5xi1>, tensor<4x3x5xi64>
  %f = stablehlo.reshape %e : (tensor<4x3x5xi64>) -> tensor<4x3x5x1xi64>
  %g = stablehlo.iota dim = 1 : tensor<4x3x5x1xi64>
  %v = stablehlo.constant dense<[4, 3, 2, 1, 0]> : tensor<5xi64>
  %h = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<5xi64>) -> tensor<4x3x5x1xi64>
  %k = stablehlo.concatenate %f, %g, %h, dim = 3 : (tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>, tensor<4x3x5x1xi64>) -> tensor<4x3x5x3xi64>
  %r = "stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x3x5xf32>, tensor<4x3x5x3xi64>, tensor<4x3x5xf32>) -> tensor<6x3x5xf32>
  return %r : tensor<6x3x5xf32>
}

// Rows of one element.
func.func @"raise-rows/of-one"(%x: tensor<6x1xf32>, %i: tensor<4x1xi64>, %u: tensor<4x1xf32>) -> tensor<6x1xf32> {
  %z = stablehlo.constant dense<0> : tensor<4x1x1xi64>
  %f = stablehlo.reshape %i : (tensor<4x1xi64>) -> tensor<4x1x1xi64>
  %k = stablehlo.concatenate %f, %z, dim = 2 : (tensor<4x1x1xi64>, tensor<4x1x1xi64>) -> tensor<4x1x2xi64>
  %r = "stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x1xf32>, tensor<4x1x2xi64>, tensor<4x1xf32>) -> tensor<6x1xf32>
  return %r : tensor<6x1xf32>
}
