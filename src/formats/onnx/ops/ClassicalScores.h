//===- ClassicalScores.h - scores and labels of classical models ----------===//
//
// What the classifiers and regressors of ai.onnx.ml have in common. Where the
// standard leaves open what is computed, it is what ONNX Runtime computes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_CLASSICALSCORES_H
#define SINTER_FORMATS_ONNX_OPS_CLASSICALSCORES_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

enum class PostTransform { None, Logistic, Softmax, SoftmaxZero, Probit };

/// Attribute `post_transform`, a name.
std::optional<PostTransform> readPostTransform(NodeContext &node);

/// \p scores [N, C] in their own type after \p transform, of each row where it
/// is a softmax.
mlir::Value transformScores(NodeContext &node, PostTransform transform,
                            mlir::Value scores);

/// The same of a regression with \p targets: a single score is no distribution,
/// and stays what it is, but for its probit.
mlir::Value transformTargets(NodeContext &node, PostTransform transform,
                             mlir::Value scores, int64_t targets);

/// \p scores [N, C] and a number for each column; without numbers as they are.
mlir::Value shifted(NodeContext &node, mlir::Value scores,
                    llvm::ArrayRef<double> shifts);

/// Whether \p x > \p bound.
mlir::Value isAbove(NodeContext &node, mlir::Value x, double bound);

/// sqrt(2) erfinv(2 x - 1), by Winitzki's approximation of the inverse error
/// function, which ONNX Runtime uses.
mlir::Value probit(NodeContext &node, mlir::Value x);

/// The operand as a matrix of rows: a vector is one row. Integers become f32,
/// and with \p narrows f64 does, too.
mlir::Value rowsOf(NodeContext &node, mlir::Value x, bool narrows);

/// x . matrix^T, of a matrix of \p rows rows that \p values has, in f32.
mlir::Value timesTransposed(NodeContext &node, mlir::Value x,
                            llvm::ArrayRef<double> values, int64_t rows);

/// Two columns [N, 2] of two values [N, 1].
mlir::Value besideEachOther(NodeContext &node, mlir::Value first,
                            mlir::Value second);

/// Column \p index of \p scores, [N, 1].
mlir::Value column(NodeContext &node, mlir::Value scores, int64_t index);

/// Names of classes: integers, or strings.
struct ClassLabels {
  Ints integers;
  std::vector<std::string> strings;

  bool areStrings() const { return !strings.empty(); }
  int64_t size() const {
    return static_cast<int64_t>(areStrings() ? strings.size()
                                             : integers.size());
  }
};

/// Attributes `classlabels_strings` and \p integers.
std::optional<ClassLabels> readLabels(NodeContext &node,
                                      llvm::StringRef integers);

/// The labels of the classes \p indices [N] (i64).
mlir::Value labelsAt(NodeContext &node, const ClassLabels &labels,
                     mlir::Value indices);

/// labels[1] where \p isPositive [N, 1] holds, else labels[0]; [N].
mlir::Value labelsWhere(NodeContext &node, const ClassLabels &labels,
                        mlir::Value isPositive);

/// The label of each row's greatest score, the first of equal ones.
mlir::Value labelsOfGreatest(NodeContext &node, const ClassLabels &labels,
                             mlir::Value scores);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_CLASSICALSCORES_H
