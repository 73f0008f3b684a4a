// RUN: sinter-opt %s -verify-diagnostics -split-input-file
// Covers: graph/interfaces Interfaces
// Covers: graph/nn Inference NnAssume NnDeferred NnDialect Verify

func.func @take_axis(%x: tensor<2x3xf32>, %i: tensor<1xi64>) {
  // expected-error@+1 {{axis 2 is not a dimension of the operand}}
  %result = nn.take %x, %i, axis = 2 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @take_axis_negative(%x: tensor<2x3xf32>, %i: tensor<1xi64>) {
  // expected-error@+1 {{'axis' failed to satisfy constraint}}
  %result = nn.take %x, %i, axis = -1 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @take_along_rank(%x: tensor<2x3xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{operand and indices differ in rank}}
  %result = nn.take_along %x, %i, axis = 0 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @take_along_axis(%x: tensor<2x3xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{axis 2 is not a dimension of the operand}}
  %result = nn.take_along %x, %i, axis = 2 : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<2x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+2 {{shapes do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %result = nn.broadcast_like %x, %y : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @pad_mode_name(%x: tensor<2xf32>) {
  // expected-error@+1 {{mode is not "reflect", "edge" or "wrap"}}
  %result = nn.pad_mode %x, "mirror" low = [1] high = [0] : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_mode_rank(%x: tensor<2xf32>) {
  // expected-error@+1 {{padding has not one element a dimension}}
  %result = nn.pad_mode %x, "edge" low = [1, 1] high = [0, 0] : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_mode_lists(%x: tensor<2xf32>) {
  // expected-error@+1 {{padding has not one element a dimension}}
  %result = nn.pad_mode %x, "edge" low = [1] high = [] : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_mode_empty(%x: tensor<0xf32>) {
  // expected-error@+1 {{dimension 0 has no elements to pad with}}
  %result = nn.pad_mode %x, "edge" low = [1] high = [0] : (tensor<0xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_mode_size(%x: tensor<2xf32>) {
  // expected-error@+2 {{a padded size is negative or too large}}
  // expected-error@+1 {{failed to infer returned types}}
  %result = nn.pad_mode %x, "edge" low = [-2] high = [-1] : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @one_hot_shape(%i: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error@+1 {{the result has not the indices' dimensions and one more at the axis}}
  %result = nn.one_hot %i, %v, axis = 1 : (tensor<2xi64>, tensor<2xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @one_hot_axis(%i: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error@+1 {{the result has not the indices' dimensions and one more at the axis}}
  %result = nn.one_hot %i, %v, axis = 2 : (tensor<2xi64>, tensor<2xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @one_hot_values(%i: tensor<2xi64>, %v: tensor<3xf32>) {
  // expected-error@+1 {{values does not hold off and on}}
  %result = nn.one_hot %i, %v, axis = 1 : (tensor<2xi64>, tensor<3xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @cumulative_sum_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis 1 is not a dimension of the operand}}
  %result = nn.cumulative_sum %x, axis = 1 {exclusive = false, reverse = false} : tensor<2xf32>
  return
}

// -----

func.func @arg_max_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis 1 is not a dimension of the operand}}
  %result = nn.arg_max %x, axis = 1 {keep_dimension = false, select_last = false} : (tensor<2xf32>) -> tensor<i64>
  return
}

// -----

func.func @arg_min_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis 1 is not a dimension of the operand}}
  %result = nn.arg_min %x, axis = 1 {keep_dimension = false, select_last = false} : (tensor<2xf32>) -> tensor<i64>
  return
}

// -----

func.func @top_k_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis 1 is not a dimension of the operand}}
  %result:2 = "nn.top_k"(%x) {k = 1 : i64, axis = 1 : i64, largest = true} : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return
}

// -----

func.func @top_k_too_many(%x: tensor<2xf32>) {
  // expected-error@+2 {{has fewer than k elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %result:2 = "nn.top_k"(%x) {k = 3 : i64, axis = 0 : i64, largest = true} : (tensor<2xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  return
}

// -----

func.func @pool_rank(%x: tensor<1x2xf32>) {
  // expected-error@+1 {{the operand is not [N, C, spatial...]}}
  %result = "nn.max_pool"(%x) {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @pool_lists(%x: tensor<1x2x4x4xf32>) {
  // expected-error@+2 {{have not one element a spatial dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %result = "nn.max_pool"(%x) {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

func.func @pool_window(%x: tensor<1x2x4xf32>) {
  // expected-error@+2 {{spatial dimension 0: window, stride or dilation is not positive, or padding is negative}}
  // expected-error@+1 {{failed to infer returned types}}
  %result = "nn.max_pool"(%x) {window = array<i64: 2>, strides = array<i64: 0>, dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @pool_padding(%x: tensor<1x2x4xf32>) {
  // expected-error@+2 {{spatial dimension 0: window, stride or dilation is not positive, or padding is negative}}
  // expected-error@+1 {{failed to infer returned types}}
  %result = "nn.max_pool_indices"(%x) {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, padding_low = array<i64: -1>, padding_high = array<i64: 0>, column_major = false} : (tensor<1x2x4xf32>) -> tensor<1x2x2xi64>
  return
}

// -----

func.func @average_pool_ceil_padding(%x: tensor<1x2x4xf32>) {
  // expected-error@+1 {{ceil_padding has not one element a spatial dimension}}
  %result = "nn.average_pool"(%x) {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>, count_padding = false, ceil_padding = array<i64: 0, 0>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @lp_pool_p(%x: tensor<1x2x4xf32>) {
  // expected-error@+1 {{p is not positive}}
  %result = "nn.lp_pool"(%x) {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>, p = 0 : i64} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @lrn_rank(%x: tensor<2xf32>) {
  // expected-error@+1 {{the operand is not [N, C, spatial...]}}
  %result = nn.lrn %x {size = 3 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : tensor<2xf32>
  return
}

// -----

func.func @lrn_size(%x: tensor<1x2xf32>) {
  // expected-error@+1 {{'size' failed to satisfy constraint}}
  %result = nn.lrn %x {size = 0 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : tensor<1x2xf32>
  return
}

// -----

func.func @softmax_axes(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axes are not distinct dimensions of the operand}}
  %result = nn.softmax %x, axes = [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @softmax_axes_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axes are not distinct dimensions of the operand}}
  %result = nn.softmax %x, axes = [2] : tensor<2x3xf32>
  return
}

// -----

func.func @log_softmax_axes(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axes are not distinct dimensions of the operand}}
  %result = nn.log_softmax %x, axes = [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @log_softmax_axes_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axes are not distinct dimensions of the operand}}
  %result = nn.log_softmax %x, axes = [2] : tensor<2x3xf32>
  return
}

// -----

func.func @hardmax_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis 2 is not a dimension of the operand}}
  %result = nn.hardmax %x, axis = 2 : tensor<2x3xf32>
  return
}

// -----

func.func @lp_normalize_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis 2 is not a dimension of the operand}}
  %result = nn.lp_normalize %x, axis = 2 {p = 2 : i64} : tensor<2x3xf32>
  return
}

// -----

func.func @lp_normalize_p(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'p' failed to satisfy constraint}}
  %result = nn.lp_normalize %x, axis = 1 {p = 0 : i64} : tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_axis(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{axis 11 is not a dimension of the operand}}
  %result:3 = nn.layer_norm %x, %s axis = 11 {compute_type = f32, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{scale or bias does not broadcast to the normalised dimensions}}
  %result:3 = nn.layer_norm %x, %s axis = 1 {compute_type = f32, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_bias(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{scale or bias does not broadcast to the normalised dimensions}}
  %result:3 = nn.layer_norm %x, %s, %b axis = 1 {compute_type = f32, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_compute_type(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{compute_type is not a float type}}
  %result:3 = nn.layer_norm %x, %s axis = 1 {compute_type = i32, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @rms_norm_axis(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{axis 2 is not a dimension of the operand}}
  %result = nn.rms_norm %x, %s axis = 2 {compute_type = f32, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @rms_norm_scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{scale or bias does not broadcast to the normalised dimensions}}
  %result = nn.rms_norm %x, %s axis = 1 {compute_type = f32, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @rms_norm_compute_type(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{compute_type is not a float type}}
  %result = nn.rms_norm %x, %s axis = 1 {compute_type = index, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @group_norm_rank(%x: tensor<4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{the operand is not [N, C, spatial...]}}
  %result = nn.group_norm %x, %s, %s groups = 2 {epsilon = 1.0e-5 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @group_norm_channels(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{the channels are not a multiple of groups}}
  %result = nn.group_norm %x, %s, %s groups = 2 {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @group_norm_scale(%x: tensor<2x4xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{scale or bias is not one number a channel}}
  %result = nn.group_norm %x, %s, %s groups = 2 {epsilon = 1.0e-5 : f64} : (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @mean_var_norm_feature(%x: tensor<2x4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{feature_index 2 is not a dimension of the operand}}
  %result:4 = nn.mean_var_norm %x, %s, %s {feature_index = 2 : i64, momentum = 0.9 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @mean_var_norm_statistics(%x: tensor<2x4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{running statistics are not one number a feature}}
  %result:4 = nn.mean_var_norm %x, %s, %s {feature_index = 0 : i64, momentum = 0.9 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @recurrent_direction(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error@+1 {{direction is not forward, reverse or bidirectional}}
  %result:2 = "nn.rnn"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, direction = "sideways", activations = ["Tanh"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_rank(%x: tensor<5x2xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error@+1 {{X, W and R have not three dimensions}}
  %result:2 = "nn.rnn"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, direction = "forward", activations = ["Tanh"]} : (tensor<5x2xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_weights(%x: tensor<5x2x3xf32>, %w: tensor<1x8x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error@+1 {{W is not [D, gates * H, I] or R not [D, gates * H, H]}}
  %result:2 = "nn.rnn"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, direction = "forward", activations = ["Tanh"]} : (tensor<5x2x3xf32>, tensor<1x8x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_activations(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error@+1 {{needs 1 activations, not 2}}
  %result:2 = "nn.rnn"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, direction = "forward", activations = ["Tanh", "Tanh"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_activation_name(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error@+1 {{does not know the activation "Swish"}}
  %result:2 = "nn.rnn"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, direction = "forward", activations = ["Swish"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_bias(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %p: tensor<1x4xf32>) {
  // expected-error@+1 {{the bias is not [D, 2 * gates * H]}}
  %result:2 = "nn.rnn"(%x, %w, %r, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, direction = "forward", activations = ["Tanh"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_lengths(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %p: tensor<3xi32>) {
  // expected-error@+1 {{sequence_lengths is not [N]}}
  %result:2 = "nn.rnn"(%x, %w, %r, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>, direction = "forward", activations = ["Tanh"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<3xi32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @recurrent_state(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %p: tensor<1x4x2xf32>) {
  // expected-error@+1 {{the initial state is not [D, N, H]}}
  %result:2 = "nn.rnn"(%x, %w, %r, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>, direction = "forward", activations = ["Tanh"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x4x2xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @lstm_cell_state(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %p: tensor<1x4x2xf32>) {
  // expected-error@+1 {{the initial cell state is not [D, N, H]}}
  %result:3 = "nn.lstm"(%x, %w, %r, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0>, direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"], input_forget = false} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x4x2xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @lstm_peephole(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %p: tensor<1x4xf32>) {
  // expected-error@+1 {{the peephole weights are not [D, 3 * H]}}
  %result:3 = "nn.lstm"(%x, %w, %r, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>, direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"], input_forget = false} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @resize_scales(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{scales has not one element a dimension}}
  %result = "nn.resize"(%x) {scales = array<f64: 2.0>, mode = "linear", coordinates = "half_pixel", nearest = "floor", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_positive(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{a scale is not positive}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, -2.0>, mode = "linear", coordinates = "half_pixel", nearest = "floor", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_nan(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{a scale is not positive}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, 0x7FF8000000000000>, mode = "linear", coordinates = "half_pixel", nearest = "floor", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_mode(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{mode is not nearest, linear or cubic}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, 2.0>, mode = "area", coordinates = "half_pixel", nearest = "floor", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_coordinates(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{does not know the coordinates corner}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, 2.0>, mode = "linear", coordinates = "corner", nearest = "floor", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_nearest(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{does not know the rounding up}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, 2.0>, mode = "linear", coordinates = "half_pixel", nearest = "up", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_roi_size(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{roi has not two elements a dimension}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, 2.0>, mode = "linear", coordinates = "half_pixel", nearest = "floor", exclude_outside = false, antialias = false, roi = array<f64: 0.0>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @resize_roi(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{tf_crop_and_resize needs roi}}
  %result = "nn.resize"(%x) {scales = array<f64: 1.0, 2.0>, mode = "linear", coordinates = "tf_crop_and_resize", nearest = "floor", exclude_outside = false, antialias = false} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @attention_element_type(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf64>, %v: tensor<2x7x3xf64>) {
  // expected-error@+1 {{operands differ in element type (C1)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x7x8xf64>, tensor<2x7x3xf64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_rank(%q: tensor<2x5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) {
  // expected-error@+1 {{operands are not all of one rank, which is at least 2 (C1)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<7x8xf32>, tensor<7x3xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_depth(%q: tensor<2x5x8xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x3xf32>) {
  // expected-error@+1 {{query and key differ in their last dimension (C2)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x7x4xf32>, tensor<2x7x3xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_rows(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{key and value differ in their number of rows (C2)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x6x3xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<1x7x3xf32>) {
  // expected-error@+1 {{key and value differ in dimension 0 (C3)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<1x7x3xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_groups(%q: tensor<3x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>) {
  // expected-error@+1 {{the query's dimension 0 is not a multiple of the key's (C4)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<3x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>) -> tensor<3x5x3xf32>
  return
}

// -----

func.func @attention_mask(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>, %m: tensor<2x5x7xf32>) {
  // expected-error@+1 {{the mask does not broadcast to the scores (C5)}}
  %result = nn.attention %q, %k, %v, %m scale = 1.0 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>, tensor<2x5x7xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @attention_mask_columns(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>, %m: tensor<2x5x1xf32>) {
  // expected-error@+1 {{the mask does not broadcast to the scores (C5)}}
  %result = nn.attention %q, %k, %v, %m scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>, tensor<2x5x1xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_no_keys(%q: tensor<2x5x8xf32>, %k: tensor<2x0x8xf32>, %v: tensor<2x0x3xf32>) {
  // expected-error@+1 {{there are no rows of keys (C6)}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x0x8xf32>, tensor<2x0x3xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_key_rank(%q: tensor<2x5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<2x7x3xf32>) {
  // expected-error@+1 {{operands are not all of one rank, which is at least 2 (C1)}}
  %result = "nn.attention"(%q, %k, %v) {scale = 1.0} : (tensor<2x5x8xf32>, tensor<7x8xf32>, tensor<2x7x3xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_mask_rank(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>, %m: tensor<7xf32>) {
  // expected-error@+1 {{operands are not all of one rank, which is at least 2 (C1)}}
  %result = "nn.attention"(%q, %k, %v, %m) {scale = 1.0} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>, tensor<7xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @attention_vectors(%q: tensor<8xf32>) {
  // expected-error@+1 {{operands are not all of one rank, which is at least 2 (C1)}}
  %result = "nn.attention"(%q, %q, %q) {scale = 1.0} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @attention_operands(%q: tensor<5x8xf32>) {
  // expected-error@+1 {{expected 3 or more operands, but found 1}}
  %result = "nn.attention"(%q) {scale = 1.0} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @attention_mask_element_type(%q: tensor<5x8xf32>, %m: tensor<5x5xf64>) {
  // expected-error@+1 {{operands differ in element type (C1)}}
  %result = nn.attention %q, %q, %q, %m scale = 1.0 : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x5xf64>) -> tensor<5x8xf32>
  return
}

// -----

func.func @attention_chosen(%q: tensor<5x8xf32>) {
  // expected-error@+1 {{there is no mask that is `chosen` (C7)}}
  %result = nn.attention %q, %q, %q scale = 1.0 chosen : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @attention_result(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>) {
  // expected-error@+2 {{inferred type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %result = nn.attention %q, %k, %v scale = 1.0 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

func.func @quantised_of_another_storage(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{operands and results differ in element type}}
  %r = "nn.relu"(%x) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  return
}

// -----

func.func @unary_of_another_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{operands and results differ in element type}}
  %r = "nn.gelu"(%x) {approximate = false} : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @dropout_of_more_than_all(%x: tensor<2xf32>) {
  // expected-error@+1 {{ratio is 1.500000e+00, not from 0 to 1}}
  %r = nn.dropout %x {ratio = 1.5} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dropout_by_another_mask(%x: tensor<2xf32>, %m: tensor<3xi1>) {
  // expected-error@+1 {{must have the same shape}}
  %r = nn.dropout %x, %m {ratio = 0.5} : (tensor<2xf32>, tensor<3xi1>) -> tensor<2xf32>
  return
}

// -----

// What moves elements keeps what they mean.
func.func @moved_to_another_scale(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %i: tensor<1xi64>) {
  // expected-error@+2 {{are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = nn.take %x, %i, axis = 0 : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<1xi64>) -> tensor<1x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @quantize_of_another_expressed_type(%x: tensor<2xf16>) {
  // expected-error@+1 {{the result expresses 'f32', not 'f16'}}
  %r = nn.quantize %x : (tensor<2xf16>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @quantize_to_floats(%x: tensor<2xf32>) {
  // expected-error@+1 {{must be quantised tensor}}
  %r = nn.quantize %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// What is quantised along an axis stays so along the same, wherever it goes.
func.func @axis_of_broadcast(%x: tensor<2x1x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, %y: tensor<?x2x2xf32>) {
  %right = nn.broadcast_like %x, %y : (tensor<2x1x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<?x2x2xf32>) -> tensor<?x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  // expected-error@+2 {{are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %wrong = nn.broadcast_like %x, %y : (tensor<2x1x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<?x2x2xf32>) -> tensor<?x2x2x!quant.uniform<i8:f32:2, {0.5, 0.25}>>
  return
}

// -----

func.func @axis_of_take(%x: tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, %i: tensor<4x5xi64>, %j: tensor<2xi64>) {
  %right = nn.take %x, %i, axis = 0 : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, tensor<4x5xi64>) -> tensor<4x5x2x!quant.uniform<i8:f32:2, {0.5, 0.25}>>
  // expected-error@+2 {{takes elements along the axis that the operand is quantised along}}
  // expected-error@+1 {{failed to infer returned types}}
  %wrong = nn.take %x, %j, axis = 1 : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, tensor<2xi64>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

func.func @take_of_nothing(%x: tensor<2x0xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'nn.take' op takes from a dimension of size 0}}
  %result = nn.take %x, %i, axis = 1 : (tensor<2x0xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @take_along_of_nothing(%x: tensor<2x0xf32>, %i: tensor<2x3xi64>) {
  // expected-error@+1 {{'nn.take_along' op takes from a dimension of size 0}}
  %result = nn.take_along %x, %i, axis = 1 : (tensor<2x0xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @boxes_of_five(%b: tensor<1x6x5xf32>, %s: tensor<1x2x6xf32>, %m: tensor<i64>, %o: tensor<f32>) {
  // expected-error @+1 {{boxes have 5 numbers each, not 4}}
  %r = nn.non_max_suppression %b, %s, %m, %o centred = false : (tensor<1x6x5xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @boxes_of_other_images(%b: tensor<1x6x4xf32>, %s: tensor<2x2x6xf32>, %m: tensor<i64>, %o: tensor<f32>) {
  // expected-error @+1 {{boxes and scores are of different numbers of images}}
  %r = nn.non_max_suppression %b, %s, %m, %o centred = false : (tensor<1x6x4xf32>, tensor<2x2x6xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @boxes_without_scores(%b: tensor<1x6x4xf32>, %s: tensor<1x2x5xf32>, %m: tensor<i64>, %o: tensor<f32>) {
  // expected-error @+1 {{there is not one score a class for each box}}
  %r = nn.non_max_suppression %b, %s, %m, %o centred = false : (tensor<1x6x4xf32>, tensor<1x2x5xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @places_of_boxes(%b: tensor<1x6x4xf32>, %s: tensor<1x2x6xf32>, %m: tensor<i64>, %o: tensor<f32>) {
  // expected-error @+1 {{the result has not 3 columns}}
  %r = nn.non_max_suppression %b, %s, %m, %o centred = false : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>) -> tensor<?x2xi64>
  return
}

// -----

func.func @assumption_of_a_vector(%c: tensor<1xi1>) {
  // expected-error @+1 {{operand #0 must be 0D tensor of 1-bit signless integer values}}
  nn.assume %c is true, "If" : tensor<1xi1>
  return
}

// -----

func.func @tree_aggregate(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{aggregate is "product", not "sum", "average", "minimum" or "maximum"}}
  %r = nn.tree_ensemble %x, "product" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_no_trees(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{there are no trees}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_node_lists(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{features, thresholds, modes, true_children and false_children differ in length}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_feature(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{features[0] is 2, of 2 features}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 2, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_feature_negative(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{features[1] is -1, of 2 features}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, -1>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_mode(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{modes[1] is 6, neither 0 to 5 nor 8 to 13}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 6>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_mode_bits(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{modes[0] is 16, neither 0 to 5 nor 8 to 13}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 16, 0>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_cycle(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{true_children[1] is 0, which does not follow its parent}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, 0>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_self(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{false_children[1] is 1, which does not follow its parent}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, 1>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_child(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{true_children[0] is 2, but there are 2 nodes and 3 leaves}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 2, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_leaf(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{false_children[1] is -4, but there are 2 nodes and 3 leaves}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -4>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_root(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{roots[0] is 2, but there are 2 nodes and 3 leaves}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 2>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_weight_lists(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{targets and weights differ in length}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_leaf_starts(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{leaf_starts does not ascend from 0 to the number of weights}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 3, 1, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_leaf_starts_end(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{leaf_starts does not ascend from 0 to the number of weights}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 5>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_target(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{targets[3] is 2, of 2 targets}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 2>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @tree_targets(%x: tensor<7x2xf32>) {
  // expected-error@+1 {{there are 65537 targets, more than 65536}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 65537 : i64} : (tensor<7x2xf32>) -> tensor<7x65537xf32>
  return
}

// -----

func.func @tree_operand(%x: tensor<7xf32>) {
  // expected-error@+2 {{the operand is not [N, features]: 'tensor<7xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = nn.tree_ensemble %x, "sum" {roots = array<i32: 0>, features = array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : i64} : (tensor<7xf32>) -> tensor<7x2xf32>
  return
}
