//===- NnStructured.td - pooling, normalisation, recurrence, resize -------===//

#ifndef SINTER_GRAPH_NN_STRUCTURED
#define SINTER_GRAPH_NN_STRUCTURED

include "graph/nn/NnBase.td"

//===----------------------------------------------------------------------===//
// Pooling: channels first
//===----------------------------------------------------------------------===//

/// Windows slide over the spatial dimensions. The result's size is floor((size
/// + low + high - (window - 1) * dilation - 1) / stride) + 1; rounding up is
/// expressed by more padding.
class Nn_PoolOp<string mnemonic, dag more = (ins)> : Nn_InferredOp<mnemonic> {
  let arguments = !con((ins Stablehlo_RealTensor:$operand,
                            DenseI64ArrayAttr:$window,
                            DenseI64ArrayAttr:$strides,
                            DenseI64ArrayAttr:$dilations,
                            DenseI64ArrayAttr:$padding_low,
                            DenseI64ArrayAttr:$padding_high), more);
  let results = (outs Stablehlo_RealTensor:$result);
  let assemblyFormat = [{
    $operand `,` `window` `=` $window `strides` `=` $strides attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_MaxPoolOp : Nn_PoolOp<"max_pool"> {
  let summary = "The greatest element of each window";
}

def Nn_AveragePoolOp : Nn_PoolOp<"average_pool", (ins
    BoolAttr:$count_padding,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$ceil_padding)> {
  let summary = "The mean of each window";
  let description = [{
    The divisor is the number of elements inside the operand or, with
    `count_padding`, inside the operand and its padding. `ceil_padding` is the
    amount of `padding_high` that was added only to round the size up: it never
    counts.
  }];
}

def Nn_LpPoolOp : Nn_PoolOp<"lp_pool", (ins I64Attr:$p)> {
  let summary = "The p-norm of each window";
}

def Nn_MaxPoolIndicesOp : Nn_PoolOp<"max_pool_indices", (ins
    BoolAttr:$column_major)> {
  let summary = "Where max_pool's elements stand in the flattened operand";
  let description = [{
    The index is row-major over [N, C, spatial...]; with `column_major` the
    spatial dimensions are column-major. The result is a tensor of i64.
  }];
  let results = (outs RankedTensorOf<[I64]>:$result);
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

def Nn_LrnOp : Nn_LikeFirstOp<"lrn"> {
  let summary = "Local response normalisation across channels";
  let description = [{
    x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta;
    channels first; the window takes floor((size-1)/2) channels before and
    ceil((size-1)/2) after.
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand, ConfinedAttr<I64Attr, [IntPositive]>:$size,
                       F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

class Nn_AxesOp<string mnemonic> : Nn_LikeFirstOp<mnemonic> {
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       DenseI64ArrayAttr:$axes);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` `axes` `=` $axes attr-dict
      `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}
def Nn_SoftmaxOp : Nn_AxesOp<"softmax"> {
  let summary = "exp(x) / sum of exp(x) over the axes";
}
def Nn_LogSoftmaxOp : Nn_AxesOp<"log_softmax"> {
  let summary = "x - log(sum of exp(x) over the axes)";
}

def Nn_HardmaxOp : Nn_LikeFirstOp<"hardmax"> {
  let summary = "1 at the first greatest element along the axis, else 0";
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` `axis` `=` $axis attr-dict
      `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def Nn_LayerNormOp : Nn_InferredOp<"layer_norm"> {
  let summary = "Normalises over the dimensions from `axis` on";
  let description = [{
    (x - mean) / sqrt(variance + epsilon) * scale + bias. Computed in
    `compute_type`; scale and bias have the shape of the normalised dimensions or
    broadcast to it. The mean and 1 / sqrt(variance + epsilon), in `compute_type`
    and with size 1 in the normalised dimensions, are results too.
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       Stablehlo_FloatTensor:$scale,
                       Optional<Stablehlo_FloatTensor>:$bias,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       F64Attr:$epsilon, TypeAttr:$compute_type);
  let results = (outs Stablehlo_FloatTensor:$result,
                      Stablehlo_FloatTensor:$mean,
                      Stablehlo_FloatTensor:$inverse_deviation);
  let assemblyFormat = [{
    operands `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_RmsNormOp : Nn_LikeFirstOp<"rms_norm"> {
  let summary = "x / sqrt(mean of x^2 + epsilon) * scale, from `axis` on";
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       Stablehlo_FloatTensor:$scale,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       F64Attr:$epsilon, TypeAttr:$compute_type);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    operands `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_GroupNormOp : Nn_LikeFirstOp<"group_norm"> {
  let summary = "Normalises each group of channels of each image";
  let description = [{
    Channels first. With as many groups as channels it is instance
    normalisation. Scale and bias have one element per channel.
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       Stablehlo_FloatTensor:$scale,
                       Stablehlo_FloatTensor:$bias,
                       ConfinedAttr<I64Attr, [IntPositive]>:$groups,
                       F64Attr:$epsilon);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    operands `groups` `=` $groups attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_LpNormalizeOp : Nn_LikeFirstOp<"lp_normalize"> {
  let summary = "x / the p-norm along the axis; 0 where that is 0";
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       ConfinedAttr<I64Attr, [IntPositive]>:$p);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` `axis` `=` $axis attr-dict
      `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def Nn_MeanVarNormOp : Nn_InferredOp<"mean_var_norm"> {
  let summary = "Batch statistics of each feature, and running statistics";
  let description = [{
    Gives the mean and the (biased) variance of each feature of the operand, and
    running statistics moved towards them:
    running' = running * momentum + batch * (1 - momentum).
    With `unbiased`, the running variance is moved towards the unbiased one, whose
    divisor is one less, as most frameworks keep it; ONNX keeps the biased one.
    A training batch norm is this, then `stablehlo.batch_norm_inference`.
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       Stablehlo_FloatTensor:$running_mean,
                       Stablehlo_FloatTensor:$running_variance,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$feature_index,
                       F64Attr:$momentum, UnitAttr:$unbiased);
  let results = (outs Stablehlo_FloatTensor:$mean,
                      Stablehlo_FloatTensor:$variance,
                      Stablehlo_FloatTensor:$new_running_mean,
                      Stablehlo_FloatTensor:$new_running_variance);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Recurrence
//===----------------------------------------------------------------------===//

/// Shapes as in ONNX with layout 0: X [T, N, I], W [D, gates * H, I],
/// R [D, gates * H, H], bias [D, 2 * gates * H], state [D, N, H]; Y [T, D, N, H].
/// `direction` is "forward", "reverse" or "bidirectional"; `activations` are
/// the names of the functions, one set per direction, as in ONNX.
class Nn_RecurrentOp<string mnemonic, dag inputs, dag more, dag outputs> :
    Nn_InferredOp<mnemonic, [AttrSizedOperandSegments,
                             ChannelwiseAffineOpInterface]> {
  let arguments = !con((ins
      Stablehlo_FloatTensor:$x, Stablehlo_FloatTensor:$w,
      Stablehlo_FloatTensor:$r, Optional<Stablehlo_FloatTensor>:$bias,
      Optional<Nn_IntTensor>:$sequence_lengths,
      Optional<Stablehlo_FloatTensor>:$initial_h), inputs, (ins
      StrAttr:$direction, StrArrayAttr:$activations,
      OptionalAttr<F64ArrayAttr>:$activation_alpha,
      OptionalAttr<F64ArrayAttr>:$activation_beta,
      OptionalAttr<F64Attr>:$clip), more);
  let results = outputs;
  let extraClassDeclaration = inference # [{
    /// ChannelwiseAffineOpInterface: W, whose matmul with X is added to that
    /// with the hidden state and to the first half of the bias.
    bool mayBeWeight(unsigned operand) { return operand == 1; }
    std::optional<::mlir::MutableOperandRange> getInnerBias() {
      return getBiasMutable();
    }
  }];
  let hasVerifier = 1;
}

def Nn_LstmOp : Nn_RecurrentOp<"lstm",
    (ins Optional<Stablehlo_FloatTensor>:$initial_c,
         Optional<Stablehlo_FloatTensor>:$peephole),
    (ins BoolAttr:$input_forget),
    (outs Stablehlo_FloatTensor:$y, Stablehlo_FloatTensor:$last_h,
          Stablehlo_FloatTensor:$last_c)> {
  let summary = "Long short-term memory; gates in the order i, o, f, c";
}
def Nn_GruOp : Nn_RecurrentOp<"gru", (ins),
    (ins BoolAttr:$linear_before_reset),
    (outs Stablehlo_FloatTensor:$y, Stablehlo_FloatTensor:$last_h)> {
  let summary = "Gated recurrent unit; gates in the order z, r, h";
}
def Nn_RnnOp : Nn_RecurrentOp<"rnn", (ins), (ins),
    (outs Stablehlo_FloatTensor:$y, Stablehlo_FloatTensor:$last_h)> {
  let summary = "A simple recurrent network";
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

def Nn_ResizeOp : Nn_Op<"resize"> {
  let summary = "Samples the operand at another resolution";
  let description = [{
    `mode` is "nearest", "linear" or "cubic"; `coordinates` (how an index of the
    result maps to the operand) and `nearest` are ONNX's
    coordinate_transformation_mode and nearest_mode. There is one scale per
    dimension; `roi` (2 per dimension: starts, ends) only for
    "tf_crop_and_resize".
  }];
  let arguments = (ins Stablehlo_RealTensor:$operand,
                       DenseF64ArrayAttr:$scales, StrAttr:$mode,
                       StrAttr:$coordinates, StrAttr:$nearest,
                       Nn_DefaultF64<"-0.75">:$cubic_coefficient,
                       Nn_DefaultF64<"0.0">:$extrapolation_value,
                       BoolAttr:$exclude_outside, BoolAttr:$antialias,
                       DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$roi);
  let results = (outs Stablehlo_RealTensor:$result);
  let assemblyFormat = [{
    $operand `,` `scales` `=` $scales `,` $mode `,` $coordinates `,` $nearest
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_STRUCTURED
