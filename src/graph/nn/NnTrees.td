//===- NnTrees.td - ensembles of decision trees ---------------------------===//

#ifndef SINTER_GRAPH_NN_TREES_TD
#define SINTER_GRAPH_NN_TREES_TD

include "graph/nn/NnBase.td"

def Nn_TreeEnsembleOp : Nn_InferredOp<"tree_ensemble"> {
  let summary = "What an ensemble of decision trees says of each row";
  let description = [{
    A row of the operand [N, features] goes through each tree, from its root to
    a leaf: at node n to `true_children[n]` if

        x[features[n]] OP thresholds[n]

    holds, else to `false_children[n]`. `modes[n]` is OP (0: <=, 1: <, 2: >=,
    3: >, 4: ==, 5: !=), plus 8 if the condition also holds where x is NaN. A
    child, and a root, is a node if it is at least 0, and leaf ~child if it is
    negative. Children that are nodes have greater numbers than their parents,
    so that every path ends; nodes may share them.

    Leaf l adds `weights[i]` to target `targets[i]` for all i from
    `leaf_starts[l]` to `leaf_starts[l + 1]`. The result [N, target_count] has
    the sum, the average (the sum by the number of trees), the minimum or the
    maximum of what each target gets; 0 where it gets nothing. Comparisons are
    exact, as of real numbers; sums are taken in f64 and rounded once.
  }];
  let arguments = (ins Stablehlo_FloatTensor:$operand,
                       DenseI32ArrayAttr:$roots,
                       DenseI32ArrayAttr:$features,
                       DenseF64ArrayAttr:$thresholds,
                       DenseI8ArrayAttr:$modes,
                       DenseI32ArrayAttr:$true_children,
                       DenseI32ArrayAttr:$false_children,
                       DenseI32ArrayAttr:$leaf_starts,
                       DenseI32ArrayAttr:$targets,
                       DenseF64ArrayAttr:$weights,
                       ConfinedAttr<I64Attr, [IntPositive]>:$target_count,
                       StrAttr:$aggregate);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $aggregate attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_TREES_TD
