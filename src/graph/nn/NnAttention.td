//===- NnAttention.td - scaled dot-product attention ----------------------===//

#ifndef SINTER_GRAPH_NN_ATTENTION
#define SINTER_GRAPH_NN_ATTENTION

include "graph/nn/NnBase.td"

def Nn_AttentionOp : Nn_InferredOp<"attention"> {
  let summary = "softmax(query . key^T * scale + mask) . value";
  let description = [{
    The query is [heads..., Lq, D], the key [heads..., Lk, D], the value
    [heads..., Lk, Dv], the result [heads..., Lq, Dv]; `heads` are any number of
    dimensions, batches among them. With

        s[i, j] = scale * sum over d of query[i, d] * key[j, d] + mask[i, j]

    result[i] is the mean of the rows value[j], weighted by exp(s[i, j]). With
    `causal`, row i attends to the rows j <= i only: the other s[i, j] are -inf.
    The mask's dimensions of size 1 are broadcast. It is added or, with
    `chosen`, replaces s[i, j] where it is not 0. Where the query has more heads
    than the key along a dimension, head h uses head h / (query's heads / key's
    heads). A row whose s are all -inf gives NaN. Whether a non-finite value
    affects rows that `causal` hides it from is unspecified.

    Constraints:
    - (C1) All have the same element type, and the same rank, at least 2.
    - (C2) Query and key agree in D, key and value in Lk.
    - (C3) Key and value have the same heads.
    - (C4) Along each dimension of heads, the query's size is a multiple of the
      key's.
    - (C5) The mask's last dimension is Lk, its others 1 or as in [heads..., Lq].
    - (C6) Lk is not 0.
    - (C7) With `chosen` there is a mask.
  }];
  let arguments = (ins Stablehlo_FloatTensor:$query,
                       Stablehlo_FloatTensor:$key,
                       Stablehlo_FloatTensor:$value,
                       Optional<Stablehlo_FloatTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal,
                       UnitAttr:$chosen);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    operands `scale` `=` $scale (`causal` $causal^)? (`chosen` $chosen^)?
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_ATTENTION
