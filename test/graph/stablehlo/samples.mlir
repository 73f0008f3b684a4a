// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// RUN: sinter-opt %s -mlir-print-op-generic | sinter-opt | FileCheck %s
// Covers: graph/stablehlo AssemblyFormat Attributes RegionAssembly StablehloDialect TypeAssembly
// An example of every operation, in a function of its name: what
// docs/stablehlo-status.md says is said of these. They survive a round trip in
// both text forms.

// CHECK-LABEL: func @abs(
// CHECK: stablehlo.abs{{[ ("]}}
func.func @abs(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.abs %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @cbrt(
// CHECK: stablehlo.cbrt{{[ ("]}}
func.func @cbrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.cbrt %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @ceil(
// CHECK: stablehlo.ceil{{[ ("]}}
func.func @ceil(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.ceil %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @cosine(
// CHECK: stablehlo.cosine{{[ ("]}}
func.func @cosine(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.cosine %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @exponential(
// CHECK: stablehlo.exponential{{[ ("]}}
func.func @exponential(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.exponential %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @exponential_minus_one(
// CHECK: stablehlo.exponential_minus_one{{[ ("]}}
func.func @exponential_minus_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.exponential_minus_one %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @floor(
// CHECK: stablehlo.floor{{[ ("]}}
func.func @floor(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.floor %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @log(
// CHECK: stablehlo.log{{[ ("]}}
func.func @log(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.log %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @log_plus_one(
// CHECK: stablehlo.log_plus_one{{[ ("]}}
func.func @log_plus_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.log_plus_one %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @logistic(
// CHECK: stablehlo.logistic{{[ ("]}}
func.func @logistic(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.logistic %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @negate(
// CHECK: stablehlo.negate{{[ ("]}}
func.func @negate(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.negate %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @round_nearest_afz(
// CHECK: stablehlo.round_nearest_afz{{[ ("]}}
func.func @round_nearest_afz(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.round_nearest_afz %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @round_nearest_even(
// CHECK: stablehlo.round_nearest_even{{[ ("]}}
func.func @round_nearest_even(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.round_nearest_even %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @rsqrt(
// CHECK: stablehlo.rsqrt{{[ ("]}}
func.func @rsqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.rsqrt %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @sign(
// CHECK: stablehlo.sign{{[ ("]}}
func.func @sign(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.sign %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @sine(
// CHECK: stablehlo.sine{{[ ("]}}
func.func @sine(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.sine %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @sqrt(
// CHECK: stablehlo.sqrt{{[ ("]}}
func.func @sqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.sqrt %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @tan(
// CHECK: stablehlo.tan{{[ ("]}}
func.func @tan(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.tan %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @tanh(
// CHECK: stablehlo.tanh{{[ ("]}}
func.func @tanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.tanh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @count_leading_zeros(
// CHECK: stablehlo.count_leading_zeros{{[ ("]}}
func.func @count_leading_zeros(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.count_leading_zeros %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @not(
// CHECK: stablehlo.not{{[ ("]}}
func.func @not(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.not %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @popcnt(
// CHECK: stablehlo.popcnt{{[ ("]}}
func.func @popcnt(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.popcnt %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @add(
// CHECK: stablehlo.add{{[ ("]}}
func.func @add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.add %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @atan2(
// CHECK: stablehlo.atan2{{[ ("]}}
func.func @atan2(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.atan2 %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @divide(
// CHECK: stablehlo.divide{{[ ("]}}
func.func @divide(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.divide %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @maximum(
// CHECK: stablehlo.maximum{{[ ("]}}
func.func @maximum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.maximum %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @minimum(
// CHECK: stablehlo.minimum{{[ ("]}}
func.func @minimum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.minimum %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @multiply(
// CHECK: stablehlo.multiply{{[ ("]}}
func.func @multiply(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.multiply %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @power(
// CHECK: stablehlo.power{{[ ("]}}
func.func @power(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.power %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @remainder(
// CHECK: stablehlo.remainder{{[ ("]}}
func.func @remainder(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.remainder %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @subtract(
// CHECK: stablehlo.subtract{{[ ("]}}
func.func @subtract(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.subtract %x, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @and(
// CHECK: stablehlo.and{{[ ("]}}
func.func @and(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.and %x, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @or(
// CHECK: stablehlo.or{{[ ("]}}
func.func @or(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.or %x, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @xor(
// CHECK: stablehlo.xor{{[ ("]}}
func.func @xor(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.xor %x, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @shift_left(
// CHECK: stablehlo.shift_left{{[ ("]}}
func.func @shift_left(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.shift_left %x, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @shift_right_arithmetic(
// CHECK: stablehlo.shift_right_arithmetic{{[ ("]}}
func.func @shift_right_arithmetic(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.shift_right_arithmetic %x, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @shift_right_logical(
// CHECK: stablehlo.shift_right_logical{{[ ("]}}
func.func @shift_right_logical(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r = stablehlo.shift_right_logical %x, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @convert(
// CHECK: stablehlo.convert{{[ ("]}}
func.func @convert(%x: tensor<2x3xf32>) -> tensor<2x3xf64> {
  %r = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return %r : tensor<2x3xf64>
}

// CHECK-LABEL: func @real(
// CHECK: stablehlo.real{{[ ("]}}
func.func @real(%x: tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32> {
  %r = stablehlo.real %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @imag(
// CHECK: stablehlo.imag{{[ ("]}}
func.func @imag(%x: tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32> {
  %r = stablehlo.imag %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @complex(
// CHECK: stablehlo.complex{{[ ("]}}
func.func @complex(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>> {
  %r = stablehlo.complex %x, %y : tensor<2x3xcomplex<f32>>
  return %r : tensor<2x3xcomplex<f32>>
}

// CHECK-LABEL: func @is_finite(
// CHECK: stablehlo.is_finite{{[ ("]}}
func.func @is_finite(%x: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %r = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func @uniform_quantize(
// CHECK: stablehlo.uniform_quantize{{[ ("]}}
func.func @uniform_quantize(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:1>> {
  %r = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:1>>
  return %r : tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:1>>
}

// CHECK-LABEL: func @uniform_dequantize(
// CHECK: stablehlo.uniform_dequantize{{[ ("]}}
func.func @uniform_dequantize(%x: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:1>>) -> tensor<2x3xf32> {
  %r = stablehlo.uniform_dequantize %x : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:1>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @bitcast_convert(
// CHECK: stablehlo.bitcast_convert{{[ ("]}}
func.func @bitcast_convert(%x: tensor<2x3xf32>) -> tensor<2x3xi32> {
  %r = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func @reduce_precision(
// CHECK: stablehlo.reduce_precision{{[ ("]}}
func.func @reduce_precision(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @compare(
// CHECK: stablehlo.compare{{[ ("]}}
func.func @compare(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %r = stablehlo.compare LT, %x, %y, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func @select(
// CHECK: stablehlo.select{{[ ("]}}
func.func @select(%p: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @clamp(
// CHECK: stablehlo.clamp{{[ ("]}}
func.func @clamp(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.clamp %x, %y, %z : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @constant(
// CHECK: stablehlo.constant{{[ ("]}}
func.func @constant() -> tensor<2x3xf32> {
  %r = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @iota(
// CHECK: stablehlo.iota{{[ ("]}}
func.func @iota() -> tensor<2x3xf32> {
  %r = stablehlo.iota dim = 1 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @broadcast_in_dim(
// CHECK: stablehlo.broadcast_in_dim{{[ ("]}}
func.func @broadcast_in_dim(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @reshape(
// CHECK: stablehlo.reshape{{[ ("]}}
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %r = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func @transpose(
// CHECK: stablehlo.transpose{{[ ("]}}
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func @slice(
// CHECK: stablehlo.slice{{[ ("]}}
func.func @slice(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %r = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: func @dynamic_slice(
// CHECK: stablehlo.dynamic_slice{{[ ("]}}
func.func @dynamic_slice(%x: tensor<2x3xf32>, %i: tensor<i32>) -> tensor<1x2xf32> {
  %r = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// CHECK-LABEL: func @dynamic_update_slice(
// CHECK: stablehlo.dynamic_update_slice{{[ ("]}}
func.func @dynamic_update_slice(%x: tensor<2x3xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>) -> tensor<2x3xf32> {
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @pad(
// CHECK: stablehlo.pad{{[ ("]}}
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<4x3xf32> {
  %r = stablehlo.pad %x, %v, low = [0, 1], high = [1, -1], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func @reverse(
// CHECK: stablehlo.reverse{{[ ("]}}
func.func @reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.reverse %x, dims = [1] : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @concatenate(
// CHECK: stablehlo.concatenate{{[ ("]}}
func.func @concatenate(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func @gather(
// CHECK: stablehlo.gather{{[ ("]}}
func.func @gather(%x: tensor<2x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func @scatter(
// CHECK: stablehlo.scatter{{[ ("]}}
func.func @scatter(%x: tensor<2x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @sort(
// CHECK: stablehlo.sort{{[ ("]}}
func.func @sort(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @convolution(
// CHECK: stablehlo.convolution{{[ ("]}}
func.func @convolution(%x: tensor<1x6x6x2xf32>, %k: tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32> {
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}

// CHECK-LABEL: func @dot_general(
// CHECK: stablehlo.dot_general{{[ ("]}}
func.func @dot_general(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func @reduce(
// CHECK: stablehlo.reduce{{[ ("]}}
func.func @reduce(%x: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2xf32> {
  %r = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func @reduce_window(
// CHECK: stablehlo.reduce_window{{[ ("]}}
func.func @reduce_window(%x: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<1x2xf32> {
  %r = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// CHECK-LABEL: func @select_and_scatter(
// CHECK: stablehlo.select_and_scatter{{[ ("]}}
func.func @select_and_scatter(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>, %i: tensor<f32>) -> tensor<4x4xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %y, %i) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func @map(
// CHECK: stablehlo.map{{[ ("]}}
func.func @map(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @batch_norm_inference(
// CHECK: stablehlo.batch_norm_inference{{[ ("]}}
func.func @batch_norm_inference(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @batch_norm_training(
// CHECK: stablehlo.batch_norm_training{{[ ("]}}
func.func @batch_norm_training(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @batch_norm_grad(
// CHECK: stablehlo.batch_norm_grad{{[ ("]}}
func.func @batch_norm_grad(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @cholesky(
// CHECK: stablehlo.cholesky{{[ ("]}}
func.func @cholesky(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %r = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func @triangular_solve(
// CHECK: stablehlo.triangular_solve{{[ ("]}}
func.func @triangular_solve(%x: tensor<3x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = "stablehlo.triangular_solve"(%x, %y) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func @fft(
// CHECK: stablehlo.fft{{[ ("]}}
func.func @fft(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func @rng(
// CHECK: stablehlo.rng{{[ ("]}}
func.func @rng(%a: tensor<f32>, %b: tensor<f32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @rng_bit_generator(
// CHECK: stablehlo.rng_bit_generator{{[ ("]}}
func.func @rng_bit_generator(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>) {
  %r:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %r#0, %r#1 : tensor<2xui64>, tensor<4xui32>
}

// CHECK-LABEL: func @if(
// CHECK: stablehlo.if{{[ ("]}}
func.func @if(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2x3xf32>
  }, {
    %n = stablehlo.negate %x : tensor<2x3xf32>
    stablehlo.return %n : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @case(
// CHECK: stablehlo.case{{[ ("]}}
func.func @case(%p: tensor<i32>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.case"(%p) ({
    stablehlo.return %x : tensor<2x3xf32>
  }, {
    %n = stablehlo.negate %x : tensor<2x3xf32>
    stablehlo.return %n : tensor<2x3xf32>
  }) : (tensor<i32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @while(
// CHECK: stablehlo.while{{[ ("]}}
func.func @while(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, tensor<2x3xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %o : tensor<i32>
    %s = stablehlo.multiply %y, %x : tensor<2x3xf32>
    stablehlo.return %j, %s : tensor<i32>, tensor<2x3xf32>
  }
  return %r#1 : tensor<2x3xf32>
}

// CHECK-LABEL: func @return(
// CHECK: stablehlo.return{{[ ("]}}
func.func @return(%x: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2xf32> {
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func @after_all(
// CHECK: stablehlo.after_all{{[ ("]}}
func.func @after_all(%k: !stablehlo.token) -> !stablehlo.token {
  %r = stablehlo.after_all %k, %k : !stablehlo.token
  return %r : !stablehlo.token
}

// CHECK-LABEL: func @create_token(
// CHECK: stablehlo.create_token :
func.func @create_token() -> !stablehlo.token {
  %r = stablehlo.create_token : !stablehlo.token
  return %r : !stablehlo.token
}

// CHECK-LABEL: func @optimization_barrier(
// CHECK: stablehlo.optimization_barrier{{[ ("]}}
func.func @optimization_barrier(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.optimization_barrier %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @async_start(
// CHECK: stablehlo.async_start{{[ ("]}}
func.func @async_start(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
    stablehlo.return %g : tensor<2x6xf32>
  }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<2x6xf32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2x6xf32>>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func @async_done(
// CHECK: stablehlo.async_done{{[ ("]}}
func.func @async_done(%x: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %s = stablehlo.slice %a [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
    stablehlo.return %s : tensor<1x3xf32>
  }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<1x3xf32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<1x3xf32>>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// CHECK-LABEL: func @all_gather(
// CHECK: stablehlo.all_gather{{[ ("]}}
func.func @all_gather(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func @all_reduce(
// CHECK: stablehlo.all_reduce{{[ ("]}}
func.func @all_reduce(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @reduce_scatter(
// CHECK: stablehlo.reduce_scatter{{[ ("]}}
func.func @reduce_scatter(%x: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %r = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// CHECK-LABEL: func @all_to_all(
// CHECK: stablehlo.all_to_all{{[ ("]}}
func.func @all_to_all(%x: tensor<2x3xf32>) -> tensor<1x6xf32> {
  %r = "stablehlo.all_to_all"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<1x6xf32>
  return %r : tensor<1x6xf32>
}

// CHECK-LABEL: func @collective_broadcast(
// CHECK: stablehlo.collective_broadcast{{[ ("]}}
func.func @collective_broadcast(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @collective_reduce(
// CHECK: stablehlo.collective_reduce{{[ ("]}}
func.func @collective_reduce(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @collective_permute(
// CHECK: stablehlo.collective_permute{{[ ("]}}
func.func @collective_permute(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @cross_replica_sum(
// CHECK: stablehlo.cross-replica-sum{{[ ("]}}
func.func @cross_replica_sum(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @send(
// CHECK: stablehlo.send{{[ ("]}}
func.func @send(%x: tensor<2x3xf32>, %k: !stablehlo.token) -> !stablehlo.token {
  %r = "stablehlo.send"(%x, %k) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
  return %r : !stablehlo.token
}

// CHECK-LABEL: func @recv(
// CHECK: stablehlo.recv{{[ ("]}}
func.func @recv(%k: !stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token) {
  %r:2 = "stablehlo.recv"(%k) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
  return %r#0, %r#1 : tensor<2x3xf32>, !stablehlo.token
}

// CHECK-LABEL: func @infeed(
// CHECK: stablehlo.infeed{{[ ("]}}
func.func @infeed(%k: !stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token) {
  %r:2 = "stablehlo.infeed"(%k) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
  return %r#0, %r#1 : tensor<2x3xf32>, !stablehlo.token
}

// CHECK-LABEL: func @outfeed(
// CHECK: stablehlo.outfeed{{[ ("]}}
func.func @outfeed(%x: tensor<2x3xf32>, %k: !stablehlo.token) -> !stablehlo.token {
  %r = "stablehlo.outfeed"(%x, %k) <{outfeed_config = ""}> : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
  return %r : !stablehlo.token
}

// CHECK-LABEL: func @replica_id(
// CHECK: stablehlo.replica_id :
func.func @replica_id() -> tensor<ui32> {
  %r = stablehlo.replica_id : tensor<ui32>
  return %r : tensor<ui32>
}

// CHECK-LABEL: func @partition_id(
// CHECK: stablehlo.partition_id :
func.func @partition_id() -> tensor<ui32> {
  %r = stablehlo.partition_id : tensor<ui32>
  return %r : tensor<ui32>
}

// CHECK-LABEL: func @composite(
// CHECK: stablehlo.composite{{[ ("]}}
func.func @composite(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.composite "own.add" %x, %y {decomposition = @add} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @custom_call(
// CHECK: stablehlo.custom_call{{[ ("]}}
func.func @custom_call(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.custom_call @Sharding(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @tuple(
// CHECK: stablehlo.tuple{{[ ("]}}
func.func @tuple(%x: tensor<2x3xf32>, %k: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %t = stablehlo.tuple %x, %k : tuple<tensor<2x3xf32>, tensor<2x3xi32>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x3xf32>, tensor<2x3xi32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @get_tuple_element(
// CHECK: stablehlo.get_tuple_element{{[ ("]}}
func.func @get_tuple_element(%x: tensor<2x3xf32>, %k: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %t = stablehlo.tuple %k, %x : tuple<tensor<2x3xi32>, tensor<2x3xf32>>
  %r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2x3xi32>, tensor<2x3xf32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @broadcast(
// CHECK: stablehlo.broadcast{{[ ("]}}
func.func @broadcast(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.broadcast %x, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @dot(
// CHECK: stablehlo.dot{{[ ("]}}
func.func @dot(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %r = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func @einsum(
// CHECK: stablehlo.einsum{{[ ("]}}
func.func @einsum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %r = stablehlo.einsum %x, %y, config = "ij,kj->ik" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: func @unary_einsum(
// CHECK: stablehlo.unary_einsum{{[ ("]}}
func.func @unary_einsum(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %r = stablehlo.unary_einsum %x, config = "ij->j" : (tensor<2x3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func @torch_index_select(
// CHECK: stablehlo.torch_index_select{{[ ("]}}
func.func @torch_index_select(%x: tensor<2x3xf32>, %i: tensor<4xi32>) -> tensor<2x4xf32> {
  %r = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func @dynamic_iota(
// CHECK: stablehlo.dynamic_iota{{[ ("]}}
func.func @dynamic_iota() -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @dynamic_broadcast_in_dim(
// CHECK: stablehlo.dynamic_broadcast_in_dim{{[ ("]}}
func.func @dynamic_broadcast_in_dim(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @dynamic_reshape(
// CHECK: stablehlo.dynamic_reshape{{[ ("]}}
func.func @dynamic_reshape(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @real_dynamic_slice(
// CHECK: stablehlo.real_dynamic_slice{{[ ("]}}
func.func @real_dynamic_slice(%x: tensor<4x6xf32>) -> tensor<2x3xf32> {
  %a = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %b = stablehlo.constant dense<[3, 6]> : tensor<2xi64>
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @dynamic_pad(
// CHECK: stablehlo.dynamic_pad{{[ ("]}}
func.func @dynamic_pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<5x3xf32> {
  %a = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %r = stablehlo.dynamic_pad %x, %v, %a, %a, %a : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// CHECK-LABEL: func @dynamic_gather(
// CHECK: stablehlo.dynamic_gather{{[ ("]}}
func.func @dynamic_gather(%x: tensor<2x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %s = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %r = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xf32>, tensor<4x1xi32>, tensor<2xi64>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func @dynamic_conv(
// CHECK: stablehlo.dynamic_conv{{[ ("]}}
func.func @dynamic_conv(%x: tensor<1x6x6x2xf32>, %k: tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32> {
  %p = stablehlo.constant dense<1> : tensor<2x2xi64>
  %r = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>, tensor<2x2xi64>) -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}

// CHECK-LABEL: func @get_dimension_size(
// CHECK: stablehlo.get_dimension_size{{[ ("]}}
func.func @get_dimension_size(%x: tensor<2x3xf32>) -> tensor<i32> {
  %r = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  return %r : tensor<i32>
}

// CHECK-LABEL: func @set_dimension_size(
// CHECK: stablehlo.set_dimension_size{{[ ("]}}
func.func @set_dimension_size(%x: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>> {
  %r = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  return %r : tensor<2x?xf32, #stablehlo.bounds<?, 3>>
}
