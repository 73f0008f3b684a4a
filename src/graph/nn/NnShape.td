//===- NnShape.td - shapes, broadcasting, indexing ------------------------===//

#ifndef SINTER_GRAPH_NN_SHAPE
#define SINTER_GRAPH_NN_SHAPE

include "graph/nn/NnBase.td"

def Nn_ShapeOp : Nn_InferredOp<"shape"> {
  let summary = "The sizes of the operand's dimensions, as a tensor of i64";
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs 1DTensorOf<[I64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Nn_BroadcastLikeOp : Nn_MovingOp<"broadcast_like"> {
  let summary = "The operand, broadcast together with other tensors";
  let description = [{
    The result's shape is what the operand's and the others' shapes broadcast to
    by NumPy's rule (aligned at the last dimension). Where all are static,
    `stablehlo.broadcast_in_dim` is used instead.

    ```mlir
    %b = nn.broadcast_like %bias, %x
        : (tensor<64x1x1xf32>, tensor<?x64x7x7xf32>) -> tensor<?x64x7x7xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand,
                       Variadic<Stablehlo_Tensor>:$others);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $others attr-dict `:` functional-type(operands, results)
  }];
}

def Nn_TakeOp : Nn_MovingOp<"take"> {
  let summary = "Slices along an axis that indices name";
  let description = [{
    result[i..., j..., k...] = operand[i..., indices[j...], k...]. A negative
    index counts from the end; one that is still outside is clamped.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Nn_IntTensor:$indices,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $indices `,` `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_TakeAlongOp : Nn_MovingOp<"take_along"> {
  let summary = "Elements along an axis that indices of the same rank name";
  let description = [{
    result[i, j, k] = operand[i, indices[i, j, k], k] for axis 1. A negative
    index counts from the end; one that is still outside is clamped.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, Nn_IntTensor:$indices,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $indices `,` `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_PadModeOp : Nn_MovingOp<"pad_mode"> {
  let summary = "Pads at the edges with values of the operand";
  let description = [{
    `mode` is "reflect" (without repeating the edge), "edge" or "wrap". Negative
    padding removes elements. For padding with a constant there is
    `stablehlo.pad`.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, StrAttr:$mode,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $mode `low` `=` $low `high` `=` $high attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = movedInference # [{
    /// The least size of dimension `dimension` with which padding copies each
    /// element once on either side at most.
    int64_t leastSize(size_t dimension);
  }];
}

def Nn_OneHotOp : Nn_Op<"one_hot"> {
  let summary = "on where the position along an axis is the index, else off";
  let description = "`values` holds off and on. A negative index counts from the end.";
  let arguments = (ins Stablehlo_Tensor:$indices,
                       1DTensorOf<[AnyType]>:$values,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $indices `,` $values `,` `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_NonZeroOp : Nn_Op<"non_zero"> {
  let summary = "The indices of the elements that are not zero";
  let description = [{
    The result has a row for each dimension of the operand and a column for each
    element, in row-major order. Its shape depends on data.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let results = (outs 2DTensorOf<[I64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Nn_NonMaxSuppressionOp : Nn_Op<"non_max_suppression"> {
  let summary = "The boxes that no better one of their class strikes out";
  let description = [{
    Of `boxes` [B, N, 4], two opposite corners in any order or (`centred`) a
    centre and extents, each class of `scores` [B, C, N] selects those whose
    score is greater than `threshold`, if given, best first (the first of equal
    ones), unless a selected box overlaps it: unless intersection / union is
    more than `overlap`. No class selects more than `most`. The result has a row
    (image, class, box) for each selected box, in this order; its shape depends
    on data.
  }];
  let arguments = (ins 3DTensorOf<[F32]>:$boxes, 3DTensorOf<[F32]>:$scores,
                       0DTensorOf<[I64]>:$most, 0DTensorOf<[F32]>:$overlap,
                       Optional<0DTensorOf<[F32]>>:$threshold,
                       BoolAttr:$centred);
  let results = (outs 2DTensorOf<[I64]>:$result);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $most `,` $overlap (`,` $threshold^)?
      `centred` `=` $centred attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_CumulativeSumOp : Nn_LikeFirstOp<"cumulative_sum"> {
  let summary = "The sum of the elements up to each one along an axis";
  let description = [{
    Each sum is the previous one plus an element, rounded to the type; `reverse`
    starts at the last element.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `axis` `=` $axis attr-dict
      `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

class Nn_ArgOp<string mnemonic> : Nn_InferredOp<mnemonic> {
  let arguments = (ins Stablehlo_RealTensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       BoolAttr:$keep_dimension, BoolAttr:$select_last);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = [{
    $operand `,` `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def Nn_ArgMaxOp : Nn_ArgOp<"arg_max"> {
  let summary = "The index of the greatest element along an axis";
}
def Nn_ArgMinOp : Nn_ArgOp<"arg_min"> {
  let summary = "The index of the least element along an axis";
}

def Nn_TopKOp : Nn_InferredOp<"top_k"> {
  let summary = "The k greatest (or least) elements along an axis, in order";
  let description = "Of equal elements the one with the lower index comes first.";
  let arguments = (ins Stablehlo_RealTensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$k,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       BoolAttr:$largest);
  let results = (outs Stablehlo_RealTensor:$values,
                      RankedTensorOf<[I64]>:$indices);
  let assemblyFormat = [{
    $operand `,` `k` `=` $k `,` `axis` `=` $axis attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_SHAPE
