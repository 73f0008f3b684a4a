#include "passes/Matching.h"

#include "graph/Constants.h"
#include "graph/PermutedType.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "interpreter/Interpreter.h"

using namespace mlir;

namespace sinter {

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool keepsOrder(RankedTensorType type, ArrayRef<int64_t> places,
                bool placesAreSources) {
  SmallVector<int64_t> order;
  for (auto [index, place] : llvm::enumerate(places))
    if (type.getDimSize(placesAreSources ? place : index) != 1)
      order.push_back(place);
  return llvm::is_sorted(order);
}

bool movesOnlyUnits(stablehlo::TransposeOp op) {
  auto type = tensorOf(op.getOperand());
  // A reshape cannot move the quantised dimension, which may be of size 1.
  return !isQuantizedPerAxis(type) &&
         keepsOrder(type, op.getPermutation(), /*placesAreSources=*/true);
}

/// How deep a chain of operations on constants is followed.
static constexpr unsigned deepestChain = 16;

/// Whether \p value is the result of a pure operation which can be evaluated
/// once its operands are, in no more than \p depth steps.
static bool mayEvaluate(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  std::optional<int64_t> count =
      elementCount(cast<RankedTensorType>(value.getType()).getShape());
  return depth > 0 && count && *count <= largestEvaluatedConstant &&
         !op->getNumRegions() && op->getNumResults() == 1 && isPure(op) &&
         !isa<stablehlo::OptimizationBarrierOp>(op) && canEvaluate(op);
}

static bool isStaticResult(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return value.getDefiningOp() && type && type.hasStaticShape();
}

static bool followsFromConstants(Value value, unsigned depth) {
  if (!isStaticResult(value))
    return false;
  Operation *op = value.getDefiningOp();
  return isa<stablehlo::ConstantOp>(op) ||
         (mayEvaluate(value, depth) &&
          llvm::all_of(op->getOperands(), [&](Value operand) {
            return followsFromConstants(operand, depth - 1);
          }));
}

bool followsFromConstants(Value value) {
  return followsFromConstants(value, deepestChain);
}

static std::optional<Tensor> constantValue(Value value, unsigned depth) {
  if (!isStaticResult(value))
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (isa<stablehlo::ConstantOp>(op))
    return constantTensor(value);
  if (!mayEvaluate(value, depth))
    return std::nullopt;
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> tensor = constantValue(operand, depth - 1);
    if (!tensor)
      return std::nullopt;
    operands.push_back(std::move(*tensor));
  }
  Result<std::vector<Tensor>> results = evaluate(op, operands);
  if (!results || results->size() != 1)
    return std::nullopt;
  return std::move(results->front());
}

std::optional<Tensor> constantValue(Value value) {
  return constantValue(value, deepestChain);
}

/// Whether \p op broadcasts or rearranges the elements of its first operand.
static bool repeatsOperand(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp,
             stablehlo::ReshapeOp, stablehlo::TransposeOp, nn::BroadcastLikeOp>(
      op);
}

/// The splat element of the attribute, as a tensor of one element; nothing if
/// it is not a splat.
static std::optional<Tensor> splatOf(ElementsAttr attribute) {
  constexpr int64_t mostCompared = 4096;
  std::optional<ElementType> type =
      elementTypeOf(cast<ShapedType>(attribute.getType()).getElementType());
  if (!type || isComplex(*type) ||
      isa<quant::QuantizedType>(
          cast<ShapedType>(attribute.getType()).getElementType()))
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (attribute.getNumElements() == 0 ||
      (attribute.getNumElements() > mostCompared &&
       !(dense && dense.isSplat())))
    return std::nullopt;
  if (dense && dense.isSplat())
    return toTensor(dense.resizeSplat(RankedTensorType::get(
        {}, cast<ShapedType>(attribute.getType()).getElementType())));
  std::optional<Tensor> tensor = toTensor(attribute);
  if (!tensor)
    return std::nullopt;
  size_t width = byteSize(*type);
  for (int64_t i = 1; i < tensor->size(); ++i)
    if (std::memcmp(tensor->data(), tensor->data() + i * width, width) != 0)
      return std::nullopt;
  return tensor;
}

static std::optional<Tensor> splatTensor(Value value) {
  Operation *op = value.getDefiningOp();
  for (unsigned depth = 0; op && repeatsOperand(op) && depth < deepestChain;
       ++depth)
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op);
  return constant ? splatOf(constant.getValue()) : std::nullopt;
}

std::optional<double> splatValue(Value value) {
  std::optional<Tensor> splat = splatTensor(value);
  if (!splat)
    return std::nullopt;
  return splat->toDouble(0);
}

std::optional<APInt> integerSplat(Value value) {
  auto type = dyn_cast<IntegerType>(tensorOf(value).getElementType());
  std::optional<Tensor> splat = type ? splatTensor(value) : std::nullopt;
  if (!splat)
    return std::nullopt;
  return APInt(type.getWidth(), static_cast<uint64_t>(splat->toInteger(0)),
               /*isSigned=*/true);
}

Tensor tensorOfIntegers(ArrayRef<int64_t> numbers) {
  return Tensor::of<int64_t>(ElementType::I64,
                             {static_cast<int64_t>(numbers.size())},
                             std::span(numbers.data(), numbers.size()));
}

bool convertsLosslessly(Type from, Type to) {
  // An index has 64 bits.
  for (Type *each : {&from, &to})
    if (each->isIndex())
      *each = IntegerType::get(each->getContext(), 64);
  if (from == to)
    return true;
  auto fromInteger = dyn_cast<IntegerType>(from);
  auto toInteger = dyn_cast<IntegerType>(to);
  if (fromInteger && fromInteger.getWidth() == 1)
    return isa<FloatType>(to) || toInteger;
  if (fromInteger && toInteger)
    return toInteger.getWidth() > fromInteger.getWidth() &&
           toInteger.getSignedness() == fromInteger.getSignedness();
  auto fromFloat = dyn_cast<FloatType>(from);
  auto toFloat = dyn_cast<FloatType>(to);
  if (!fromFloat || !toFloat || toFloat.getWidth() <= fromFloat.getWidth())
    return false;
  // Only f32 and f64 represent all values of another type: f16 and bf16 have
  // fewer exponents than one of the 8-bit types, or fewer digits.
  return toFloat.isF32() || toFloat.isF64();
}

} // namespace sinter
