//===- Attention.h - attention as operators of files define it ------------===//
//
// The pieces of an operator that attends: heads apart, what each query may see,
// the core, rotary positions. The core is one nn.attention where that says all
// of it, else its parts.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_ATTENTION_H
#define SINTER_FORMATS_IMPORT_ATTENTION_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// [N, L, heads * D] as [N, heads, L, D].
mlir::Value splitHeads(GraphBuilder &builder, mlir::Value x, int64_t heads);
/// [N, heads, L, D] as [N, L, heads * D].
mlir::Value joinHeads(GraphBuilder &builder, mlir::Value x);

/// \p fresh [N, heads, L, D] behind \p past [N, heads, P, D], which may be
/// null.
mlir::Value concatenatePast(GraphBuilder &builder, mlir::Value past,
                            mlir::Value fresh);

/// 1 / sqrt(D) for a \p query [..., D].
std::optional<double> defaultScale(GraphBuilder &builder, mlir::Value query);

/// \p a and \p b, each of which may be null for what always holds.
mlir::Value conjunction(GraphBuilder &builder, mlir::Value a, mlir::Value b);

/// Which keys a query sees: query i is at position p = i + offset, and sees the
/// keys from p - left to p + right. A negative bound is none.
struct AttentionWindow {
  int64_t left = -1, right = -1;
  /// i64, broadcasts to [N, heads, Lq, Lk]; null for 0.
  mlir::Value offset;
  bool isBounded() const { return left >= 0 || right >= 0; }
};
/// Booleans that broadcast to [N, heads, Lq, Lk]; null if all keys are seen.
mlir::Value visibleKeys(GraphBuilder &builder, const Dim &queries,
                        const Dim &keys, const AttentionWindow &window);
/// Booleans [N, 1, 1, keys]: the first `counts[n]` keys of sample n.
mlir::Value firstKeys(GraphBuilder &builder, const Dim &keys,
                      mlir::Value counts);

/// What the core of an attention is computed of.
struct AttentionParts {
  /// [N, heads, Lq, D]; key and value [N, fewer heads, Lk, D or Dv], where a
  /// head of the key serves as many of the query's as there are for each.
  mlir::Value query, key, value;
  double scale = 1;
  /// Scores are softcap * tanh(score / softcap) before all that follows, if it
  /// is not 0.
  double softcap = 0;
  /// Added to the scores, or null; broadcasts to [N, heads, Lq, Lk].
  mlir::Value bias;
  /// Booleans that broadcast to [N, heads, Lq, Lk], or null: where one is
  /// false, the score is -inf.
  mlir::Value allowed;
  /// Query i sees the keys up to i.
  bool causal = false;
  /// Whether queries that see no key give 0, not NaN.
  bool blankRowsAreZero = true;
  /// The element type of the softmax; the wider of it and that of the scores
  /// is used. May be null.
  mlir::Type softmaxElement;
};

/// Makes a causal mask a part of `allowed`, and clears `causal`.
void applyCausalMask(GraphBuilder &builder, AttentionParts &parts);

/// Stages of the scores [N, heads, Lq, Lk], in the query's element type. Those
/// that are asked for are set.
struct AttentionScores {
  bool wantsProduct = false, wantsCapped = false, wantsBiased = false,
       wantsWeights = false;
  mlir::Value product, capped, biased, weights;
  bool wantsAny() const {
    return wantsProduct || wantsCapped || wantsBiased || wantsWeights;
  }
};

/// lhs . rhs^T or, if not \p isTransposed, lhs . rhs, of the last two of four
/// dimensions, with elements \p element. A head of the right one serves as many
/// of the left one's as there are for each.
mlir::Value productOfHeads(GraphBuilder &builder, mlir::Value lhs,
                           mlir::Value rhs, bool isTransposed,
                           mlir::Type element);

/// Fails unless query, key and value have four dimensions, and the query's
/// heads are a multiple of the key's.
void checkHeads(GraphBuilder &builder, mlir::Value query, mlir::Value key,
                mlir::Value value);

/// softmax(query . key^T * scale, capped, + bias) . value: [N, heads, Lq, Dv].
mlir::Value attend(GraphBuilder &builder, const AttentionParts &parts,
                   AttentionScores *scores = nullptr);

/// Rotates pairs of the first 2 * R elements along the last dimension of \p x
/// by the angles whose cosines and sines broadcast to [..., R]: elements i and
/// i + R or, with \p interleaved, 2 i and 2 i + 1.
mlir::Value rotatePairs(GraphBuilder &builder, mlir::Value x,
                        mlir::Value cosines, mlir::Value sines,
                        bool interleaved);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_ATTENTION_H
