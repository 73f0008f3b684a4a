// Rescales that meet, move and vanish.

!half = !quant.uniform<i8:f32, 0.5>
!quarter = !quant.uniform<i8:f32, 0.25:3>
!fifth = !quant.uniform<i8:f32, 0.4:1>
!coarse = !quant.uniform<i8:f32, 2.0>
!fine = !quant.uniform<i16:f32, 0.25:-7>
!bytes = !quant.uniform<u8:f32, 0.5:128>
!columns = !quant.uniform<i8:f32:1, {0.5, 0.25:3, 0.125:-5}>
!rows = !quant.uniform<i8:f32:0, {0.5, 0.25:3, 0.125:-5}>
!narrow = !quant.uniform<i8:f32, 0.3:2>

func.func @"drop-rescale/same_type"(%x: tensor<4x6x!quarter>) -> tensor<4x6x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!quarter>
  return %0 : tensor<4x6x!quarter>
}

func.func @"drop-rescale/rounded_first"(%x: tensor<4x3x!columns>) -> tensor<4x3x!columns> {
  %0 = nn.quantize %x : (tensor<4x3x!columns>) -> tensor<4x3x!columns>
  return %0 : tensor<4x3x!columns>
}

func.func @"drop-rescale/stays-another_type"(%x: tensor<4x6x!quarter>) -> tensor<4x6x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  return %0 : tensor<4x6x!half>
}

func.func @"absorb-rescale/in_front_of_numbers"(%x: tensor<4x6x!half>) -> tensor<6x4xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!fine>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x!fine>) -> tensor<6x4x!fine>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<6x4x!fine>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

func.func @"absorb-rescale/stays-rounds"(%x: tensor<4x6x!quarter>, %y: tensor<4x6x!half>) -> tensor<4x6x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.add %0, %y : tensor<4x6x!half>
  return %1 : tensor<4x6x!half>
}

// Between has all that either side holds.
func.func @"hoist-rescale/two"(%x: tensor<4x6x!half>) -> tensor<4x6x!fifth> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!fine>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!fine>) -> tensor<4x6x!fifth>
  return %1 : tensor<4x6x!fifth>
}

func.func @"hoist-rescale/there_and_back"(%x: tensor<4x6x!half>) -> tensor<24x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!fine>
  %1 = stablehlo.reshape %0 : (tensor<4x6x!fine>) -> tensor<24x!fine>
  %2 = stablehlo.uniform_quantize %1 : (tensor<24x!fine>) -> tensor<24x!half>
  return %2 : tensor<24x!half>
}

func.func @"hoist-rescale/repeated"(%x: tensor<4x!half>) -> tensor<4x6x!quarter> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  return %1 : tensor<4x6x!quarter>
}

func.func @"hoist-rescale/padded"(%x: tensor<4x3x!columns>) -> tensor<7x3x!half> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x3x!columns>) -> tensor<5x4x3x!quant.uniform<i8:f32:2, {0.5, 0.25:3, 0.125:-5}>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<5x4x3x!quant.uniform<i8:f32:2, {0.5, 0.25:3, 0.125:-5}>>) -> tensor<5x4x3x!half>
  %2 = stablehlo.slice %1 [0:1, 0:4, 0:3] : (tensor<5x4x3x!half>) -> tensor<1x4x3x!half>
  %3 = stablehlo.reshape %2 : (tensor<1x4x3x!half>) -> tensor<4x3x!half>
  %4 = stablehlo.concatenate %3, %3, dim = 0 : (tensor<4x3x!half>, tensor<4x3x!half>) -> tensor<8x3x!half>
  %5 = stablehlo.slice %4 [0:7, 0:3] : (tensor<8x3x!half>) -> tensor<7x3x!half>
  return %5 : tensor<7x3x!half>
}

func.func @"hoist-rescale/constant"(%x: tensor<6x!quarter>) -> tensor<6x!quarter> {
  %c = stablehlo.constant() {value = dense<[-128, -7, 0, 5, 77, 127]> : tensor<6xi8>} : () -> tensor<6x!half>
  %0 = stablehlo.uniform_quantize %c : (tensor<6x!half>) -> tensor<6x!quarter>
  %1 = stablehlo.add %x, %0 : tensor<6x!quarter>
  return %1 : tensor<6x!quarter>
}

