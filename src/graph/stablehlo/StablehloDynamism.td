//===- StablehloDynamism.td - shapes known only at run time ---------------===//
//
// Where the operands that define the shape are constants, or the result type is
// static, these decompose into the operations without `dynamic_`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_DYNAMISM
#define SINTER_GRAPH_STABLEHLO_DYNAMISM

include "graph/stablehlo/StablehloBase.td"

class Stablehlo_DynamicOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_Op<mnemonic, !listconcat(traits, [Pure, Decomposable])> {
  let hasVerifier = 1;
}

def Stablehlo_DynamicIotaOp : Stablehlo_DynamicOp<"dynamic_iota"> {
  let summary = "iota of a shape known only at run time";
  let arguments = (ins Input<1, Stablehlo_ShapeTensor>:$output_shape,
                       NonNegative<"C1">:$iota_dimension);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_DynamicBroadcastInDimOp :
    Stablehlo_DynamicOp<"dynamic_broadcast_in_dim", [MovesElements]> {
  let summary = "broadcast_in_dim to a shape known only at run time";
  let arguments = (ins
    Input<1, Stablehlo_Tensor>:$operand,
    Input<2, Stablehlo_ShapeTensor>:$output_dimensions,
    DenseI64ArrayAttr:$broadcast_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions
      attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_DynamicReshapeOp :
    Stablehlo_DynamicOp<"dynamic_reshape", [MovesElements]> {
  let summary = "reshape to a shape known only at run time";
  let arguments = (ins Input<1, Stablehlo_Tensor>:$operand,
                       Input<2, Stablehlo_ShapeTensor>:$output_shape);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_shape attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_RealDynamicSliceOp :
    Stablehlo_DynamicOp<"real_dynamic_slice", [MovesElements]> {
  let summary = "slice with bounds known only at run time";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Input<2, Stablehlo_ShapeTensor>:$start_indices,
                       Input<3, Stablehlo_ShapeTensor>:$limit_indices,
                       Input<4, Stablehlo_ShapeTensor>:$strides);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $operand `,` $start_indices `,` $limit_indices `,` $strides attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_DynamicPadOp :
    Stablehlo_DynamicOp<"dynamic_pad", [MovesElements]> {
  let summary = "pad by amounts known only at run time";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Input<2, Stablehlo_ScalarTensor>:$padding_value,
                       Input<3, Stablehlo_ShapeTensor>:$edge_padding_low,
                       Input<4, Stablehlo_ShapeTensor>:$edge_padding_high,
                       Input<5, Stablehlo_ShapeTensor>:$interior_padding);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_DynamicGatherOp :
    Stablehlo_DynamicOp<"dynamic_gather", [MovesElements]> {
  let summary = "gather of slices of a size known only at run time";
  let arguments = (ins
    Input<1, Stablehlo_UniformTensor>:$operand,
    Input<2, Stablehlo_IntTensor>:$start_indices,
    Input<3, Stablehlo_ShapeTensor>:$slice_sizes,
    GatherDimensionNumbersAttr:$dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Stablehlo_UniformTensor:$result);
}

def Stablehlo_DynamicConvOp : Stablehlo_DynamicOp<"dynamic_conv"> {
  let summary = "convolution with padding known only at run time";
  let arguments = (ins
    Input<1, Stablehlo_UniformTensor>:$lhs, Input<2, Stablehlo_Tensor>:$rhs,
    Input<3, Stablehlo_PairsTensor>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    ConvDimensionNumbersAttr:$dimension_numbers,
    Positive<"C21">:$feature_group_count,
    Positive<"C22">:$batch_group_count,
    OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let extraClassDeclaration = [{
    /// The window's parameters with the specification's defaults filled in;
    /// without padding, which is an operand.
    ::sinter::stablehlo::ConvolutionWindow getWindow();
    /// The number of spatial dimensions.
    int64_t getSpatialRank() {
      return getDimensionNumbers().getInputSpatialDimensions().size();
    }
  }];
}

def Stablehlo_GetDimensionSizeOp :
    Stablehlo_InferredOp<"get_dimension_size", [HandsTensorsOn]> {
  let summary = "The size of a dimension, as an i32";
  let arguments = (ins Input<1, Stablehlo_Tensor>:$operand,
                       NonNegative<"C1">:$dimension);
  let results = (outs Scalar<[I32], "0-dimensional tensor of type i32">:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_SetDimensionSizeOp :
    Stablehlo_InferredOp<"set_dimension_size", [MovesElements]> {
  let summary = "The operand with fewer elements along a dimension";
  let description = [{
    The result's dimension is dynamic, bounded by the operand's size, unless
    `size` is a constant of exactly that size.
  }];
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Scalar<[I32], "0-dimensional tensor of type i32">:$size,
                       NonNegative<"C1">:$dimension);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict
      `:` functional-type(operands, results)
  }];
}

#endif // SINTER_GRAPH_STABLEHLO_DYNAMISM
