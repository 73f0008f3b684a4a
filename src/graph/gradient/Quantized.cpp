// Gradients of quantising operations and of operations on quantised values.
// They are straight-through: rounding counts as the identity within the range
// that the type represents, and as a constant beyond. (Jacob et al. 2018,
// "Quantization and training of neural networks for efficient
// integer-arithmetic-only inference".) Gradients by a quantised value have its
// expressed type.

#include "graph/gradient/Gradient.h"

#include "graph/Quantization.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// The real values of \p value, dequantised if it is quantised.
static Value realOf(TensorBuilder &e, Value value) {
  quant::QuantizedType type = quantizedOf(value.getType());
  return type ? e.make<UniformDequantizeOp>(
                    tensorOf(value).clone(type.getExpressedType()), value)
              : value;
}

/// The gradient is zero for values that are clamped: those beyond the range by
/// more than half a step.
template <typename Op>
static Gradients rounded(Op op, TensorBuilder &e, ValueRange dy) {
  quant::QuantizedType type = quantizedOf(op.getType());
  auto parameters = parametersOf(type);
  if (!parameters)
    return failure();
  // Accumulators are not clamped.
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

/// Whether \p op, or an operation inside it, uses the bits of quantised values.
static bool looksAtBits(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<BitcastConvertOp>(inner) && hasQuantizedType(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Dequantises the results of operations in the regions of \p op that quantise
/// or are quantised constants, for all their users. Returns these operations,
/// whose types do not change.
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

/// Changes the quantised types in \p op to real ones, except results of \p kept
/// operations.
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
  // Drop conversions whose operand now has the result's type.
  for (Operation *each : done) {
    each->getResult(0).replaceAllUsesWith(each->getOperand(0));
    each->erase();
  }
}

/// \p op on the real values of its operands; null if it uses bits.
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
