//===- CtcDecoding.h - texts of connectionist temporal classification -----===//

#ifndef SINTER_POST_CTCDECODING_H
#define SINTER_POST_CTCDECODING_H

#include "runtime/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter {

struct CtcOptions {
  /// By class, without the blank: UTF-8, any number of bytes each.
  std::vector<std::string> characters;
  /// The class that stands for nothing; negative: counted from the end.
  int64_t blank = 0;
  /// Whether the first dimension counts steps and the second samples; nothing:
  /// if the second is 1 and the first is not.
  std::optional<bool> isTimeFirst;
};

struct DecodedText {
  std::string text;
  /// The mean probability of the classes of its characters; 0 without any.
  double confidence = 0;
};

/// Greedy decoding: the most probable class of each step, repetitions merged,
/// blanks left out (A. Graves et al., "Connectionist temporal classification",
/// 2006, best path decoding). \p scores, probabilities or logits, are [N,
/// steps, classes], [steps, N, classes] or [steps, classes]. Usage error for
/// other shapes, and if the characters are not as many as the classes but the
/// blank.
Result<std::vector<DecodedText>> decodeCtc(const Tensor &scores,
                                           const CtcOptions &options);

} // namespace sinter

#endif // SINTER_POST_CTCDECODING_H
