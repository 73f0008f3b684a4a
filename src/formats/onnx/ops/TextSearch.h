//===- TextSearch.h - what ONNX Runtime's searches for text share ---------===//
//
//   tokens = prompt, padding                        [R, length]
//   scores = model(prompt), changed by the rules
//   until all sequences ended or there are `length` tokens:
//     tokens[count] = chosen by the scores
//     scores = model(the last token, the past), changed by the rules
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_TEXTSEARCH_H
#define SINTER_FORMATS_ONNX_OPS_TEXTSEARCH_H

#include "formats/onnx/ops/SearchModels.h"

namespace sinter::onnx {

class TextSearch {
protected:
  TextSearch(NodeContext &node, const TokenScores::Inputs &inputs)
      : node(node), rules(node, inputs) {}

  /// Reads the rules, the model and the length of the results, input 1; false
  /// on failure. \p mask is the input with a mask of the prompts.
  bool begin(int64_t mask);
  /// Puts the next token [R] of each row in.
  void append(mlir::Value tokens, mlir::Value count);
  /// The changed scores [R, V] of a run, of f32; \p count tokens are there.
  mlir::Value changed(mlir::Value scores, mlir::Value count,
                      bool isFirst) const {
    return rules.changed(node.cast(scores, node.f32()), sequences, count,
                         isFirst);
  }
  /// Whether an element of \p done [B] is false.
  mlir::Value goesOn(mlir::Value done) const;
  /// How many tokens there are before run \p index of the loop, which counts
  /// from 0, a scalar of i32; without it, those of the prompts.
  mlir::Value countAt(mlir::Value index) const;
  /// How often the loop runs at most, as an i64.
  mlir::Value mostRuns() const;
  mlir::Value filled(mlir::Type element, double value,
                     llvm::ArrayRef<Dim> dims) const;

  NodeContext &node;
  TokenScores rules;
  std::unique_ptr<SearchModel> model;
  /// The tokens so far, then padding [R, length].
  mlir::Value sequences;
  /// The number of prompts, the tokens of each, and of each result.
  Dim batch = 0, given = 0;
  int64_t length = 0;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_TEXTSEARCH_H
