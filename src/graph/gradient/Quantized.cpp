// Gradients of what rounds to quantised numbers, and of what computes with
// them. They are straight-through: rounding counts as the identity between the
// least and the greatest number that an element can stand for, and as a
// constant beyond. (Jacob et al. 2018, "Quantization and training of neural
// networks for efficient integer-arithmetic-only inference".) Gradients by a
// quantised value are of the type that it stands for.

#include "graph/gradient/Gradient.h"

#include "graph/Quantization.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// The real numbers that \p value holds, or stands for.
static Value realOf(TensorBuilder &e, Value value) {
  quant::QuantizedType type = quantizedOf(value.getType());
  return type ? e.make<UniformDequantizeOp>(
                    tensorOf(value).clone(type.getExpressedType()), value)
              : value;
}

/// Nothing goes back to numbers that lie beyond the last element by more than
/// half a step: they would be cut.
template <typename Op>
static Gradients rounded(Op op, TensorBuilder &e, ValueRange dy) {
  quant::QuantizedType type = quantizedOf(op.getType());
  auto parameters = parametersOf(type);
  if (!parameters)
    return failure();
  // Sums of products are not cut.
  if (type.getStorageTypeIntegralWidth() >= 32)
    return SmallVector<Value>(dy);
  const IntegerBounds bounds = boundsOf(type);
  SmallVector<double> least, greatest;
  for (auto [scale, zeroPoint] :
       llvm::zip_equal(parameters->scales, parameters->zeroPoints)) {
    least.push_back((static_cast<double>(bounds.least - zeroPoint) - 0.5) *
                    scale);
    greatest.push_back(
        (static_cast<double>(bounds.greatest - zeroPoint) + 0.5) * scale);
  }
  Value x = realOf(e, op.getOperand());
  auto limit = [&](ArrayRef<double> numbers) {
    return emitSpread(e, numbers, parameters->axis, x);
  };
  Value isInside =
      e.make<AndOp>(e.compare(ComparisonDirection::GE, x, limit(least)),
                    e.compare(ComparisonDirection::LE, x, limit(greatest)));
  return list({e.select(isInside, dy[0], e.splat(0, tensorOf(dy[0])))});
}

static Gradients dequantized(UniformDequantizeOp, TensorBuilder &,
                             ValueRange dy) {
  return SmallVector<Value>(dy);
}

/// \p op on the real numbers that its operands stand for; null for what looks
/// at bits, and where its regions hold quantised constants or rescales.
static Operation *onReals(Operation *op, TensorBuilder &e) {
  bool hasForm = !isa<BitcastConvertOp>(op);
  op->walk([&](Operation *inner) {
    hasForm &= inner == op || !hasQuantizedType(inner) ||
               !isa<ConstantOp, UniformQuantizeOp, UniformDequantizeOp,
                    nn::QuantizeOp>(inner);
  });
  if (!hasForm)
    return nullptr;
  Operation *reals = e.builder.clone(*op);
  for (OpOperand &operand : reals->getOpOperands())
    operand.set(realOf(e, operand.get()));
  reals->moveBefore(e.builder.getInsertionBlock(),
                    e.builder.getInsertionPoint());
  AttrTypeReplacer replacer;
  replacer.addReplacement([](quant::QuantizedType type) -> Type {
    return type.getExpressedType();
  });
  replacer.recursivelyReplaceElementsIn(reals, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return reals;
}

FailureOr<SmallVector<Value>> quantizedParts(OpBuilder &builder,
                                             Operation *op) {
  TensorBuilder e(builder, op->getLoc());
  Operation *reals = onReals(op, e);
  if (!reals)
    return failure();
  SmallVector<Value> results;
  for (auto [result, real] :
       llvm::zip_equal(op->getResults(), reals->getResults()))
    results.push_back(quantizedOf(result.getType())
                          ? e.make<UniformQuantizeOp>(result.getType(), real)
                          : real);
  return results;
}

void attachQuantized(MLIRContext *context) {
  attach<UniformQuantizeOp, rounded<UniformQuantizeOp>>(context);
  attach<UniformDequantizeOp, dequantized>(context);
  attach<nn::QuantizeOp, rounded<nn::QuantizeOp>>(context);
}

} // namespace sinter::gradient
