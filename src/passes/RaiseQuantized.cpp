#include "passes/RaiseQuantized.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/ExactSums.h"
#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/QuantizedProducts.h"
#include "graph/Repetition.h"
#include "graph/interfaces/Axes.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "passes/Matching.h"
#include "passes/QuantizedForms.h"
#include "passes/RaiseQuantizedProducts.h"
#include "passes/RulePass.h"
#include "passes/RuleTables.h"

#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static Value raiseQuantize(ConvertOp op, OpBuilder &builder) {
  auto rounded = RoundedNumber::match(op);
  auto quotient = rounded ? rounded->number.getDefiningOp<DivOp>() : DivOp();
  auto scales = quotient ? Spread::of(quotient.getRhs()) : std::nullopt;
  auto parameters =
      scales ? together(*scales, rounded->zeroPoints) : std::nullopt;
  if (!parameters)
    return {};
  auto type = quantizedElement(rounded->storage, rounded->compute, *parameters);
  if (!type || !hasScalesFor(type, tensorOf(op)))
    return {};
  return builder.create<BitcastConvertOp>(
      op.getLoc(), op.getType(),
      emitQuantize(builder, op.getLoc(), quotient.getLhs(), type));
}

static Value raiseDequantize(MulOp op, OpBuilder &builder) {
  auto linear = LinearNumber::match(op);
  if (!linear || !hasScalesFor(linear->type, tensorOf(op)))
    return {};
  return emitDequantize(builder, op.getLoc(),
                        asQuantized(builder, linear->elements, linear->type));
}

//===----------------------------------------------------------------------===//
// Operations that move elements or keep their order
//===----------------------------------------------------------------------===//

/// Whether a copy of \p op on storage elements may replace it.
static bool isSimple(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         !op->hasTrait<traits::HandsTensorsOn>() &&
         !isa<OptimizationBarrierOp, UniformQuantizeOp, UniformDequantizeOp,
              nn::QuantizeOp>(op);
}

/// Operands of the element type of the result.
static SmallVector<OpOperand *> operandsOfResultType(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0));
  SmallVector<OpOperand *> numbers;
  for (OpOperand &operand : op->getOpOperands())
    if (getElementTypeOrSelf(operand.get()) == element)
      numbers.push_back(&operand);
  return numbers;
}

/// Whether \p way takes \p operands and no others.
static bool takesAll(const RescaleWay &way, ArrayRef<OpOperand *> operands) {
  return way.operands.size() == operands.size() &&
         llvm::all_of(operands, [&](OpOperand *operand) {
           return llvm::is_contained(way.operands, operand->getOperandNumber());
         });
}

/// Whether some way of a rescale takes all of \p operands and keeps the order.
static bool keepsOrder(Operation *op, ArrayRef<OpOperand *> operands) {
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  if (!rescaled)
    return false;
  return llvm::any_of(rescaled.getRescaleWays(), [&](const RescaleWay &way) {
    return way.ranges != RescaleRanges::CutsNothing && takesAll(way, operands);
  });
}

/// A copy of \p op in \p pending whose operands \p numbers are replaced by
/// elements of \p type: those that \p elements finds, or constants that are
/// exact in \p type.
static Operation *onElements(PendingOperations &pending, Operation *op,
                             ArrayRef<OpOperand *> numbers,
                             quant::QuantizedType type,
                             llvm::function_ref<Value(Value)> elements) {
  IRMapping mapping;
  for (OpOperand *operand : numbers) {
    Value found = elements(operand->get());
    if (!found)
      found = exactConstant(pending.builder, operand->get(), type);
    if (!found || getElementTypeOrSelf(found) != type)
      return nullptr;
    mapping.map(operand->get(), found);
  }
  return copyWith(pending.builder, op, mapping, type);
}

/// op(dequantize(x)), where op moves elements or, on accumulators, keeps their
/// order.
static Value moveDequantize(Operation *op, OpBuilder &builder) {
  if (!isSimple(op) || !isFloatTensor(op->getResult(0)) ||
      Broadcast::of(op->getResult(0)))
    return {};
  SmallVector<OpOperand *> numbers = operandsOfResultType(op);
  Value first;
  for (OpOperand *operand : numbers)
    if (!first)
      first = dequantizedElements(operand->get());
  if (!first)
    return {};
  quant::QuantizedType type = quantizedOf(first.getType());
  const bool isSum = type.getStorageTypeIntegralWidth() == 32;
  if (!op->hasTrait<traits::MovesElements>() &&
      !(isSum && keepsOrder(op, numbers)))
    return {};
  // A bias is added to the accumulators from its own position.
  if (isSum && first.getDefiningOp<ConstantOp>())
    return {};
  PendingOperations pending(op->getContext());
  Operation *moved =
      onElements(pending, op, numbers, type, dequantizedElements);
  if (!moved)
    return {};
  Value result =
      emitDequantize(pending.builder, op->getLoc(), moved->getResult(0));
  pending.insert(builder);
  return result;
}

