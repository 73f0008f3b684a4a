//===- NnDeferred.td - a node of a file that waits for sizes --------------===//

#ifndef SINTER_GRAPH_NN_DEFERRED_TD
#define SINTER_GRAPH_NN_DEFERRED_TD

include "graph/nn/NnBase.td"

def Nn_DeferredOp : Op<Nn_Dialect, "deferred", [Pure]> {
  let summary = "A node of the model's file whose form waits for sizes";
  let description = [{
    `kind` is the node's operator, and `reason` says which size or value is not
    known yet. The reader that made this op reads the file anew once all are
    known; a writer of the same format gives the node back as it was. What it is
    in `stablehlo` only its reader can say.

    A node with graphs has them as regions, and `node` is the rest of it in the
    file's own form: a writer writes these anew.

    ```mlir
    %y = nn.deferred "Resize" (%x, %sizes), "the sizes are known only at run time"
        : (tensor<?x3x?x?xf32>, tensor<4xi64>) -> tensor<?x3x?x?xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, StrAttr:$kind,
                       StrAttr:$reason, OptionalAttr<StrAttr>:$node);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let results = (outs Variadic<Stablehlo_Tensor>:$outputs);
  let assemblyFormat = [{
    $kind ` ` `(` $inputs `)` `,` $reason $bodies attr-dict
      `:` functional-type(operands, results)
  }];
}

#endif // SINTER_GRAPH_NN_DEFERRED_TD
