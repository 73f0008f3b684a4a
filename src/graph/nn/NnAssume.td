//===- NnAssume.td - what a graph is for only -----------------------------===//

#ifndef SINTER_GRAPH_NN_ASSUME_TD
#define SINTER_GRAPH_NN_ASSUME_TD

include "graph/nn/NnBase.td"

def Nn_AssumeOp : Op<Nn_Dialect, "assume"> {
  let summary = "The graph is for inputs with which a condition holds";
  let description = [{
    A node chooses between graphs whose results differ in rank or element type,
    or of which only one is valid. The reader takes one of them, and says with
    this op what it took for granted: that `condition` is `holds`. `node` is the
    node's name.

    With other inputs the graph is not what the file says. The interpreter ends
    with an error then; a program has a limit that sizes or values are beyond,
    and another one is made for these.

    ```mlir
    nn.assume %isOne is true, "/decoder/If" : tensor<i1>
    ```
  }];
  let arguments = (ins 0DTensorOf<[I1]>:$condition, BoolAttr:$holds,
                       StrAttr:$node);
  let assemblyFormat = [{
    $condition `is` $holds `,` $node attr-dict `:` type($condition)
  }];
}

#endif // SINTER_GRAPH_NN_ASSUME_TD