func.func @"hoist-rescale/stays-cuts_between"(%x: tensor<4x6x!half>) -> tensor<4x6x!fifth> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!quarter>) -> tensor<4x6x!fifth>
  return %1 : tensor<4x6x!fifth>
}

func.func @"hoist-rescale/stays-several_readers"(%x: tensor<4x!half>) -> (tensor<4x6x!quarter>, tensor<4x6x!half>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  return %1, %0 : tensor<4x6x!quarter>, tensor<4x6x!half>
}

func.func @"hoist-rescale/stays-fewer_behind"(%x: tensor<4x6x!half>) -> tensor<2x3x!quarter> {
  %0 = stablehlo.slice %x [0:2, 0:3] : (tensor<4x6x!half>) -> tensor<2x3x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2x3x!half>) -> tensor<2x3x!quarter>
  return %1 : tensor<2x3x!quarter>
}

func.func @"sink-rescale/max_pool"(%x: tensor<1x2x6x6x!half>) -> tensor<1x2x3x3x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<1x2x6x6x!half>) -> tensor<1x2x6x6x!quarter>
  %1 = nn.max_pool %0, window = [3, 3] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 0, 0>} : (tensor<1x2x6x6x!quarter>) -> tensor<1x2x3x3x!quarter>
  return %1 : tensor<1x2x3x3x!quarter>
}

func.func @"sink-rescale/several_at_once"(%x: tensor<4x6x!bytes>) -> tensor<3x2x!quarter> {
  %0 = nn.quantize %x : (tensor<4x6x!bytes>) -> tensor<4x6x!quarter>
  %1 = nn.relu %0 : tensor<4x6x!quarter>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x6x!quarter>) -> tensor<6x4x!quarter>
  %3 = stablehlo.slice %2 [0:3, 1:3] : (tensor<6x4x!quarter>) -> tensor<3x2x!quarter>
  return %3 : tensor<3x2x!quarter>
}

func.func @"sink-rescale/joined"(%x: tensor<2x3x!half>, %y: tensor<2x5x!half>) -> tensor<2x8x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3x!half>) -> tensor<2x3x!quarter>
  %1 = stablehlo.uniform_quantize %y : (tensor<2x5x!half>) -> tensor<2x5x!quarter>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<2x3x!quarter>, tensor<2x5x!quarter>) -> tensor<2x8x!quarter>
  return %2 : tensor<2x8x!quarter>
}

func.func @"sink-rescale/beside_constants"(%x: tensor<2x9x!half>) -> tensor<6x!quarter> {
  %z = stablehlo.constant() {value = dense<7> : tensor<i8>} : () -> tensor<!quarter>
  %c = stablehlo.constant() {value = dense<[[9]]> : tensor<1x1xi8>} : () -> tensor<1x1x!quarter>
  %b = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<1x1x!quarter>) -> tensor<2x1x!quarter>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x9x!half>) -> tensor<2x9x!quarter>
  %1 = stablehlo.concatenate %0, %b, dim = 1 : (tensor<2x9x!quarter>, tensor<2x1x!quarter>) -> tensor<2x10x!quarter>
  %2 = stablehlo.pad %1, %z, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<2x10x!quarter>, tensor<!quarter>) -> tensor<2x12x!quarter>
  %3 = stablehlo.slice %2 [0:1, 0:12:2] : (tensor<2x12x!quarter>) -> tensor<1x6x!quarter>
  %4 = stablehlo.reshape %3 : (tensor<1x6x!quarter>) -> tensor<6x!quarter>
  return %4 : tensor<6x!quarter>
}

func.func @"sink-rescale/per_axis"(%x: tensor<4x3x!columns>) -> tensor<3x4x!quant.uniform<i16:f32:0, {0.25, 0.5:1, 0.3}>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x3x!columns>) -> tensor<4x3x!quant.uniform<i16:f32:1, {0.25, 0.5:1, 0.3}>>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3x!quant.uniform<i16:f32:1, {0.25, 0.5:1, 0.3}>>) -> tensor<3x4x!quant.uniform<i16:f32:0, {0.25, 0.5:1, 0.3}>>
  return %1 : tensor<3x4x!quant.uniform<i16:f32:0, {0.25, 0.5:1, 0.3}>>
}

