//===- RescaleFunction.h - a rescale as a function of storage -------------===//
//
//   q of !quant<i8:f32, 0.5>  ->  q' of !quant<i8:f32, 0.25:3>
//
// A rescale as a function of storage elements, one function for each index of a
// quantised dimension. It is monotonic, and maps zero to zero. Whether a
// rewrite with it is exact is tried on all storage values; where these are too
// many, and where real values were rounded, the greatest difference between two
// forms follows from scales and from the clipping at the ends of the range.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RESCALEFUNCTION_H
#define SINTER_PASSES_RESCALEFUNCTION_H

#include "graph/Quantization.h"
#include "graph/RealRange.h"

namespace sinter {

class RescaleFunction {
public:
  /// Nothing where one of the types is not uniform, or both are per-axis along
  /// different dimensions.
  static std::optional<RescaleFunction> between(mlir::quant::QuantizedType from,
                                                mlir::quant::QuantizedType to,
                                                QuantizedRounding rounding);

  /// The number of functions: 1, or the size of the dimension.
  size_t count() const {
    return std::max(from.scales.size(), to.scales.size());
  }
  /// The dimension along which they differ; -1 for one.
  int64_t axis() const { return from.axis >= 0 ? from.axis : to.axis; }

  int64_t at(size_t index, int64_t element) const;
  /// An element that becomes \p element, if there is one.
  std::optional<int64_t> before(size_t index, int64_t element) const;
  IntegerBounds boundsBefore() const { return fromBounds; }
  IntegerBounds boundsAfter() const { return toBounds; }

  /// Whether the element minus the zero point, times one factor in f32, rounded
  /// and clipped, gives the same for every element.
  bool isOneFactor() const;
  /// The factor: the quotient of the scales.
  double factor(size_t index) const {
    return pick(from.scales, index) / pick(to.scales, index);
  }

  /// Whether every element represents the same real value before and after.
  bool keepsNumbers() const;
  /// Whether values of \p range, clipped to the type before, change by at most
  /// one unit of the type after: nothing more is clipped.
  bool cutsNothing(RealRange range) const;
  /// Whether a real value of \p range that is rounded to the type before, and
  /// then rescaled, is at most one unit from the same value rounded to the type
  /// after directly.
  bool isAlmostRounding(RealRange range) const;
  /// Whether that holds for values that the type before does not clip.
  bool isFineEnough() const;
  /// The least and the greatest element after; nothing where they differ along
  /// the dimension.
  std::optional<IntegerBounds> image() const;
  /// Whether \p then after this function equals \p both, exactly, for every
  /// element.
  bool composes(const RescaleFunction &then, const RescaleFunction &both) const;

  /// The real value that \p element represents before.
  double numberBefore(size_t index, int64_t element) const;

private:
  double numberAfter(size_t index, int64_t element) const;
  bool canBeTried() const;
  template <typename Parameter>
  static const Parameter &pick(const llvm::SmallVector<Parameter> &list,
                               size_t index) {
    return list[list.size() == 1 ? 0 : index];
  }

  QuantizationParameters from, to;
  IntegerBounds fromBounds, toBounds;
  mlir::FloatType expressedBefore, expressedAfter;
  QuantizedRounding rounding = QuantizedRounding::AfterZeroPoint;
};

} // namespace sinter

#endif // SINTER_PASSES_RESCALEFUNCTION_H
