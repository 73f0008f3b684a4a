//===- NnAssume.td - assumptions about a graph's inputs -------------------===//

#ifndef SINTER_GRAPH_NN_ASSUME_TD
#define SINTER_GRAPH_NN_ASSUME_TD

include "graph/nn/NnBase.td"

def Nn_AssumeOp : Op<Nn_Dialect, "assume"> {
  let summary = "The graph is for inputs with which a condition holds";
  let description = [{
    A node chooses between graphs whose results differ in rank or element type,
    or of which only one is valid. The reader takes one of them, and records
    with this op what it assumed: that `condition` is `holds`. `node` is the
    node's name.

    With other inputs the graph does not match the file. The interpreter then
    ends with an error; a compiled program has a guard that fails, and another
    program is compiled for these inputs.

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
