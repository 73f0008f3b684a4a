#include "passes/RescaledSums.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/ExactSums.h"
#include "graph/PermutedType.h"
#include "graph/QuantizedProducts.h"
#include "graph/RealRange.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Groups.h"
#include "passes/QuantizedForms.h"
#include "passes/RescaleTree.h"

#include <cmath>

using namespace mlir;

namespace sinter {

/// The type of the accumulators of \p product, a copy with new operands; null
/// where they do not fit.
static quant::QuantizedType typeOfSums(Operation *product,
                                       quant::QuantizedType before) {
  quant::QuantizedType left = quantizedOf(product->getOperand(0).getType()),
                       right = quantizedOf(product->getOperand(1).getType());
  auto scales =
      left && right ? productScales(product, {left, right}) : std::nullopt;
  std::optional<double> count = productsPerSum(product);
  if (!scales || !count ||
      !holds(storageOf(before),
             IntegerRange::ofSums(centredRange(left), centredRange(right),
                                  *count)))
    return {};
  QuantizationParameters parameters;
  parameters.scales = scales->factors;
  parameters.zeroPoints.assign(scales->factors.size(), 0);
  parameters.axis = scales->axis;
  return quantizedElement(storageOf(before),
                          cast<FloatType>(before.getExpressedType()),
                          parameters);
}

/// The product \p op without a rescale of an operand.
static Value productWithout(OpBuilder &builder, Operation *op) {
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  if (!rescaled || op->getNumOperands() != 2 || !isMemoryEffectFree(op))
    return {};
  quant::QuantizedType sums = quantizedOf(op->getResult(0).getType());
  for (unsigned i : {0u, 1u}) {
    Value operand = op->getOperand(i);
    std::optional<RescaledTree> tree = rescaled.absorbsRescaleOfOperand(i)
                                           ? RescaledTree::of(operand)
                                           : std::nullopt;
    if (!tree || !tree->cost().isLess() ||
        !tree->rescale().function.cutsNothing(tree->numbers()))
      continue;
    PendingOperations pending(op->getContext());
    Value before = tree->build(pending.builder);
    if (!before)
      continue;
    IRMapping mapping;
    mapping.map(operand, before);
    Operation *copy = cloneApart(pending.builder, op, mapping);
    if (auto form = productFormOf(op))
      setProductForm(copy, *form);
    quant::QuantizedType type = typeOfSums(copy, sums);
    if (!type || isQuantizedPerAxis(tensorOf(op->getResult(0)).clone(type)) !=
                     isQuantizedPerAxis(op->getResult(0).getType()))
      continue;
    Operation *made = retyped(pending.builder, copy, {}, type);
    if (!made)
      continue;
    if (auto form = productFormOf(op))
      setProductForm(made, *form);
    copy->erase();
    pending.insert(builder);
    return made->getResult(0);
  }
  return {};
}

/// The constant \p value, or a broadcast of one, with the scales of \p type.
static Value constantIn(OpBuilder &builder, Value value,
                        quant::QuantizedType type) {
  quant::QuantizedType was = quantizedOf(value.getType());
  if (auto repeated = Broadcast::of(value)) {
    const quant::QuantizedType wanted = type;
    auto parameters = parametersOf(type);
    if (parameters && parameters->axis >= 0) {
      auto found = llvm::find(repeated->dimensions, parameters->axis);
      if (found == repeated->dimensions.end())
        return {};
      type = cast<quant::QuantizedType>(
          alongAxis(type, found - repeated->dimensions.begin()));
    }
    Value constant = constantIn(builder, repeated->operand, type);
    if (!constant)
      return {};
    Value spread = repeated->rebuild(builder, value.getLoc(), constant);
    spread.setType(tensorOf(value).clone(wanted));
    return spread;
  }
  const std::optional<Tensor> tensor = constantTensor(value);
  auto function = was ? RescaleFunction::between(
                            was, type, QuantizedRounding::AfterZeroPoint)
                      : std::nullopt;
  constexpr int64_t exactInF32 = int64_t(1) << 22;
  auto isExact = [](int64_t each) {
    return each >= -exactInF32 && each <= exactInF32;
  };
  if (!tensor || !function || tensor->size() > exactInF32)
    return {};
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (!isExact(tensor->toInteger(i)))
      return {};
  Value made = foldRescale(builder, *function, value, type);
  const std::optional<Tensor> after = constantTensor(made);
  for (int64_t i = 0; after && i < after->size(); ++i)
    if (!isExact(after->toInteger(i)))
      return {};
  return made;
}

/// The accumulators \p value without a rescale of an operand of their product.
static Value sumsWithout(OpBuilder &builder, Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !hasOneElementUse(value))
    return {};
  if (givesSums(op))
    return productWithout(builder, op);
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  if (!rescaled || op->getNumResults() != 1 || op->getNumOperands() != 2 ||
      !isMemoryEffectFree(op))
    return {};
  const bool isSum =
      llvm::any_of(rescaled.getRescaleWays(), [](const RescaleWay &way) {
        return way.operands.size() == 2 &&
               way.ranges == RescaleRanges::CutsNothing;
      });
  quant::QuantizedType type = quantizedOf(value.getType());
  if (!isSum || !llvm::all_of(op->getOperands(), [&](Value operand) {
        return quantizedOf(operand.getType()) == type;
      }))
    return {};
  for (unsigned i : {0u, 1u}) {
    Value sums = sumsWithout(builder, op->getOperand(i), depth - 1);
    if (!sums)
      continue;
    quant::QuantizedType now = quantizedOf(sums.getType());
    Value added = constantIn(builder, op->getOperand(1 - i), now);
    if (!added)
      return {};
    IRMapping mapping;
    mapping.map(op->getOperand(i), sums);
    mapping.map(op->getOperand(1 - i), added);
    Operation *made = retyped(builder, op, mapping, now);
    return made ? made->getResult(0) : Value();
  }
  return {};
}

Values withoutRescaleOfSums(Operation *op, OpBuilder &builder) {
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  if (!rescaled || op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      !rescaled.absorbsRescaleOfOperand(0))
    return {};
  Value operand = op->getOperand(0);
  constexpr unsigned widthOfSums = 32;
  quant::QuantizedType type = quantizedOf(operand.getType());
  if (!type || type.getStorageTypeIntegralWidth() != widthOfSums)
    return {};
  PendingOperations pending(op->getContext());
  constexpr unsigned mostTerms = 8;
  Value sums = sumsWithout(pending.builder, operand, mostTerms);
  if (!sums)
    return {};
  IRMapping mapping;
  mapping.map(operand, sums);
  Operation *copy = withOperands(pending.builder, op, mapping);
  if (!copy)
    return {};
  pending.insert(builder);
  return Values(copy->getResults());
}

} // namespace sinter
