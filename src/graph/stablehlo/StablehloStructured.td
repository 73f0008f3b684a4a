//===- StablehloStructured.td - products, reductions, control flow --------===//

#ifndef SINTER_GRAPH_STABLEHLO_STRUCTURED
#define SINTER_GRAPH_STABLEHLO_STRUCTURED

include "graph/interfaces/Interfaces.td"
include "graph/stablehlo/StablehloBase.td"

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Stablehlo_ConvolutionOp :
    Stablehlo_Op<"convolution", [Pure,
        DeclareOpInterfaceMethods<ChannelwiseAffineOpInterface>]> {
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
    Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    ConvDimensionNumbersAttr:$dimension_numbers,
    ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
    ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
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
  }];
  let hasVerifier = 1;
}

def Stablehlo_DotGeneralOp :
    Stablehlo_Op<"dot_general", [Pure,
        DeclareOpInterfaceMethods<ChannelwiseAffineOpInterface>]> {
  let summary = "Dot products of slices of lhs with slices of rhs";
  let description = [{
    The result's dimensions are the batching ones, the other ones of lhs, the
    other ones of rhs.

    ```mlir
    %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0],
        contracting_dims = [2] x [1]
        : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers)
      custom<PrecisionConfig>($precision_config)
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Stablehlo_ReduceOp :
    Stablehlo_Op<"reduce", [RecursiveMemoryEffects, SameVariadicOperandSize,
        SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combines the elements along dimensions";
  let description = [{
    ```mlir
    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add
        across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs,
                       Variadic<Stablehlo_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_ReduceWindowOp :
    Stablehlo_Op<"reduce_window", [RecursiveMemoryEffects,
        SameVariadicOperandSize,
        SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combines the elements of windows";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs,
                       Variadic<Stablehlo_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_Tensor>:$results);
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
    four are one number a feature (C1 to C7).
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       Stablehlo_FloatTensor:$scale,
                       Stablehlo_FloatTensor:$offset,
                       Stablehlo_FloatTensor:$mean,
                       Stablehlo_FloatTensor:$variance,
                       F32Attr:$epsilon,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$feature_index);
  let results = (outs Stablehlo_FloatTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def Stablehlo_ReturnOp :
    Stablehlo_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region and gives its results";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def Stablehlo_IfOp :
    Stablehlo_Op<"if", [RecursiveMemoryEffects,
        SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Runs one of two regions";
  let arguments = (ins 0DTensorOf<[I1]>:$pred);
  let regions = (region SizedRegion<1>:$true_branch,
                        SizedRegion<1>:$false_branch);
  let results = (outs Variadic<AnyType>:$results);
  let hasVerifier = 1;
}

def Stablehlo_CaseOp :
    Stablehlo_Op<"case", [RecursiveMemoryEffects,
        SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Runs one of many regions; the last for an index outside";
  let arguments = (ins 0DTensorOf<[I32]>:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<AnyType>:$results);
  let hasVerifier = 1;
}

def Stablehlo_WhileOp :
    Stablehlo_Op<"while", [RecursiveMemoryEffects,
        SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Repeats a region as long as a condition holds";
  let arguments = (ins Variadic<AnyType>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_CompositeOp :
    Stablehlo_Op<"composite", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "An operation of another operator set, with its decomposition";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition,
                       OptionalAttr<I32Attr>:$version);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $name $inputs attr-dict `:` functional-type(operands, results)
  }];
}

#endif // SINTER_GRAPH_STABLEHLO_STRUCTURED