func.func @"sink-rescale/clamp"(%x: tensor<8x!half>) -> tensor<3x!quarter> {
  %low = stablehlo.constant() {value = dense<-128> : tensor<i8>} : () -> tensor<!quarter>
  %high = stablehlo.constant() {value = dense<27> : tensor<i8>} : () -> tensor<!quarter>
  %0 = stablehlo.uniform_quantize %x : (tensor<8x!half>) -> tensor<8x!quarter>
  %1 = stablehlo.clamp %low, %0, %high : (tensor<!quarter>, tensor<8x!quarter>, tensor<!quarter>) -> tensor<8x!quarter>
  %2 = stablehlo.slice %1 [2:5] : (tensor<8x!quarter>) -> tensor<3x!quarter>
  return %2 : tensor<3x!quarter>
}

func.func @"sink-rescale/window"(%x: tensor<1x4x4x!half>) -> tensor<1x2x2x!fine> {
  %i = stablehlo.constant() {value = dense<-32768> : tensor<i16>} : () -> tensor<!fine>
  %0 = stablehlo.uniform_quantize %x : (tensor<1x4x4x!half>) -> tensor<1x4x4x!fine>
  %1 = "stablehlo.reduce_window"(%0, %i) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%a: tensor<!fine>, %b: tensor<!fine>):
    %2 = stablehlo.maximum %a, %b : tensor<!fine>
    stablehlo.return %2 : tensor<!fine>
  }) : (tensor<1x4x4x!fine>, tensor<!fine>) -> tensor<1x2x2x!fine>
  return %1 : tensor<1x2x2x!fine>
}

func.func @"sink-rescale/stays-as_many_bytes"(%x: tensor<4x6x!half>) -> tensor<24x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  %1 = stablehlo.reshape %0 : (tensor<4x6x!quarter>) -> tensor<24x!quarter>
  return %1 : tensor<24x!quarter>
}

func.func @"sink-rescale/stays-another_reader"(%x: tensor<4x6x!half>) -> (tensor<2x6x!quarter>, tensor<4x6x!quarter>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  %1 = stablehlo.slice %0 [0:2, 0:6] : (tensor<4x6x!quarter>) -> tensor<2x6x!quarter>
  return %1, %0 : tensor<2x6x!quarter>, tensor<4x6x!quarter>
}

// No number of halves becomes an even one of quarters with an odd zero point.
func.func @"sink-rescale/stays-constant_between"(%x: tensor<2x6x!half>) -> tensor<2x7x!quarter> {
  %c = stablehlo.constant() {value = dense<[[8], [9]]> : tensor<2x1xi8>} : () -> tensor<2x1x!quarter>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x6x!half>) -> tensor<2x6x!quarter>
  %1 = stablehlo.concatenate %0, %c, dim = 1 : (tensor<2x6x!quarter>, tensor<2x1x!quarter>) -> tensor<2x7x!quarter>
  %2 = stablehlo.slice %1 [0:1, 0:7] : (tensor<2x7x!quarter>) -> tensor<1x7x!quarter>
  %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<1x7x!quarter>, tensor<1x7x!quarter>) -> tensor<2x7x!quarter>
  return %3 : tensor<2x7x!quarter>
}

func.func @"sink-rescale/stays-two_scales"(%x: tensor<2x3x!half>, %y: tensor<2x5x!bytes>) -> tensor<2x8x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3x!half>) -> tensor<2x3x!quarter>
  %1 = stablehlo.uniform_quantize %y : (tensor<2x5x!bytes>) -> tensor<2x5x!quarter>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<2x3x!quarter>, tensor<2x5x!quarter>) -> tensor<2x8x!quarter>
  return %2 : tensor<2x8x!quarter>
}

func.func @"sink-rescale/stays-mixed_axis"(%x: tensor<3x4x!rows>) -> tensor<6x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<3x4x!rows>) -> tensor<3x4x!half>
  %1 = stablehlo.reshape %0 : (tensor<3x4x!half>) -> tensor<12x!half>
  %2 = stablehlo.slice %1 [0:6] : (tensor<12x!half>) -> tensor<6x!half>
  return %2 : tensor<6x!half>
}

