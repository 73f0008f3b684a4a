//===- TokenScores.h - what a search for text makes of scores -------------===//
//
// ONNX Runtime's searches change the scores that a decoder gives to the next
// token before they choose: a penalty for tokens that were, n-grams that may
// not come again, masks of tokens, and the length before a sequence may end.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_TOKENSCORES_H
#define SINTER_FORMATS_ONNX_OPS_TOKENSCORES_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// The largest n-grams that may not come again.
inline constexpr int64_t largestNGram = 64;

/// \p scores [R, V], at most \p most for each token that would end an n-gram of
/// \p size tokens that is among the first \p count of \p ids [R, L].
mlir::Value limitRepeats(NodeContext &node, mlir::Value scores, mlir::Value ids,
                         mlir::Value count, int64_t size, double most);

class TokenScores {
public:
  /// Where the operator has the least length, the penalty, and the masks of
  /// tokens that may be, at all and as the first.
  struct Inputs {
    int64_t leastLength, penalty, mask, firstMask;
  };
  TokenScores(NodeContext &node, const Inputs &inputs)
      : node(node), inputs(inputs) {}

  /// Reads the attributes; false on failure.
  bool read();

  /// The tokens that end and fill sequences; -1 for none.
  int64_t end = 0, padding = 0;

  /// A token or a number of tokens, as a scalar of i32.
  mlir::Value number(int64_t value) const;
  /// Where \p tokens are \p token.
  mlir::Value areToken(mlir::Value tokens, int64_t token) const;

  /// The changed \p scores [R, V], of f32, for the tokens that follow the first
  /// \p count of \p sequences [R, L]; \p isFirst: those are the prompts.
  mlir::Value changed(mlir::Value scores, mlir::Value sequences,
                      mlir::Value count, bool isFirst) const;

private:
  mlir::Value allowed(mlir::Value scores, mlir::Value isAllowed) const;
  mlir::Value unmasked(mlir::Value scores, int64_t input) const;
  mlir::Value penalised(mlir::Value scores, mlir::Value sequences,
                        mlir::Value count) const;
  mlir::Value withoutEarlyEnd(mlir::Value scores, mlir::Value count) const;

  NodeContext &node;
  Inputs inputs;
  int64_t ngram = 0;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_TOKENSCORES_H
