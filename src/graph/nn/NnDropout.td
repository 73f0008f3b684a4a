//===- NnDropout.td - dropout ---------------------------------------------===//

#ifndef SINTER_GRAPH_NN_DROPOUT_TD
#define SINTER_GRAPH_NN_DROPOUT_TD

include "graph/nn/NnBase.td"

def Nn_DropoutOp : Nn_LikeFirstOp<"dropout", [Elementwise,
                                              SameOperandsAndResultShape]> {
  let summary = "The operand; in training, some of its elements";
  let description = [{
    Without a mask, the operand as it is: what a dropout does at inference. With
    one (i1, of the same shape), x / (1 - ratio) where it is set, else 0:
    Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks
    from Overfitting", scaled as frameworks do. Training gives each dropout a
    mask of its own (autodiff/TrainDropouts.h).
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       Optional<Ranked<[I1], "tensor of booleans">>:$mask,
                       F64Attr:$ratio);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`,` $mask^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_DROPOUT_TD
