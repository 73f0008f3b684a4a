//===- SizeArithmetic.h - arithmetic on dynamic dimensions ----------------===//

#ifndef SINTER_FORMATS_IMPORT_SIZEARITHMETIC_H
#define SINTER_FORMATS_IMPORT_SIZEARITHMETIC_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// Computes sizes that are known only at run time.
class SizeArithmetic {
public:
  explicit SizeArithmetic(GraphBuilder &builder) : builder(builder) {}

  template <typename Op> Dim apply(const Dim &a, const Dim &b) {
    return Dim(mlir::ShapedType::kDynamic, builder.op<Op>(value(a), value(b)));
  }
  Dim add(const Dim &a, const Dim &b) { return apply<stablehlo::AddOp>(a, b); }
  Dim subtract(const Dim &a, const Dim &b) {
    return apply<stablehlo::SubtractOp>(a, b);
  }
  Dim multiply(const Dim &a, const Dim &b) {
    return apply<stablehlo::MulOp>(a, b);
  }
  /// Rounded towards zero.
  Dim divide(const Dim &a, const Dim &b) {
    return apply<stablehlo::DivOp>(a, b);
  }
  Dim max(const Dim &a, const Dim &b) { return apply<stablehlo::MaxOp>(a, b); }
  /// 1 where a >= b, else 0.
  Dim isAtLeast(const Dim &a, const Dim &b) {
    return Dim(mlir::ShapedType::kDynamic,
               builder.cast(builder.compare(value(a), value(b),
                                            stablehlo::ComparisonDirection::GE),
                            builder.i64()));
  }

private:
  mlir::Value value(const Dim &dim) {
    return dim.isStatic() ? builder.integers({dim.size}) : dim.extent;
  }
  GraphBuilder &builder;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_SIZEARITHMETIC_H
