//===- StablehloDataMovement.td - operations that move elements -----------===//

#ifndef SINTER_GRAPH_STABLEHLO_DATAMOVEMENT
#define SINTER_GRAPH_STABLEHLO_DATAMOVEMENT

include "graph/stablehlo/StablehloBase.td"

def Stablehlo_ConstantOp : Stablehlo_InferredOp<"constant", [HandsTensorsOn]> {
  let summary = "A constant";
  let description = [{
    Not `ConstantLike`: MLIR would merge constants of the same value and lose
    the name of one, and expects a fold() hook, which no operation here has.

    ```mlir
    %c = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
    ```

    Quantised values are written as their stored integers:

    ```mlir
    %q = stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}>
        : () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
    ```

    These are in the range of the type (`i8<-127:127>`).
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stablehlo_Tensor:$output);
  let extraClassDeclaration = !subst("compatibleTypes",
                                     "stablehlo::compatibleConstantTypes",
                                     inference);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_IotaOp : Stablehlo_Op<"iota", [Pure]> {
  let summary = "Counts up from zero along a dimension";
  let arguments = (ins NonNegative<"C1">:$iota_dimension);
  let results = (outs Stablehlo_NumericTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Stablehlo_BroadcastInDimOp :
    Stablehlo_Op<"broadcast_in_dim", [MovesElements, Pure]> {
  let summary = "Repeats elements along new and unit dimensions";
  let description = [{
    Dimension i of the operand becomes dimension `broadcast_dimensions[i]` of
    the result: of the same size, or repeated where it was 1 (C2 to C5).

    ```mlir
    %r = stablehlo.broadcast_in_dim %bias, dims = [1]
        : (tensor<64xf32>) -> tensor<8x64x7x7xf32>
    ```
  }];
  let arguments = (ins Input<1, Stablehlo_Tensor>:$operand,
                       DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_ReshapeOp : Stablehlo_Op<"reshape", [MovesElements, Pure]> {
  let summary = "The same elements in another shape";
  let description = "Operand and result have as many elements (C2).";
  let arguments = (ins Input<1, Stablehlo_Tensor>:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_TransposeOp : Stablehlo_InferredOp<"transpose", [MovesElements]> {
  let summary = "Permutes the dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.
  }];
  let arguments = (ins Input<1, Stablehlo_Tensor>:$operand,
                       DenseI64ArrayAttr:$permutation);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_SliceOp : Stablehlo_MovingOp<"slice"> {
  let summary = "Elements start, start + stride, ... before limit";
  let description = [{
    ```mlir
    %r = stablehlo.slice %x [1:3, 4:8:2]
        : (tensor<3x8xi64>) -> tensor<2x2xi64>
    ```
  }];
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
      attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_DynamicSliceOp : Stablehlo_MovingOp<"dynamic_slice"> {
  let summary = "A slice of fixed size from start indices known only at run time";
  let description = "Start indices are clamped so that the slice lies inside.";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Variadic<Input<2, Stablehlo_IntScalar>>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    custom<OperandsWithAttr>($operand, $start_indices) `sizes` `=` $slice_sizes
      attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_DynamicUpdateSliceOp :
    Stablehlo_MovingOp<"dynamic_update_slice"> {
  let summary = "The operand with a slice replaced";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Input<2, Stablehlo_UniformTensor>:$update,
                       Variadic<Input<3, Stablehlo_IntScalar>>:$start_indices);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_PadOp : Stablehlo_MovingOp<"pad"> {
  let summary = "Pads around and between the elements";
  let description = "Negative padding at the edges takes elements away.";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Input<2, Stablehlo_ScalarTensor>:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,`
      `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding
      attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_ReverseOp : Stablehlo_MovingOp<"reverse"> {
  let summary = "Reverses the order along dimensions";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict
      `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def Stablehlo_ConcatenateOp : Stablehlo_MovingOp<"concatenate"> {
  let summary = "Joins tensors along a dimension";
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$inputs,
                       NonNegative<"C4">:$dimension);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    custom<OperandsWithAttr>($inputs) `dim` `=` $dimension
      attr-dict `:` functional-type(operands, results)
  }];
}

def Stablehlo_GatherOp : Stablehlo_MovingOp<"gather"> {
  let summary = "Slices of the operand at given start indices";
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$operand,
                       Input<2, Stablehlo_IntTensor>:$start_indices,
                       GatherDimensionNumbersAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Stablehlo_Tensor:$result);
}

def Stablehlo_ScatterOp :
    Stablehlo_RegionOp<"scatter", [SameVariadicOperandSize]> {
  let summary = "The inputs with updates combined in at given indices";
  let description = [{
    An update that is out of bounds is skipped; updates of the same element are
    combined in an unspecified order (here: in order).
  }];
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$inputs,
                       Input<2, Stablehlo_IndexTensor>:$scatter_indices,
                       Variadic<Input<3, Stablehlo_UniformTensor>>:$updates,
                       ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
  let hasVerifier = 1;
}

def Stablehlo_SortOp :
    Stablehlo_RegionOp<"sort", [SameOperandsAndResultShape]> {
  let summary = "Sorts tensors together along a dimension by a comparator";
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$inputs,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
  let extraClassDefinition = inferLikeOperands;
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_STABLEHLO_DATAMOVEMENT
