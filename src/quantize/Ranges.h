//===- Ranges.h - which numbers an integer type shall stand for -----------===//

#ifndef SINTER_QUANTIZE_RANGES_H
#define SINTER_QUANTIZE_RANGES_H

#include "graph/Quantization.h"
#include "graph/RealRange.h"
#include "quantize/Options.h"
#include "quantize/Profile.h"

namespace sinter::quantize {

struct Range {
  double least = 0, greatest = 0;
};

/// A scale and a zero point, and the storage elements that they are of.
struct LinearCode {
  ElementType storage = ElementType::UI8;
  double scale = 1;
  int64_t zeroPoint = 0;

  /// The number that stands for \p number.
  double nearest(double number) const;
  /// The numbers that it has elements for, of which no errors are known yet.
  ChannelErrors numbers() const;
};

/// What \p scheme makes of \p range in \p storage: zero has an element of its
/// own, which is even, and the scale is a normal number of f32.
LinearCode codeOf(Range range, ElementType storage, Scheme scheme);

/// The least scale that the type of \p value, a tensor of floats, can say: the
/// least normal number; 0 where it can say that of every code.
double leastScaleOf(mlir::Value value);

/// \p code of \p range, or where its scale is less than \p leastScale that of
/// a range that is as much wider.
LinearCode withLeastScale(const LinearCode &code, Range range, Scheme scheme,
                          double leastScale);

/// How a range was chosen, the mean of the squared errors that numbers are
/// expected to have in its code, and the mean of the squares of those that were
/// seen.
struct ChosenRange {
  Range range;
  LinearCode code;
  RangeMethod method = RangeMethod::Max;
  double error = 0, power = 0;
};

/// By the method of the options; of `Best`, the one of least expected error,
/// which may reach beyond what was seen, but not beyond \p possible. A profile
/// without a histogram has its whole range. The entropy method is that of
/// TensorRT (S. Migacz, "8-bit inference with TensorRT", 2017), on both ends.
ChosenRange chooseRange(const TensorProfile &profile,
                        const QuantizeOptions &options,
                        RealRange possible = {});

/// "max", "percentile", "entropy", "mse", "wider", "best".
llvm::StringRef nameOf(RangeMethod method);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_RANGES_H
