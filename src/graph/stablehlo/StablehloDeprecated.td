//===- StablehloDeprecated.td - deprecated operations ---------------------===//
//
// Not in the specification, or deprecated there; files still hold them. Each
// decomposes into an operation that the specification has.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_DEPRECATED
#define SINTER_GRAPH_STABLEHLO_DEPRECATED

include "graph/stablehlo/StablehloBase.td"

def Stablehlo_BroadcastOp :
    Stablehlo_InferredOp<"broadcast", [MovesElements, Decomposable]> {
  let summary = "Repeats the operand along new leading dimensions";
  let arguments = (ins Stablehlo_UniformTensor:$operand,
                       DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_CreateTokenOp :
    Stablehlo_InferredOp<"create_token", [Decomposable]> {
  let summary = "A token that waits for nothing";
  let results = (outs Stablehlo_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def Stablehlo_CrossReplicaSumOp :
    Stablehlo_InferringOp<"cross-replica-sum", [Decomposable]> {
  let summary = "The sum of the operand over groups of replicas";
  let arguments = (ins Stablehlo_UniformTensor:$operand,
                       I64ElementsAttr:$replica_groups);
  let results = (outs Stablehlo_UniformTensor:$result);
  let extraClassDefinition = inferLikeOperands;
}

def Stablehlo_DotOp : Stablehlo_Op<"dot", [Pure, Decomposable]> {
  let summary = "The product of vectors or matrices";
  let arguments = (ins Stablehlo_UniformTensor:$lhs, Stablehlo_Tensor:$rhs,
                       OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<PrecisionConfig>($precision_config) attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_EinsumOp : Stablehlo_Op<"einsum", [Pure, Decomposable]> {
  let summary = "Einstein's sum of products, such as `ij,jk->ik`";
  let arguments = (ins Stablehlo_UniformTensor:$lhs,
                       Stablehlo_UniformTensor:$rhs, StrAttr:$einsum_config);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_UnaryEinsumOp :
    Stablehlo_Op<"unary_einsum", [Pure, Decomposable]> {
  let summary = "Einstein's sum of one operand, such as `ii->i`";
  let arguments = (ins Stablehlo_UniformTensor:$operand,
                       StrAttr:$einsum_config);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_TorchIndexSelectOp :
    Stablehlo_Op<"torch_index_select", [MovesElements, Pure, Decomposable]> {
  let summary = "Slices of the operand along `dim` that indices name";
  let description = [{
    The first `batch_dims` dimensions of operand and index are the same; the
    result has the other dimensions of the index instead of `dim`.
  }];
  let arguments = (ins Stablehlo_UniformTensor:$operand,
                       Stablehlo_UniformTensor:$index, I64Attr:$dim,
                       I64Attr:$batch_dims);
  let results = (outs Stablehlo_UniformTensor:$result);
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_STABLEHLO_DEPRECATED
