// Sizes that are not known: a function a rule, called by the rule's label (see
// arithmetic.mlir). The values have sizes, the types do not say them.

func.func @"dynamic-broadcast-nothing"(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = stablehlo.dynamic_broadcast_in_dim %d, %s, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: 1, 0>} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @"dynamic-broadcast-nothing/stays"(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = stablehlo.dynamic_broadcast_in_dim %d, %s, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: 1>} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @"dynamic-broadcast-own-shape"(%x: tensor<6xf32>) -> tensor<?x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %size = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %line = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %t = stablehlo.concatenate %line, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %a = stablehlo.abs %d : tensor<?x3xf32>
  %r = stablehlo.dynamic_broadcast_in_dim %a, %t, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
// The sizes of something else.
func.func @"dynamic-broadcast-own-shape/stays"(%x: tensor<1xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %four = stablehlo.constant dense<4> : tensor<1xi64>
  %d = stablehlo.dynamic_reshape %x, %one : (tensor<1xf32>, tensor<1xi64>) -> tensor<?xf32>
  %e = stablehlo.dynamic_reshape %y, %four : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>
  %size = stablehlo.get_dimension_size %e, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %t = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %d, %t, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @"dynamic-broadcast-reshaped"(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = stablehlo.dynamic_broadcast_in_dim %d, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// A transpose as well.
func.func @"dynamic-broadcast-reshaped/stays"(%x: tensor<4xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[2, 2]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = stablehlo.dynamic_broadcast_in_dim %d, %s, dims = [1, 0] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @"dynamic-reshape-own-shape"(%x: tensor<6xf32>) -> tensor<?x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %t = nn.shape %d : (tensor<?x3xf32>) -> tensor<2xi64>
  %a = stablehlo.abs %d : tensor<?x3xf32>
  %r = stablehlo.dynamic_reshape %a, %t : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @"dynamic-reshape-same"(%x: tensor<2x3xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %six = stablehlo.constant dense<6> : tensor<1xi64>
  %d = stablehlo.dynamic_reshape %x, %six : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?xf32>
  %r = stablehlo.dynamic_reshape %d, %six : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @"dynamic-reshape-transpose"(%x: tensor<6xf32>) -> tensor<?xf32> {
  %s = stablehlo.constant dense<[2, 1, 3]> : tensor<3xi64>
  %six = stablehlo.constant dense<6> : tensor<1xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<3xi64>) -> tensor<?x1x3xf32>
  %t = stablehlo.transpose %d, dims = [1, 0, 2] : (tensor<?x1x3xf32>) -> tensor<1x?x3xf32>
  %r = stablehlo.dynamic_reshape %t, %six : (tensor<1x?x3xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
// What is unknown moves past another dimension.
func.func @"dynamic-reshape-transpose/stays"(%x: tensor<6xf32>) -> tensor<?xf32> {
  %s = stablehlo.constant dense<[2, 1, 3]> : tensor<3xi64>
  %six = stablehlo.constant dense<6> : tensor<1xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<3xi64>) -> tensor<?x1x3xf32>
  %t = stablehlo.transpose %d, dims = [2, 1, 0] : (tensor<?x1x3xf32>) -> tensor<3x1x?xf32>
  %r = stablehlo.dynamic_reshape %t, %six : (tensor<3x1x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @"dynamic-reshape-through"(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %a = stablehlo.add %d, %d : tensor<?x?xf32>
  %r = stablehlo.dynamic_reshape %a, %s : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// To another shape.
func.func @"dynamic-reshape-through/stays"(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %a = stablehlo.add %d, %d : tensor<?x?xf32>
  %r = stablehlo.dynamic_reshape %a, %t : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @"dynamic-slice-of-size"(%x: tensor<4x5xf32>, %i: tensor<2xi1>) -> tensor<2x3xf32> {
  %sizes = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %ones = stablehlo.constant dense<1> : tensor<2xi64>
  %starts = stablehlo.convert %i : (tensor<2xi1>) -> tensor<2xi64>
  %limits = stablehlo.add %sizes, %starts : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %starts, %limits, %ones : (tensor<4x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
// With gaps.
func.func @"dynamic-slice-of-size/stays"(%x: tensor<4xf32>, %i: tensor<1xi1>) -> tensor<1xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %starts = stablehlo.convert %i : (tensor<1xi1>) -> tensor<1xi64>
  %limits = stablehlo.add %starts, %two : tensor<1xi64>
  %r = stablehlo.real_dynamic_slice %x, %starts, %limits, %two : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}

func.func @"dynamic-iota-broadcast"() -> tensor<?x3xi32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<?x3xi32>
  return %r : tensor<?x3xi32>
}
// Counts to a size that is not known.
func.func @"dynamic-iota-broadcast/stays"() -> tensor<?x3xi32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x3xi32>
  return %r : tensor<?x3xi32>
}

func.func @"custom-call-wrapper"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = stablehlo.constant dense<2> : tensor<1xi64>
  %r = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2xf32>, tensor<1xi64>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// Its type is not refined yet.
func.func @"custom-call-wrapper/stays"(%x: tensor<2xf32>) -> tensor<?xf32> {
  %s = stablehlo.constant dense<2> : tensor<1xi64>
  %r = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @"shape-of-unread"(%x: tensor<6xf32>) -> (tensor<?x3xf32>, tensor<2xi64>, tensor<i32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %a = stablehlo.abs %d : tensor<?x3xf32>
  %b = nn.broadcast_like %c, %a : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %t = nn.shape %a : (tensor<?x3xf32>) -> tensor<2xi64>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %r = stablehlo.multiply %d, %b : tensor<?x3xf32>
  return %r, %t, %n : tensor<?x3xf32>, tensor<2xi64>, tensor<i32>
}
// Its elements are read, too.
func.func @"shape-of-unread/stays"(%x: tensor<6xf32>) -> tensor<?x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %a = stablehlo.abs %d : tensor<?x3xf32>
  %b = nn.broadcast_like %c, %a : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = stablehlo.multiply %a, %b : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @"dynamic-reshape-reshape"(%x: tensor<2x3xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[6, 1]> : tensor<2xi64>
  %u = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %a = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %b = stablehlo.dynamic_reshape %a, %t : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x1xf32>
  %c = stablehlo.dynamic_reshape %b, %s : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %d = stablehlo.dynamic_reshape %b, %u : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  return %c, %d : tensor<?x3xf32>, tensor<?x2xf32>
}
// Two unknown sizes may have changed places.
func.func @"dynamic-reshape-same/stays"(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %a = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %b = stablehlo.dynamic_reshape %a, %t : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %b : tensor<?x?xf32>
}

func.func @"shape-of-dynamic-reshape"(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2xi64>, tensor<2xi64>) {
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %t = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %a = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %b = stablehlo.dynamic_broadcast_in_dim %v, %t, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %c = nn.shape %a : (tensor<?x?xf32>) -> tensor<2xi64>
  %d = nn.shape %b : (tensor<?x3xf32>) -> tensor<2xi64>
  return %c, %d : tensor<2xi64>, tensor<2xi64>
}

func.func @"broadcast-beside"(%x: tensor<6xf32>, %n: tensor<3xf32>) -> tensor<?x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %b = stablehlo.dynamic_broadcast_in_dim %n, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %r = stablehlo.subtract %b, %d : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
// Nothing else says how large they are.
func.func @"broadcast-beside/stays"(%n: tensor<3xf32>) -> tensor<?x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %b = stablehlo.dynamic_broadcast_in_dim %n, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %r = stablehlo.add %b, %b : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// Of either type something else is known.
func.func @"dynamic-reshape-own-shape/known"(%x0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x3xf32>) -> tensor<?x3xf32>
  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %b = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.concatenate %b, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @"shape-of-dynamic-reshape/sizes"(%x: tensor<6xf32>) -> tensor<2xi64> {
  %c0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %s = stablehlo.convert %c0 : (tensor<2xi64>) -> tensor<2xindex>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %a = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %c = stablehlo.convert %a : (tensor<i32>) -> tensor<i64>
  %d = stablehlo.convert %b : (tensor<i32>) -> tensor<i64>
  %e = stablehlo.reshape %c : (tensor<i64>) -> tensor<1xi64>
  %f = stablehlo.reshape %d : (tensor<i64>) -> tensor<1xi64>
  %r = stablehlo.concatenate %e, %f, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// Not in their order.
func.func @"shape-of-dynamic-reshape/stays-turned"(%x: tensor<6xf32>) -> tensor<2xi32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %a = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %e = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
  %f = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %r = stablehlo.concatenate %e, %f, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
