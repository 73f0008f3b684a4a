//===- NnDeferred.td - file nodes that wait for static sizes --------------===//

#ifndef SINTER_GRAPH_NN_DEFERRED_TD
#define SINTER_GRAPH_NN_DEFERRED_TD

include "graph/nn/NnBase.td"

def Nn_DeferredOp : Op<Nn_Dialect, "deferred", [Pure]> {
  let summary = "A node of the model's file whose translation needs sizes";
  let description = [{
    `kind` is the node's operator, and `reason` explains which size or value is
    not known yet. The reader that made this op reads the file again once all
    are known; a writer of the same format restores the node. Only its reader
    can lower it to `stablehlo`.

    A node's subgraphs are regions, and `node` is the rest of it in the file's
    own encoding; a writer serialises both again.

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
