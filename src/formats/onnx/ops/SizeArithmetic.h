//===- SizeArithmetic.h - sizes that are known only when run --------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_SIZEARITHMETIC_H
#define SINTER_FORMATS_ONNX_OPS_SIZEARITHMETIC_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Arithmetic on sizes that are known only when run.
class SizeArithmetic {
public:
  explicit SizeArithmetic(NodeContext &node) : node(node) {}

  template <typename Op> Dim apply(const Dim &a, const Dim &b) {
    return Dim(mlir::ShapedType::kDynamic, node.op<Op>(value(a), value(b)));
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
               node.cast(node.compare(value(a), value(b),
                                      stablehlo::ComparisonDirection::GE),
                         node.i64()));
  }

private:
  mlir::Value value(const Dim &dim) {
    return dim.isStatic() ? node.integers({dim.size}) : dim.extent;
  }
  NodeContext &node;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_SIZEARITHMETIC_H
