//===- NnDetection.td - what detectors do with boxes ----------------------===//

#ifndef SINTER_GRAPH_NN_DETECTION
#define SINTER_GRAPH_NN_DETECTION

include "graph/nn/NnBase.td"

def Nn_NonMaxSuppressionOp : Nn_Op<"non_max_suppression"> {
  let summary = "The boxes that overlap with no box of a higher score";
  let description = [{
    `boxes` [B, N, 4] are two opposite corners in any order or, `centred`, the
    centre and the extents; `scores` are [B, C, N]. In each batch and class the
    boxes whose score is above `score_threshold` (without one, those with a
    score) are taken in the order of their scores, of equal ones the first one
    first, as long as there are fewer than `most`; one that overlaps with a box
    that was taken is left out: whose intersection with it is more than
    `iou_threshold` of their union, which is not empty. All that is computed in
    f32.

    The result has a row [batch, class, box] for each box that was taken; how
    many is known only at run time.

    ```mlir
    %s = nn.non_max_suppression %boxes, %scores, %most, %iou, %score
        {centred = false} : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>,
        tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
    ```
  }];
  let arguments = (ins 3DTensorOf<[F32]>:$boxes, 3DTensorOf<[F32]>:$scores,
                       0DTensorOf<[I64]>:$most, 0DTensorOf<[F32]>:$iou_threshold,
                       Optional<0DTensorOf<[F32]>>:$score_threshold,
                       BoolAttr:$centred);
  let results = (outs 2DTensorOf<[I64]>:$result);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $most `,` $iou_threshold
      (`,` $score_threshold^)? attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_DETECTION