/// Whether \p op only moves elements, or selects by their order, which with one
/// scale is the order of the dequantised values.
static bool choosesElements(Operation *op, ArrayRef<OpOperand *> operands,
                            quant::QuantizedType type) {
  if (op->hasTrait<traits::MovesElements>())
    return true;
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  return rescaled && isa<quant::UniformQuantizedType>(type) && survives(type) &&
         llvm::any_of(rescaled.getRescaleWays(), [&](const RescaleWay &way) {
           return way.ranges == RescaleRanges::Any && takesAll(way, operands);
         });
}

/// op(bitcast_convert(x)), where op moves or selects elements.
static Value moveStorage(Operation *op, OpBuilder &builder) {
  if (!isSimple(op) || !isIntegerTensor(op->getResult(0)) ||
      Broadcast::of(op->getResult(0)))
    return {};
  SmallVector<OpOperand *> numbers = operandsOfResultType(op);
  quant::QuantizedType type;
  for (OpOperand *operand : numbers)
    if (auto cast = operand->get().getDefiningOp<BitcastConvertOp>();
        cast && !type)
      type = quantizedOf(cast.getOperand().getType());
  if (!type || storageOf(type) != getElementTypeOrSelf(op->getResult(0)) ||
      !choosesElements(op, numbers, type))
    return {};
  PendingOperations pending(op->getContext());
  IRMapping mapping;
  for (OpOperand *operand : numbers) {
    auto cast = operand->get().getDefiningOp<BitcastConvertOp>();
    const bool isConstant = operand->get().getDefiningOp<ConstantOp>();
    if (!isConstant &&
        (!cast || quantizedOf(cast.getOperand().getType()) != type))
      return {};
    mapping.map(operand->get(),
                asQuantized(pending.builder, operand->get(), type));
  }
  Operation *moved = copyWith(pending.builder, op, mapping, type);
  if (!moved)
    return {};
  Value result = pending.builder.create<BitcastConvertOp>(
      op->getLoc(), op->getResult(0).getType(), moved->getResult(0));
  pending.insert(builder);
  return result;
}

//===----------------------------------------------------------------------===//
// Between dequantising and quantising
//===----------------------------------------------------------------------===//

/// quantize(dequantize(x)).
template <typename Op>
static Value quantizeElements(Op op, OpBuilder &builder) {
  Value elements = dequantizedElements(op.getOperand());
  if (!elements)
    return {};
  if (elements.getType() == op.getType() && survives(quantizedOf(op.getType())))
    return elements;
  return builder.create<Op>(op.getLoc(), op.getType(), elements);
}

/// Whether an operation with a result of \p type rounds as \p Op does.
/// Operations add the zero point before they round: with an odd one, ties round
/// differently (see LowerQuantized for even ones).
template <typename Op>
static bool roundsLikeOperation(quant::QuantizedType type) {
  if (!std::is_same_v<Op, nn::QuantizeOp>)
    return true;
  auto parameters = parametersOf(type);
  return parameters && llvm::all_of(parameters->zeroPoints,
                                    [](int64_t zero) { return zero % 2 == 0; });
}

/// quantize(f(dequantize(x), ...)).
template <typename Op> static Value raiseBetween(Op op, OpBuilder &builder) {
  Operation *between = op.getOperand().getDefiningOp();
  if (!between || !hasOneElementUse(op.getOperand()) || !isSimple(between) ||
      !isFloatTensor(op.getOperand()) ||
      between->hasTrait<traits::MovesElements>() || isa<ConvertOp>(between))
    return {};
  quant::QuantizedType type = quantizedOf(op.getType()), first;
  for (Value operand : between->getOperands())
    if (Value elements = dequantizedElements(operand); elements && !first)
      first = quantizedOf(elements.getType());
  if (!first)
    return {};
  const bool isChoice =
      first == type &&
      choosesElements(between, operandsOfResultType(between), type);
  if (!isChoice && !roundsLikeOperation<Op>(type))
    return {};
  PendingOperations pending(op->getContext());
  IRMapping mapping;
  for (Value operand : between->getOperands()) {
    if (!isa<FloatType>(getElementTypeOrSelf(operand)))
      continue;
    Value elements = dequantizedElements(operand);
    for (quant::QuantizedType each : {first, type})
      if (!elements)
        elements = exactConstant(pending.builder, operand, each);
    if (!elements)
      return {};
    mapping.map(operand, elements);
  }
  Operation *raised = copyWith(pending.builder, between, mapping, type);
  if (!raised)
    return {};
  pending.insert(builder);
  return raised->getResult(0);
}

