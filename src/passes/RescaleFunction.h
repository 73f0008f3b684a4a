//===- RescaleFunction.h - what a rescale does to stored numbers ----------===//
//
//   q of !quant<i8:f32, 0.5>  ->  q' of !quant<i8:f32, 0.25:3>
//
// A rescale as a function of storage elements, one for each element of a
// quantised dimension. It never decreases, and takes zero to zero. Whether what
// is done with it is exact is tried out on all elements that there are; where
// these are too many, and where real numbers were rounded, how far two ways may
// part follows from scales and from what is cut at the ends.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RESCALEFUNCTION_H
#define SINTER_PASSES_RESCALEFUNCTION_H

#include "graph/Quantization.h"
#include "graph/RealRange.h"

namespace sinter {

class RescaleFunction {
public:
  /// Nothing where one of the types is not uniform, or both have a scale for
  /// each element of a dimension, and not of the same.
  static std::optional<RescaleFunction> between(mlir::quant::QuantizedType from,
                                                mlir::quant::QuantizedType to,
                                                QuantizedRounding rounding);

  /// How many functions it is: 1, or the size of the dimension.
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

  /// Whether every element stands for the same number before and after.
  bool keepsNumbers() const;
  /// Whether numbers of \p range, as far as the type before holds them, stay
  /// what they are but for one unit of the type after: nothing more is cut.
  bool cutsNothing(RealRange range) const;
  /// Whether a real number of \p range that is rounded to the type before, and
  /// then rescaled, is at most one unit from the same number that is rounded to
  /// the type after at once.
  bool isAlmostRounding(RealRange range) const;
  /// Whether that holds of numbers that the type before does not cut.
  bool isFineEnough() const;
  /// The least and the greatest element after; nothing where they are others
  /// for some element of the dimension.
  std::optional<IntegerBounds> image() const;
  /// Whether \p then, behind this one, is \p both: exactly, for every element.
  bool composes(const RescaleFunction &then, const RescaleFunction &both) const;

  /// The number that \p element stands for before.
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