func.func @"sink-rescale/stays-window_of_padding"(%x: tensor<1x2x6x6x!half>) -> tensor<1x2x4x4x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<1x2x6x6x!half>) -> tensor<1x2x6x6x!quarter>
  %1 = nn.max_pool %0, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 2, 2>, padding_high = array<i64: 0, 0>} : (tensor<1x2x6x6x!quarter>) -> tensor<1x2x4x4x!quarter>
  return %1 : tensor<1x2x4x4x!quarter>
}

func.func @"requantize-result/add"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> tensor<6x4x!narrow> {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x!half>) -> tensor<6x4x!half>
  %2 = stablehlo.uniform_quantize %1 : (tensor<6x4x!half>) -> tensor<6x4x!narrow>
  return %2 : tensor<6x4x!narrow>
}

func.func @"requantize-result/lrn"(%x: tensor<1x4x3x3x!half>) -> tensor<1x4x3x3x!fifth> {
  %0 = nn.lrn %x {size = 3 : i64, alpha = 0.01, beta = 0.75, bias = 1.0} : (tensor<1x4x3x3x!half>) -> tensor<1x4x3x3x!half>
  %1 = nn.quantize %0 : (tensor<1x4x3x3x!half>) -> tensor<1x4x3x3x!fifth>
  return %1 : tensor<1x4x3x3x!fifth>
}

func.func @"requantize-result/quantize"(%x: tensor<4x6xf32>) -> tensor<4x6x!fifth> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6xf32>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!fifth>
  return %1 : tensor<4x6x!fifth>
}

func.func @"requantize-result/two"(%x: tensor<4x6x!fine>) -> tensor<4x6x!fifth> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!fine>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!fifth>
  return %1 : tensor<4x6x!fifth>
}

// What is cut below zero was not there.
func.func @"requantize-result/not_negative"(%x: tensor<4x6x!half>) -> tensor<4x6x!narrow> {
  %0 = stablehlo.logistic %x : (tensor<4x6x!half>) -> tensor<4x6x!quant.uniform<i8:f32, 0.00390625:-128>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!quant.uniform<i8:f32, 0.00390625:-128>>) -> tensor<4x6x!narrow>
  return %1 : tensor<4x6x!narrow>
}

func.func @"requantize-result/stays-cut_before"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> tensor<4x6x!coarse> {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!coarse>
  return %1 : tensor<4x6x!coarse>
}

func.func @"requantize-result/stays-coarse"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> tensor<4x6x!half> {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!coarse>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!coarse>) -> tensor<4x6x!half>
  return %1 : tensor<4x6x!half>
}

func.func @"requantize-result/stays-another_reader"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> (tensor<4x6x!fifth>, tensor<4x6x!half>) {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!fifth>
  return %1, %0 : tensor<4x6x!fifth>, tensor<4x6x!half>
}

func.func @"requantize-operand/add"(%x: tensor<4x6x!quarter>, %y: tensor<24x!half>) -> tensor<24x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.reshape %0 : (tensor<4x6x!half>) -> tensor<24x!half>
  %2 = stablehlo.add %1, %y : tensor<24x!half>
  return %2 : tensor<24x!half>
}

func.func @"requantize-operand/lrn"(%x: tensor<1x4x3x3x!quarter>) -> tensor<1x4x3x3x!half> {
  %0 = nn.quantize %x : (tensor<1x4x3x3x!quarter>) -> tensor<1x4x3x3x!half>
  %1 = nn.lrn %0 {size = 3 : i64, alpha = 0.001, beta = 0.75, bias = 1.0} : (tensor<1x4x3x3x!half>) -> tensor<1x4x3x3x!half>
  return %1 : tensor<1x4x3x3x!half>
}

func.func @"requantize-operand/weighted"(%x: tensor<4x6x!quarter>) -> tensor<4x2x!half> {
  %w = stablehlo.constant() {value = dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]> : tensor<6x2xi8>} : () -> tensor<6x2x!quant.uniform<i8:f32, 0.015625>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x6x!half>, tensor<6x2x!quant.uniform<i8:f32, 0.015625>>) -> tensor<4x2x!half>
  return %1 : tensor<4x2x!half>
}

