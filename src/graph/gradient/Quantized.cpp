// Gradients of what rounds to quantised numbers, and of what computes with
// them. They are straight-through: rounding counts as the identity between the
// least and the greatest number that an element can stand for, and as a
// constant beyond. (Jacob et al. 2018, "Quantization and training of neural
// networks for efficient integer-arithmetic-only inference".) Gradients by a
// quantised value are of the type that it stands for.

#include "graph/gradient/Gradient.h"

#include "graph/Quantization.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/DenseSet.h"

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

/// Whether \p op looks at bits of quantised numbers, or holds what does.
static bool looksAtBits(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<BitcastConvertOp>(inner) && hasQuantizedType(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What gives quantised numbers in the regions of \p op by rounding, or as a
/// constant, stays as it is, and is read as the real numbers that they stand
/// for. Returns these operations, whose types are right as they are.
static llvm::DenseSet<Operation *> readAsReals(Operation *op) {
  SmallVector<Operation *> roundings;
  llvm::DenseSet<Operation *> kept;
  op->walk([&](Operation *inner) {
    if (inner != op && inner->getNumResults() == 1 &&
        quantizedOf(inner->getResult(0).getType()) &&
        isa<ConstantOp, UniformQuantizeOp, nn::QuantizeOp>(inner))
      roundings.push_back(inner);
  });
  for (Operation *inner : roundings) {
    OpBuilder behind(inner->getContext());
    behind.setInsertionPointAfter(inner);
    TensorBuilder e(behind, inner->getLoc());
    Value real = realOf(e, inner->getResult(0));
    inner->getResult(0).replaceAllUsesExcept(real, real.getDefiningOp());
    kept.insert(inner);
    kept.insert(real.getDefiningOp());
  }
  return kept;
}

/// Makes real numbers of the quantised ones in \p op, but for what \p kept
/// operations give.
static void makeReal(Operation *op, const llvm::DenseSet<Operation *> &kept) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](quant::QuantizedType type) -> Type {
    return type.getExpressedType();
  });
  SmallVector<Operation *> done;
  op->walk([&](Operation *inner) {
    if (kept.contains(inner))
      return;
    for (Region &region : inner->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(replacer.replace(argument.getType()));
    for (Value result : inner->getResults())
      result.setType(replacer.replace(result.getType()));
    if (isa<UniformDequantizeOp>(inner) && inner != op)
      done.push_back(inner);
  });
  // What they read has become what they give.
  for (Operation *each : done) {
    each->getResult(0).replaceAllUsesWith(each->getOperand(0));
    each->erase();
  }
}

/// \p op on the real numbers that its operands stand for; null for what looks
/// at bits.
static Operation *onReals(Operation *op, TensorBuilder &e) {
  if (looksAtBits(op))
    return nullptr;
  Operation *reals = e.builder.clone(*op);
  for (OpOperand &operand : reals->getOpOperands())
    operand.set(realOf(e, operand.get()));
  reals->moveBefore(e.builder.getInsertionBlock(),
                    e.builder.getInsertionPoint());
  makeReal(reals, readAsReals(reals));
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
