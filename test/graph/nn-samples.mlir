// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// An example of every operation, in a function of its name: what
// docs/nn-gradients.md says is said of these. They survive a round trip.

// CHECK-LABEL: func @acos(
// CHECK: nn.acos{{[ ("]}}
func.func @acos(%x0: tensor<2x7xf32>) -> tensor<2x7xf32> {
  %r = nn.acos %x0 : tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// CHECK-LABEL: func @acosh(
// CHECK: nn.acosh{{[ ("]}}
func.func @acosh(%x0: tensor<2x7xf64>) -> tensor<2x7xf64> {
  %r = nn.acosh %x0 : tensor<2x7xf64>
  return %r : tensor<2x7xf64>
}

// CHECK-LABEL: func @arg_max(
// CHECK: nn.arg_max{{[ ("]}}
func.func @arg_max(%x0: tensor<3x5x2xi8>) -> tensor<3x2xi64> {
  %r = nn.arg_max %x0, axis = 1 {keep_dimension = false, select_last = false} : (tensor<3x5x2xi8>) -> tensor<3x2xi64>
  return %r : tensor<3x2xi64>
}

// CHECK-LABEL: func @arg_min(
// CHECK: nn.arg_min{{[ ("]}}
func.func @arg_min(%x0: tensor<3x5x2xi8>) -> tensor<3x1x2xi64> {
  %r = nn.arg_min %x0, axis = 1 {keep_dimension = true, select_last = true} : (tensor<3x5x2xi8>) -> tensor<3x1x2xi64>
  return %r : tensor<3x1x2xi64>
}

// CHECK-LABEL: func @asin(
// CHECK: nn.asin{{[ ("]}}
func.func @asin(%x0: tensor<2x7xf32>) -> tensor<2x7xf32> {
  %r = nn.asin %x0 : tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// CHECK-LABEL: func @asinh(
// CHECK: nn.asinh{{[ ("]}}
func.func @asinh(%x0: tensor<2x7xf32>) -> tensor<2x7xf32> {
  %r = nn.asinh %x0 : tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// CHECK-LABEL: func @atan(
// CHECK: nn.atan{{[ ("]}}
func.func @atan(%x0: tensor<2x7xf32>) -> tensor<2x7xf32> {
  %r = nn.atan %x0 : tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// CHECK-LABEL: func @atanh(
// CHECK: nn.atanh{{[ ("]}}
func.func @atanh(%x0: tensor<2x7xf32>) -> tensor<2x7xf32> {
  %r = nn.atanh %x0 : tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// CHECK-LABEL: func @attention(
// CHECK: nn.attention{{[ ("]}}
func.func @attention(%x0: tensor<5x8xf32>, %x1: tensor<7x8xf32>, %x2: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %r = nn.attention %x0, %x1, %x2 scale = 0.35 : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// CHECK-LABEL: func @average_pool(
// CHECK: nn.average_pool{{[ ("]}}
func.func @average_pool(%x0: tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32> {
  %r = nn.average_pool %x0, window = [3, 2] strides = [2, 1] {dilations = array<i64: 1, 2>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 2, 1>, count_padding = true, ceil_padding = array<i64: 1, 0>} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func @broadcast_like(
// CHECK: nn.broadcast_like{{[ ("]}}
func.func @broadcast_like(%x0: tensor<3x1xf32>, %x1: tensor<2x1x4xf32>) -> tensor<2x3x4xf32> {
  %r = nn.broadcast_like %x0, %x1 : (tensor<3x1xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func @celu(
// CHECK: nn.celu{{[ ("]}}
func.func @celu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.celu %x0 {alpha = 1.5} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @cosh(
// CHECK: nn.cosh{{[ ("]}}
func.func @cosh(%x0: tensor<2x7xf64>) -> tensor<2x7xf64> {
  %r = nn.cosh %x0 : tensor<2x7xf64>
  return %r : tensor<2x7xf64>
}

// CHECK-LABEL: func @cumulative_sum(
// CHECK: nn.cumulative_sum{{[ ("]}}
func.func @cumulative_sum(%x0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = nn.cumulative_sum %x0, axis = 1 {exclusive = false, reverse = false} : tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// CHECK-LABEL: func @dropout(
// CHECK: nn.dropout{{[ ("]}}
func.func @dropout(%x0: tensor<9xf32>, %x1: tensor<9xi1>) -> tensor<9xf32> {
  %r = nn.dropout %x0, %x1 {ratio = 2.5e-1} : (tensor<9xf32>, tensor<9xi1>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @elu(
// CHECK: nn.elu{{[ ("]}}
func.func @elu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.elu %x0 {alpha = 1.5} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @erf(
// CHECK: nn.erf{{[ ("]}}
func.func @erf(%x0: tensor<64xf64>) -> tensor<64xf64> {
  %r = nn.erf %x0 : tensor<64xf64>
  return %r : tensor<64xf64>
}

// CHECK-LABEL: func @erfc(
// CHECK: nn.erfc{{[ ("]}}
func.func @erfc(%x0: tensor<64xf64>) -> tensor<64xf64> {
  %r = nn.erfc %x0 : tensor<64xf64>
  return %r : tensor<64xf64>
}

// CHECK-LABEL: func @gelu(
// CHECK: nn.gelu{{[ ("]}}
func.func @gelu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.gelu %x0 {approximate = false} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @group_norm(
// CHECK: nn.group_norm{{[ ("]}}
func.func @group_norm(%x0: tensor<2x6x3xf32>, %x1: tensor<6xf32>, %x2: tensor<6xf32>) -> tensor<2x6x3xf32> {
  %r = nn.group_norm %x0, %x1, %x2 groups = 2 {epsilon = 1.0e-3} : (tensor<2x6x3xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}

// CHECK-LABEL: func @gru(
// CHECK: nn.gru{{[ ("]}}
func.func @gru(%x0: tensor<4x2x3xf32>, %x1: tensor<1x15x3xf32>, %x2: tensor<1x15x5xf32>, %x3: tensor<1x30xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>) {
  %r:2 = "nn.gru"(%x0, %x1, %x2, %x3) <{direction = "reverse", activations = ["Sigmoid", "Tanh"], linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : (tensor<4x2x3xf32>, tensor<1x15x3xf32>, tensor<1x15x5xf32>, tensor<1x30xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)
  return %r#0, %r#1 : tensor<4x1x2x5xf32>, tensor<1x2x5xf32>
}

// CHECK-LABEL: func @hard_sigmoid(
// CHECK: nn.hard_sigmoid{{[ ("]}}
func.func @hard_sigmoid(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.hard_sigmoid %x0 {alpha = 0.2, beta = 0.5} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @hard_swish(
// CHECK: nn.hard_swish{{[ ("]}}
func.func @hard_swish(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.hard_swish %x0 : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @hardmax(
// CHECK: nn.hardmax{{[ ("]}}
func.func @hardmax(%x0: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %r = nn.hardmax %x0, axis = 1 : tensor<3x7xf32>
  return %r : tensor<3x7xf32>
}

// CHECK-LABEL: func @layer_norm(
// CHECK: nn.layer_norm{{[ ("]}}
func.func @layer_norm(%x0: tensor<3x4x5xf32>, %x1: tensor<4x5xf32>, %x2: tensor<5xf32>) -> (tensor<3x4x5xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>) {
  %r:3 = nn.layer_norm %x0, %x1, %x2 axis = 1 {epsilon = 1.0e-5, compute_type = f32} : (tensor<3x4x5xf32>, tensor<4x5xf32>, tensor<5xf32>) -> (tensor<3x4x5xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>)
  return %r#0, %r#1, %r#2 : tensor<3x4x5xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>
}

// CHECK-LABEL: func @leaky_relu(
// CHECK: nn.leaky_relu{{[ ("]}}
func.func @leaky_relu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.leaky_relu %x0 {alpha = 0.1} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @log_softmax(
// CHECK: nn.log_softmax{{[ ("]}}
func.func @log_softmax(%x0: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
  %r = nn.log_softmax %x0, axes = [0] : tensor<3x4x5xf32>
  return %r : tensor<3x4x5xf32>
}

// CHECK-LABEL: func @lp_normalize(
// CHECK: nn.lp_normalize{{[ ("]}}
func.func @lp_normalize(%x0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %r = nn.lp_normalize %x0, axis = 1 {p = 1 : i64} : tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func @lp_pool(
// CHECK: nn.lp_pool{{[ ("]}}
func.func @lp_pool(%x0: tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32> {
  %r = nn.lp_pool %x0, window = [3, 2] strides = [2, 1] {dilations = array<i64: 1, 2>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 2, 1>, p = 2 : i64} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func @lrn(
// CHECK: nn.lrn{{[ ("]}}
func.func @lrn(%x0: tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32> {
  %r = nn.lrn %x0 {size = 4, alpha = 0.1, beta = 0.75, bias = 1.0} : tensor<1x5x2x2xf32>
  return %r : tensor<1x5x2x2xf32>
}

// CHECK-LABEL: func @lstm(
// CHECK: nn.lstm{{[ ("]}}
func.func @lstm(%x0: tensor<4x2x3xf32>, %x1: tensor<1x20x3xf32>, %x2: tensor<1x20x5xf32>, %x3: tensor<1x40xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) {
  %r:3 = "nn.lstm"(%x0, %x1, %x2, %x3) <{direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"], input_forget = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}> : (tensor<4x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>, tensor<1x40xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>
}

// CHECK-LABEL: func @max_pool(
// CHECK: nn.max_pool{{[ ("]}}
func.func @max_pool(%x0: tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32> {
  %r = nn.max_pool %x0, window = [3, 2] strides = [2, 1] {dilations = array<i64: 1, 2>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 2, 1>} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func @max_pool_indices(
// CHECK: nn.max_pool_indices{{[ ("]}}
func.func @max_pool_indices(%x0: tensor<2x2x5x4xf32>) -> tensor<2x2x4x4xi64> {
  %r = nn.max_pool_indices %x0, window = [2, 3] strides = [1, 1] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 1>, padding_high = array<i64: 0, 1>, column_major = true} : (tensor<2x2x5x4xf32>) -> tensor<2x2x4x4xi64>
  return %r : tensor<2x2x4x4xi64>
}

// CHECK-LABEL: func @mean_var_norm(
// CHECK: nn.mean_var_norm{{[ ("]}}
func.func @mean_var_norm(%x0: tensor<4x3x5xf32>, %x1: tensor<3xf32>, %x2: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:4 = nn.mean_var_norm %x0, %x1, %x2 {feature_index = 1, momentum = 0.9} : (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @mish(
// CHECK: nn.mish{{[ ("]}}
func.func @mish(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.mish %x0 : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @non_max_suppression(
// CHECK: nn.non_max_suppression{{[ ("]}}
func.func @non_max_suppression(%x0: tensor<2x5x4xf32>, %x1: tensor<2x3x5xf32>, %x2: tensor<i64>, %x3: tensor<f32>, %x4: tensor<f32>) -> tensor<?x3xi64> {
  %r = nn.non_max_suppression %x0, %x1, %x2, %x3, %x4 centred = true : (tensor<2x5x4xf32>, tensor<2x3x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}

// CHECK-LABEL: func @non_zero(
// CHECK: nn.non_zero{{[ ("]}}
func.func @non_zero(%x0: tensor<4x5xi32>) -> tensor<2x?xi64> {
  %r = nn.non_zero %x0 : (tensor<4x5xi32>) -> tensor<2x?xi64>
  return %r : tensor<2x?xi64>
}

// CHECK-LABEL: func @one_hot(
// CHECK: nn.one_hot{{[ ("]}}
func.func @one_hot(%x0: tensor<2x3xi64>, %x1: tensor<2xf32>) -> tensor<2x4x3xf32> {
  %r = nn.one_hot %x0, %x1, axis = 1 : (tensor<2x3xi64>, tensor<2xf32>) -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

// CHECK-LABEL: func @pad_mode(
// CHECK: nn.pad_mode{{[ ("]}}
func.func @pad_mode(%x0: tensor<4x5xf32>) -> tensor<9x6xf32> {
  %r = nn.pad_mode %x0, "reflect" low = [2, -1] high = [3, 2] : (tensor<4x5xf32>) -> tensor<9x6xf32>
  return %r : tensor<9x6xf32>
}

// CHECK-LABEL: func @prelu(
// CHECK: nn.prelu{{[ ("]}}
func.func @prelu(%x0: tensor<2x3x4xf32>, %x1: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %r = nn.prelu %x0, %x1 : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func @quantize(
// CHECK: nn.quantize{{[ ("]}}
func.func @quantize(%x0: tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>> {
  %r = nn.quantize %x0 : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>
  return %r : tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>
}

// CHECK-LABEL: func @relu(
// CHECK: nn.relu{{[ ("]}}
func.func @relu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.relu %x0 : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @resize(
// CHECK: nn.resize{{[ ("]}}
func.func @resize(%x0: tensor<1x5x4xf32>) -> tensor<1x3x10xf32> {
  %r = nn.resize %x0, scales = [1.0, 0.6, 2.5], "linear", "half_pixel", "floor" {exclude_outside = false, antialias = false} : (tensor<1x5x4xf32>) -> tensor<1x3x10xf32>
  return %r : tensor<1x3x10xf32>
}

// CHECK-LABEL: func @rms_norm(
// CHECK: nn.rms_norm{{[ ("]}}
func.func @rms_norm(%x0: tensor<3x8xf32>, %x1: tensor<8xf32>) -> tensor<3x8xf32> {
  %r = nn.rms_norm %x0, %x1 axis = 1 {epsilon = 1.0e-5, compute_type = f32} : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// CHECK-LABEL: func @rnn(
// CHECK: nn.rnn{{[ ("]}}
func.func @rnn(%x0: tensor<4x2x3xf32>, %x1: tensor<1x5x3xf32>, %x2: tensor<1x5x5xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>) {
  %r:2 = "nn.rnn"(%x0, %x1, %x2) <{direction = "forward", activations = ["Relu"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (tensor<4x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)
  return %r#0, %r#1 : tensor<4x1x2x5xf32>, tensor<1x2x5xf32>
}

// CHECK-LABEL: func @selu(
// CHECK: nn.selu{{[ ("]}}
func.func @selu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.selu %x0 {alpha = 1.67, gamma = 1.05} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @shape(
// CHECK: nn.shape{{[ ("]}}
func.func @shape(%x0: tensor<2x3x4xf32>) -> tensor<3xi64> {
  %r = nn.shape %x0 : (tensor<2x3x4xf32>) -> tensor<3xi64>
  return %r : tensor<3xi64>
}

// CHECK-LABEL: func @shrink(
// CHECK: nn.shrink{{[ ("]}}
func.func @shrink(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.shrink %x0 {bias = 0.1, lambda = 0.3} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @silu(
// CHECK: nn.silu{{[ ("]}}
func.func @silu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.silu %x0 {alpha = 1.7} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @sinh(
// CHECK: nn.sinh{{[ ("]}}
func.func @sinh(%x0: tensor<2x7xf64>) -> tensor<2x7xf64> {
  %r = nn.sinh %x0 : tensor<2x7xf64>
  return %r : tensor<2x7xf64>
}

// CHECK-LABEL: func @softmax(
// CHECK: nn.softmax{{[ ("]}}
func.func @softmax(%x0: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
  %r = nn.softmax %x0, axes = [1] : tensor<3x4x5xf32>
  return %r : tensor<3x4x5xf32>
}

// CHECK-LABEL: func @softplus(
// CHECK: nn.softplus{{[ ("]}}
func.func @softplus(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.softplus %x0 : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @softsign(
// CHECK: nn.softsign{{[ ("]}}
func.func @softsign(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.softsign %x0 : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @take(
// CHECK: nn.take{{[ ("]}}
func.func @take(%x0: tensor<4x5x3xf32>, %x1: tensor<2x2xi32>) -> tensor<4x2x2x3xf32> {
  %r = nn.take %x0, %x1, axis = 1 : (tensor<4x5x3xf32>, tensor<2x2xi32>) -> tensor<4x2x2x3xf32>
  return %r : tensor<4x2x2x3xf32>
}

// CHECK-LABEL: func @take_along(
// CHECK: nn.take_along{{[ ("]}}
func.func @take_along(%x0: tensor<4x5x3xf32>, %x1: tensor<2x6x3xi64>) -> tensor<2x6x3xf32> {
  %r = nn.take_along %x0, %x1, axis = 1 : (tensor<4x5x3xf32>, tensor<2x6x3xi64>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}

// CHECK-LABEL: func @thresholded_relu(
// CHECK: nn.thresholded_relu{{[ ("]}}
func.func @thresholded_relu(%x0: tensor<9xf32>) -> tensor<9xf32> {
  %r = nn.thresholded_relu %x0 {alpha = 0.25} : tensor<9xf32>
  return %r : tensor<9xf32>
}

// CHECK-LABEL: func @top_k(
// CHECK: nn.top_k{{[ ("]}}
func.func @top_k(%x0: tensor<3x7xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %r:2 = nn.top_k %x0, k = 4, axis = 1 {largest = true} : (tensor<3x7xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>)
  return %r#0, %r#1 : tensor<3x4xf32>, tensor<3x4xi64>
}

// CHECK-LABEL: func @tree_ensemble(
// CHECK: nn.tree_ensemble{{[ ("]}}
func.func @tree_ensemble(%x0: tensor<7x2xf32>) -> tensor<7x2xf32> {
  %r = nn.tree_ensemble %x0, "sum" {roots = array<i32: 0, -3>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 13>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return %r : tensor<7x2xf32>
}
