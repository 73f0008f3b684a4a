//===- PairwiseCoupling.h - probabilities of classes from those of pairs --===//

#ifndef SINTER_FORMATS_ONNX_OPS_PAIRWISECOUPLING_H
#define SINTER_FORMATS_ONNX_OPS_PAIRWISECOUPLING_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// r [N, classes, classes] of \p first [N, pairs], a number from 0 to 1 for
/// each pair i < j: r(i, j) is that number, r(j, i) what it lacks of 1, and
/// r(i, i) is 0.
mlir::Value pairMatrix(NodeContext &node, int64_t classes, mlir::Value first);

/// How probable each of \p classes is, [N, classes], where \p first [N, pairs]
/// says for each pair i < j how probable i is if it is one of the two: Wu, Lin
/// and Weng 2004, "Probability estimates for multi-class classification by
/// pairwise coupling", algorithm 2. It ends as libsvm's does, which others took
/// over: after 100 rounds, or where a row changes by less than 0.005 / classes.
mlir::Value coupleProbabilities(NodeContext &node, int64_t classes,
                                mlir::Value first);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_PAIRWISECOUPLING_H
