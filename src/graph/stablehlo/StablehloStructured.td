//===- StablehloStructured.td - products, reductions, normalisation -------===//

#ifndef SINTER_GRAPH_STABLEHLO_STRUCTURED
#define SINTER_GRAPH_STABLEHLO_STRUCTURED

include "graph/stablehlo/StablehloBase.td"

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Stablehlo_ConvolutionOp :
    Stablehlo_Op<"convolution", [Pure,
        DeclareOpInterfaceMethods<ChannelwiseAffineOpInterface,
                                  ["mayBeWeight", "readsPadding"]>]> {
  let summary = "Dot products of windows of lhs with slices of rhs";
  let description = [{
    Any dimension numbers, groups, dilations, reversal; a transposed convolution
    is one with `lhs_dilation`. Constraints (C1) to (C27) of the specification.

    ```mlir
    %r = stablehlo.convolution(%x, %k)
        dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins
    Input<1, Stablehlo_UniformTensor>:$lhs, Input<2, Stablehlo_Tensor>:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    ConvDimensionNumbersAttr:$dimension_numbers,
    Positive<"C21">:$feature_group_count,
    Positive<"C22">:$batch_group_count,
    OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    `(` operands `)`
      `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
      `window` `=` `{` custom<WindowAttributes>($window_strides, $padding,
                                                $lhs_dilation, $rhs_dilation,
                                                $window_reversal) `}`
      attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The window's parameters, with the specification's defaults filled in.
    ::sinter::stablehlo::ConvolutionWindow getWindow();
    /// The number of spatial dimensions.
    int64_t getSpatialRank() {
      return getDimensionNumbers().getInputSpatialDimensions().size();
    }
    /// Whether each group of features has one input and one output channel.
    bool isDepthwise();
  }];
  let hasVerifier = 1;
}

def Stablehlo_DotGeneralOp :
    Stablehlo_Op<"dot_general", [Pure, ChannelwiseAffineOpInterface]> {
  let summary = "Dot products of slices of lhs with slices of rhs";
  let description = [{
    The result's dimensions are the batching ones, the free ones of lhs, the
    free ones of rhs.

    ```mlir
    %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0],
        contracting_dims = [2] x [1]
        : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$lhs,
                       Input<2, Stablehlo_Tensor>:$rhs,
                       DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<PrecisionConfigAttr>:$precision_config,
                       OptionalAttr<DotAlgorithmAttr>:$algorithm);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers)
      custom<PrecisionAndAlgorithm>($precision_config, $algorithm)
      attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$lhs,
                   "::mlir::Value":$rhs, "DotDimensionNumbersAttr":$numbers,
                   "::mlir::ArrayAttr":$precision), [{
      build($_builder, $_state, result, lhs, rhs, numbers, precision,
            DotAlgorithmAttr());
    }]>];
  let extraClassDeclaration = [{
    /// The roles of the dimensions of the left (0) or right (1) operand.
    ::sinter::stablehlo::ProductSide getSide(unsigned operand);
    /// The free dimensions of an operand, in order.
    ::llvm::SmallVector<int64_t> lhsFree() { return getSide(0).free(); }
    ::llvm::SmallVector<int64_t> rhsFree() { return getSide(1).free(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Stablehlo_ReduceOp :
    Stablehlo_RegionOp<"reduce", [SameVariadicOperandSize]> {
  let summary = "Combines the elements along dimensions";
  let description = [{
    ```mlir
    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add
        across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$inputs,
                       Variadic<Input<2, Stablehlo_UniformTensor>>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_ReduceWindowOp :
    Stablehlo_RegionOp<"reduce_window", [SameVariadicOperandSize]> {
  let summary = "Combines the elements of windows";
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$inputs,
                       Variadic<Input<2, Stablehlo_UniformTensor>>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
  let extraClassDeclaration = inference # [{
    /// The window's parameters, with the specification's defaults filled in.
    ::sinter::stablehlo::ConvolutionWindow getWindow();
  }];
  let hasVerifier = 1;
}

def Stablehlo_SelectAndScatterOp : Stablehlo_RegionOp<"select_and_scatter"> {
  let summary = "Combines each source element into its window's selected element";
  let description = [{
    `select` picks an element of each window of the operand. The result is
    `init_value` everywhere, with the source's elements combined in at the
    picked positions by `scatter`.
  }];
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Input<2, Stablehlo_UniformTensor>:$source,
                       Input<3, Stablehlo_UniformTensor>:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs Stablehlo_UniformTensor:$result);
  let extraClassDeclaration = inference # [{
    /// The window's parameters, with the specification's defaults filled in.
    ::sinter::stablehlo::ConvolutionWindow getWindow();
  }];
  let hasVerifier = 1;
}

def Stablehlo_MapOp :
    Stablehlo_RegionOp<"map", [Decomposable, SameOperandsAndResultShape]> {
  let summary = "Runs a region on each element";
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$inputs,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stablehlo_UniformTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

def Stablehlo_BatchNormInferenceOp :
    Stablehlo_InferredOp<"batch_norm_inference"> {
  let summary = "Normalises each feature by given statistics";
  let description = [{
    (operand - mean) / sqrt(variance + epsilon) * scale + offset, where the last
    four have one element per feature (C1 to C7).
  }];
  let arguments = (ins Input<1, Stablehlo_FloatTensor>:$operand,
                       Input<2, Stablehlo_FloatVector>:$scale,
                       Input<3, Stablehlo_FloatVector>:$offset,
                       Input<4, Stablehlo_FloatVector>:$mean,
                       Input<5, Stablehlo_FloatVector>:$variance,
                       F32Attr:$epsilon, NonNegative<"C1">:$feature_index);
  let results = (outs Stablehlo_FloatTensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_BatchNormTrainingOp :
    Stablehlo_InferredOp<"batch_norm_training", [Decomposable]> {
  let summary = "Normalises each feature by its own mean and variance";
  let arguments = (ins Input<1, Stablehlo_FloatTensor>:$operand,
                       Input<2, Stablehlo_FloatVector>:$scale,
                       Input<3, Stablehlo_FloatVector>:$offset,
                       F32Attr:$epsilon, NonNegative<"C1">:$feature_index);
  let results = (outs Stablehlo_FloatTensor:$output,
                      Stablehlo_FloatVector:$batch_mean,
                      Stablehlo_FloatVector:$batch_var);
  let hasVerifier = 1;
}

def Stablehlo_BatchNormGradOp :
    Stablehlo_InferredOp<"batch_norm_grad", [Decomposable]> {
  let summary = "The gradients of batch_norm_training";
  let arguments = (ins Input<1, Stablehlo_FloatTensor>:$operand,
                       Input<2, Stablehlo_FloatVector>:$scale,
                       Input<3, Stablehlo_FloatVector>:$mean,
                       Input<4, Stablehlo_FloatVector>:$variance,
                       Input<5, Stablehlo_FloatTensor>:$grad_output,
                       F32Attr:$epsilon, NonNegative<"C1">:$feature_index);
  let results = (outs Stablehlo_FloatTensor:$grad_operand,
                      Stablehlo_FloatVector:$grad_scale,
                      Stablehlo_FloatVector:$grad_offset);
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_STABLEHLO_STRUCTURED
