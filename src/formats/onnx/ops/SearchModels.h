//===- SearchModels.h - the models that searches for text run -------------===//
//
// ONNX Runtime's searches hold a model in attributes: a decoder that reads the
// prompt itself (GPT-2), or an encoder that reads it and a decoder that starts
// with one token (T5). It runs once over the prompts, and then once for each
// further token with the keys and values of those before.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_SEARCHMODELS_H
#define SINTER_FORMATS_ONNX_OPS_SEARCHMODELS_H

#include "formats/onnx/ops/TokenScores.h"
#include <memory>

namespace sinter::onnx {

/// What a run gives: the scores of the next token [R, V], and what the next run
/// reads of this one.
struct Decoded {
  mlir::Value scores;
  Values states;
};

/// The tokens of each row so far: [R, L], of which \c count are there, a scalar
/// of i32; the last of them [R]; the number of the run, a scalar of i32.
struct TokensSoFar {
  mlir::Value sequences, count, last, run;
};

class SearchModel {
public:
  SearchModel(NodeContext &node, const TokenScores &rules)
      : node(node), rules(rules) {}
  virtual ~SearchModel() = default;

  /// The model that the attributes hold; \p mask is the input with a mask of
  /// the prompts. Null on failure.
  static std::unique_ptr<SearchModel>
  of(NodeContext &node, const TokenScores &rules, int64_t mask);

  /// The scores of the tokens after the prompts, a row for each.
  virtual std::optional<Decoded> start() = 0;
  /// The scores after one more token.
  virtual std::optional<Decoded> next(const TokensSoFar &tokens,
                                      llvm::ArrayRef<mlir::Value> states) = 0;
  /// The tokens that each result starts with [B, S].
  mlir::Value prompt;

  /// \p states with one row for each row of the old ones that \p rows names.
  Values picked(llvm::ArrayRef<mlir::Value> states, mlir::Value rows) const;
  /// The same for what all runs read.
  void pick(mlir::Value rows);

protected:
  virtual bool read(int64_t mask) = 0;
  /// The axis of \p state's rows.
  virtual int64_t rowAxis(size_t state) const = 0;
  std::optional<Values> run(const GraphProto &graph,
                            llvm::ArrayRef<mlir::Value> inputs, int outputs);
  std::optional<mlir::Value> lastScores(mlir::Value logits);
  mlir::Value maskOf(mlir::Value prompts, int64_t input, bool hidesAll);

  NodeContext &node;
  const TokenScores &rules;
  /// What all runs read; the rows are axis 0.
  Values constants;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_SEARCHMODELS_H
