//===- StablehloControlFlow.td - branches, loops, order -------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_CONTROLFLOW
#define SINTER_GRAPH_STABLEHLO_CONTROLFLOW

include "graph/stablehlo/StablehloBase.td"

def Stablehlo_ReturnOp :
    Stablehlo_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region and gives its results";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def Stablehlo_IfOp : Stablehlo_RegionOp<"if"> {
  let summary = "Runs one of two regions";
  let arguments = (ins
    Input<1, Scalar<[I1], "0-dimensional tensor of type i1">>:$pred);
  let regions = (region SizedRegion<1>:$true_branch,
                        SizedRegion<1>:$false_branch);
  let results = (outs Variadic<Stablehlo_TensorOrToken>:$results);
  let hasVerifier = 1;
}

def Stablehlo_CaseOp : Stablehlo_RegionOp<"case"> {
  let summary = "Runs one of many regions; the last for an index outside";
  let arguments = (ins
    Input<1, Scalar<[I32], "0-dimensional tensor of type i32">>:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<Stablehlo_TensorOrToken>:$results);
  let hasVerifier = 1;
}

def Stablehlo_WhileOp : Stablehlo_RegionOp<"while"> {
  let summary = "Repeats a region as long as a condition holds";
  let arguments = (ins Variadic<Input<1, Stablehlo_LoopValue>>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<Stablehlo_LoopValue>:$results);
  let extraClassDefinition = inferLikeOperands;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Stablehlo_AfterAllOp : Stablehlo_InferredOp<"after_all"> {
  let summary = "A token that waits for all of its operands";
  let arguments = (ins Variadic<Input<1, Stablehlo_Token>>:$inputs);
  let results = (outs Stablehlo_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict
      `:` custom<SameVariadicTypes>(ref($inputs), type($inputs), type($result))
  }];
  let extraClassDefinition = inferToken;
}

def Stablehlo_OptimizationBarrierOp :
    Stablehlo_MovingOp<"optimization_barrier"> {
  let summary = "The operands, over which nothing may be moved";
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensorOrToken>>:$operand);
  let results = (outs Variadic<Stablehlo_UniformTensorOrToken>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseTypes>(type($operand),
                                                   type($result))) : (`(` `)`)?
  }];
  let extraClassDefinition = inferLikeOperands;
}

def Stablehlo_AsyncStartOp :
    Stablehlo_InferringOp<"async_start",
        [IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Starts an operation and does not wait for it";
  let arguments = (ins Variadic<Input<1, Stablehlo_UniformTensor>>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Stablehlo_Future:$result);
  let hasVerifier = 1;
}

def Stablehlo_AsyncDoneOp :
    Stablehlo_InferringOp<"async_done", [HandsTensorsOn]> {
  let summary = "Waits for an operation that was started";
  let arguments = (ins Input<1, Stablehlo_Future>:$operand);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
}

#endif // SINTER_GRAPH_STABLEHLO_CONTROLFLOW