func.func @"requantize-operand/two_readers"(%x: tensor<4x6x!quarter>, %y: tensor<4x6x!half>) -> (tensor<4x6x!half>, tensor<4x6x!half>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.add %0, %y : tensor<4x6x!half>
  %2 = nn.relu %0 : tensor<4x6x!half>
  return %1, %2 : tensor<4x6x!half>, tensor<4x6x!half>
}

// From -64 to 63.5, of which quarters hold half.
func.func @"requantize-operand/stays-cuts"(%x: tensor<4x6x!half>, %y: tensor<4x6x!quarter>) -> tensor<4x6x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  %1 = stablehlo.add %0, %y : tensor<4x6x!quarter>
  return %1 : tensor<4x6x!quarter>
}

// The scale of the sums is the product of the operands' scales.
func.func @"requantize-operand/stays-sums"(%x: tensor<4x6x!quarter>) -> tensor<4x2x!quant.uniform<i32:f32, 0.125>> {
  %w = stablehlo.constant() {value = dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]> : tensor<6x2xi8>} : () -> tensor<6x2x!quant.uniform<i8:f32, 0.25>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x6x!half>, tensor<6x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.125>>
  return %1 : tensor<4x2x!quant.uniform<i32:f32, 0.125>>
}

func.func @"requantize-operand/sums"(%x: tensor<4x6x!quarter>) -> tensor<4x2x!half> {
  %w = stablehlo.constant() {value = dense<[[1, 2], [3, 4], [5, 6], [-7, 8], [9, -10], [11, 12]]> : tensor<6x2xi8>} : () -> tensor<6x2x!quant.uniform<i8:f32:1, {0.015625, 0.0078125}>>
  %b = stablehlo.constant() {value = dense<[100, -77]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32:0, {0.0078125, 0.00390625}>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x6x!half>, tensor<6x2x!quant.uniform<i8:f32:1, {0.015625, 0.0078125}>>) -> tensor<4x2x!quant.uniform<i32:f32:1, {0.0078125, 0.00390625}>>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2x!quant.uniform<i32:f32:0, {0.0078125, 0.00390625}>>) -> tensor<4x2x!quant.uniform<i32:f32:1, {0.0078125, 0.00390625}>>
  %3 = stablehlo.add %1, %2 : tensor<4x2x!quant.uniform<i32:f32:1, {0.0078125, 0.00390625}>>
  %4 = stablehlo.uniform_quantize %3 : (tensor<4x2x!quant.uniform<i32:f32:1, {0.0078125, 0.00390625}>>) -> tensor<4x2x!half>
  return %4 : tensor<4x2x!half>
}

func.func @"requantize-operand/stays-sums_with_readers"(%x: tensor<4x6x!quarter>) -> (tensor<4x2x!half>, tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>) {
  %w = stablehlo.constant() {value = dense<[[1, 2], [3, 4], [5, 6], [-7, 8], [9, -10], [11, 12]]> : tensor<6x2xi8>} : () -> tensor<6x2x!quant.uniform<i8:f32, 0.015625>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x6x!half>, tensor<6x2x!quant.uniform<i8:f32, 0.015625>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>
  %4 = stablehlo.uniform_quantize %1 : (tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>) -> tensor<4x2x!half>
  return %4, %1 : tensor<4x2x!half>, tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>
}

