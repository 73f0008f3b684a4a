//===- CtcDecoding.cpp - texts of connectionist temporal classification ---===//

#include "post/CtcDecoding.h"

#include "metrics/ClassScores.h"

namespace sinter {

/// The text of the rows \p first, first + step, ... of \p scores.
static DecodedText decodeOne(const ClassScores &scores, int64_t first,
                             int64_t step, int64_t steps, int64_t blank,
                             const std::vector<std::string> &characters) {
  DecodedText decoded;
  int64_t last = -1, count = 0;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t row = first + i * step;
    const int64_t label = scores.hasNaN(row) ? blank : scores.top(row);
    if (label != blank && label != last) {
      decoded.text += characters[label - (label > blank ? 1 : 0)];
      decoded.confidence += scores.probabilities(row)[label];
      ++count;
    }
    last = label;
  }
  if (count > 0)
    decoded.confidence /= static_cast<double>(count);
  return decoded;
}

Result<std::vector<DecodedText>> decodeCtc(const Tensor &scores,
                                           const CtcOptions &options) {
  const std::string shape = toString(scores.type(), scores.shape());
  if (!isFloat(scores.type()) || scores.rank() < 2 || scores.rank() > 3)
    return usageError("ctc: scores of [N, steps, classes] are expected, not " +
                      shape);
  if (scores.size() == 0)
    return usageError("ctc: " + shape + " holds no scores");
  const int64_t classes = scores.dim(scores.rank() - 1);
  const auto characters = static_cast<int64_t>(options.characters.size());
  if (characters != classes - 1)
    return usageError(
        "ctc: " + std::to_string(characters) +
        " characters and a blank are not the " + std::to_string(classes) +
        " classes of " + shape +
        (characters == classes - 2
             ? "; with :space, a space follows the characters, as PaddleOCR's "
               "models have it"
             : ""));
  const int64_t blank =
      options.blank < 0 ? classes + options.blank : options.blank;
  if (blank < 0 || blank >= classes)
    return usageError("ctc: the blank " + std::to_string(options.blank) +
                      " is none of " + std::to_string(classes) + " classes");
  const bool isTimeFirst =
      scores.rank() == 2 ||
      options.isTimeFirst.value_or(scores.dim(1) == 1 && scores.dim(0) != 1);
  const int64_t first = scores.dim(0),
                second = scores.rank() == 3 ? scores.dim(1) : 1;
  const int64_t samples = isTimeFirst ? second : first,
                steps = isTimeFirst ? first : second;
  std::vector<DecodedText> texts;
  const ClassScores rows(scores, scores.rank() - 1);
  for (int64_t i = 0; i < samples; ++i)
    texts.push_back(decodeOne(rows, isTimeFirst ? i : i * steps,
                              isTimeFirst ? samples : 1, steps, blank,
                              options.characters));
  return texts;
}

} // namespace sinter
