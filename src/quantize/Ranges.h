//===- Ranges.h - ranges, scales and zero points --------------------------===//

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

/// A scale and a zero point, and the range of storage elements.
struct LinearCode {
  ElementType storage = ElementType::UI8;
  double scale = 1;
  int64_t zeroPoint = 0;

  /// \p number quantised and dequantised.
  double nearest(double number) const;
  /// The values that it represents, as ChannelErrors without measurements.
  ChannelErrors numbers() const;
};

/// The code of \p range in \p storage by \p scheme: the zero point is even,
/// zero is exact, and the scale is a normal number of f32.
LinearCode codeOf(Range range, ElementType storage, Scheme scheme);

/// The least scale in the type of \p value, a tensor of floats: the least
/// normal number; 0 where the scales of all codes fit.
double leastScaleOf(mlir::Value value);

/// \p code of \p range or, where its scale is less than \p leastScale, the code
/// of a range that is wider by their ratio.
LinearCode withLeastScale(const LinearCode &code, Range range, Scheme scheme,
                          double leastScale);

/// How a range was chosen, the expected mean of squared errors with its code,
/// and the mean of squares of the values that were seen.
struct ChosenRange {
  Range range;
  LinearCode code;
  RangeMethod method = RangeMethod::Max;
  double error = 0, power = 0;
};

/// Chooses by the method of the options; for `Best`, the range with the least
/// expected error, which may exceed the values that were seen, but not
/// \p possible. A profile without a histogram has its whole range. The entropy
/// method is that of TensorRT (S. Migacz, "8-bit inference with TensorRT",
/// 2017), on both ends.
ChosenRange chooseRange(const TensorProfile &profile,
                        const QuantizeOptions &options,
                        RealRange possible = {});

/// "max", "percentile", "entropy", "mse", "wider", "best".
llvm::StringRef nameOf(RangeMethod method);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_RANGES_H