/// quantize(concatenate(x, ...)) with some operands dequantised: quantises each
/// operand by itself in front of the concatenate.
template <typename Op>
static Value quantizeOperands(Op op, OpBuilder &builder) {
  auto concatenate = op.getOperand().template getDefiningOp<ConcatenateOp>();
  quant::QuantizedType type = quantizedOf(op.getType());
  if (!concatenate || !hasOneElementUse(op.getOperand()) ||
      !isFloatTensor(op.getOperand()) ||
      !isa<quant::UniformQuantizedType>(type) ||
      llvm::none_of(concatenate.getInputs(), [](Value operand) {
        return bool(dequantizedElements(operand));
      }))
    return {};
  PendingOperations pending(op->getContext());
  IRMapping mapping;
  for (Value operand : concatenate.getInputs())
    mapping.map(operand,
                pending.builder.create<Op>(
                    op.getLoc(), tensorOf(operand).clone(type), operand));
  Operation *concatenated =
      copyWith(pending.builder, concatenate, mapping, type);
  if (!concatenated)
    return {};
  pending.insert(builder);
  return concatenated->getResult(0);
}

/// bitcast_convert of a bitcast_convert from its own result type.
static Value cancelCasts(BitcastConvertOp op, OpBuilder &) {
  auto before = op.getOperand().getDefiningOp<BitcastConvertOp>();
  return before && before.getOperand().getType() == op.getType()
             ? before.getOperand()
             : Value();
}

ArrayRef<RewriteRule> raiseQuantizedRules() {
  static const std::vector<RewriteRule> rules = [] {
    std::vector<RewriteRule> all = {
        rule<ConvertOp, raiseQuantize>(
            "raise-quantize",
            "convert<i8>(clamp(round(x / s) + z)) -> quantize(x)"),
        rule<MulOp, raiseDequantize>(
            "raise-dequantize",
            "(convert<f32>(q) - z) * s -> uniform_dequantize(q)")};
    llvm::append_range(all, raiseQuantizedProductRules());
    all.insert(
        all.end(),
        {rule<Operation *, moveDequantize>(
             "move-dequantize",
             "transpose(dequantize(x)) -> dequantize(transpose(x))"),
         rule<Operation *, moveStorage>("move-storage",
                                        "transpose(bitcast_convert(x)) -> "
                                        "bitcast_convert(transpose(x))"),
         rule<UniformQuantizeOp, quantizeElements<UniformQuantizeOp>>(
             "requantize", "quantize(dequantize(x)) -> quantize(x), or x"),
         rule<nn::QuantizeOp, quantizeElements<nn::QuantizeOp>>(
             "requantize", "quantize(dequantize(x)) -> quantize(x), or x"),
         rule<UniformQuantizeOp, raiseBetween<UniformQuantizeOp>>(
             "raise-quantized-operation",
             "quantize(f(dequantize(x))) -> f(x) : !quant"),
         rule<nn::QuantizeOp, raiseBetween<nn::QuantizeOp>>(
             "raise-quantized-operation",
             "quantize(f(dequantize(x))) -> f(x) : !quant"),
         rule<UniformQuantizeOp, quantizeOperands<UniformQuantizeOp>>(
             "quantize-parts",
             "quantize(concatenate(dequantize(x), y)) -> "
             "concatenate(quantize(dequantize(x)), quantize(y))"),
         rule<nn::QuantizeOp, quantizeOperands<nn::QuantizeOp>>(
             "quantize-parts",
             "quantize(concatenate(dequantize(x), y)) -> "
             "concatenate(quantize(dequantize(x)), quantize(y))"),
         rule<BitcastConvertOp, cancelCasts>(
             "cancel-bitcasts",
             "bitcast_convert(bitcast_convert(x)) -> x, of its type")});
    for (RewriteRule &each : all)
      each = takingApart(std::move(each));
    return all;
  }();
  return rules;
}

namespace {
struct RaiseQuantized : RulePass<RaiseQuantized> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseQuantized)
  using RulePass::RulePass;
  StringRef getArgument() const final { return "raise-quantized"; }
  StringRef getDescription() const final {
    return "Raise spelled-out quantisation to quantised types";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect, quant::QuantizationDialect>();
  }
  RuleList tables() const {
    // A clamp that quantising implies would hide a dequantised operand, which
    // could be used directly.
    return {quantizationRules().rules, raiseQuantizedRules(),
            dropoutRules().rules};
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseQuantized(std::shared_ptr<PatternRun> run) {
  return std::make_unique<RaiseQuantized>(std::move(run));
}

} // namespace sinter