func.func @"requantize-operand/stays-what_is_added_varies"(%x: tensor<4x6x!quarter>, %b: tensor<4x2x!quant.uniform<i32<-9999:9999>:f32, 0.0078125>>) -> tensor<4x2x!half> {
  %w = stablehlo.constant() {value = dense<[[1, 2], [3, 4], [5, 6], [-7, 8], [9, -10], [11, 12]]> : tensor<6x2xi8>} : () -> tensor<6x2x!quant.uniform<i8:f32, 0.015625>>
  %c = stablehlo.uniform_quantize %b : (tensor<4x2x!quant.uniform<i32<-9999:9999>:f32, 0.0078125>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x6x!half>, tensor<6x2x!quant.uniform<i8:f32, 0.015625>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>
  %3 = stablehlo.add %1, %c : tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>
  %4 = stablehlo.uniform_quantize %3 : (tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>) -> tensor<4x2x!half>
  return %4 : tensor<4x2x!half>
}

// Behind the reversal no number is greater than what the type between holds.
func.func @"requantize-operand/stays-cuts_in_front"(%x: tensor<24x!half>, %y: tensor<24x!quarter>) -> tensor<24x!quarter> {
  %0 = stablehlo.uniform_quantize %x : (tensor<24x!half>) -> tensor<24x!quarter>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<24x!quarter>
  %2 = stablehlo.add %1, %y : tensor<24x!quarter>
  return %2 : tensor<24x!quarter>
}

// A branch whose range is narrower than the joint one, of a function, a sum, of
// numbers and of a rescale.
func.func @"requantize-clamped/add"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> tensor<4x6x!coarse> {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!coarse>
  return %1 : tensor<4x6x!coarse>
}

func.func @"requantize-clamped/sums"(%x: tensor<4x6x!half>) -> tensor<4x2x!half> {
  %w = stablehlo.constant() {value = dense<[[1, 2], [3, 4], [5, 6], [-7, 8], [9, -10], [11, 12]]> : tensor<6x2xi8>} : () -> tensor<6x2x!quant.uniform<i8:f32, 0.015625>>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x6x!half>, tensor<6x2x!quant.uniform<i8:f32, 0.015625>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>
  %1 = nn.quantize %0 : (tensor<4x2x!quant.uniform<i32:f32, 0.0078125>>) -> tensor<4x2x!quarter>
  %2 = nn.quantize %1 : (tensor<4x2x!quarter>) -> tensor<4x2x!half>
  return %2 : tensor<4x2x!half>
}

func.func @"requantize-clamped/quantize"(%x: tensor<4x6xf32>) -> tensor<6x4x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6xf32>) -> tensor<4x6x!quarter>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x!quarter>) -> tensor<6x4x!quarter>
  %2 = stablehlo.uniform_quantize %1 : (tensor<6x4x!quarter>) -> tensor<6x4x!half>
  return %2 : tensor<6x4x!half>
}

func.func @"requantize-clamped/there_and_back"(%x: tensor<4x6x!half>) -> tensor<4x6x!half> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!half>) -> tensor<4x6x!quarter>
  %1 = nn.quantize %0 : (tensor<4x6x!quarter>) -> tensor<4x6x!half>
  return %1 : tensor<4x6x!half>
}

// Only below it cuts something.
func.func @"requantize-clamped/one_side"(%x: tensor<4x6x!half>) -> tensor<4x6x!fifth> {
  %0 = stablehlo.add %x, %x : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!quant.uniform<i8:f32, 0.4:-127>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!quant.uniform<i8:f32, 0.4:-127>>) -> tensor<4x6x!fifth>
  return %1 : tensor<4x6x!fifth>
}

func.func @"requantize-clamped/stays-coarse"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> tensor<4x6x!half> {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!coarse>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!coarse>) -> tensor<4x6x!half>
  return %1 : tensor<4x6x!half>
}

func.func @"requantize-clamped/stays-another_reader"(%x: tensor<4x6x!half>, %y: tensor<4x6x!half>) -> (tensor<4x6x!coarse>, tensor<4x6x!half>) {
  %0 = stablehlo.add %x, %y : (tensor<4x6x!half>, tensor<4x6x!half>) -> tensor<4x6x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x!half>) -> tensor<4x6x!coarse>
  return %1, %0 : tensor<4x6x!coarse>, tensor<4x6x!half>
}

// What the channels hold is not the same in one scale, and a clamp has one
// bound for all.
func.func @"requantize-clamped/stays-by_channel"(%x: tensor<4x3xf32>) -> tensor<4x3x!coarse> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x3xf32>) -> tensor<4x3x!columns>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x3x!columns>) -> tensor<4x3x!coarse>
  return %1 : tensor<4x3x!coarse>
}

func.func @"requantize-clamped/stays-to_channels"(%x: tensor<4x3xf32>) -> tensor<4x3x!quant.uniform<i8:f32:1, {2.0, 2.0, 4.0}>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x3xf32>) -> tensor<4x3x!half>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x3x!half>) -> tensor<4x3x!quant.uniform<i8:f32:1, {2.0, 2.0, 4.0}>>
  return %1 : tensor<4x3x!quant.uniform<i8:f32:1, {2.0, 2.0, 4.0}>>
}
