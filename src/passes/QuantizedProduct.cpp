#include "passes/QuantizedProduct.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/QuantizedProducts.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Groups.h"
#include "passes/QuantizedConstant.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// The constant that \p value is or broadcasts; null for anything else.
static Value constantOf(Value value) {
  std::optional<Broadcast> spread = Broadcast::of(value);
  Value constant = spread ? spread->operand : value;
  return constant.getDefiningOp<ConstantOp>() ? constant : Value();
}

std::optional<QuantizedProduct> QuantizedProduct::find(Operation *op,
                                                       unsigned weight) {
  Value constant = op->getOperand(weight);
  quant::QuantizedType type = quantizedOf(constant.getType());
  if (!type || !roundedParametersOf(type) || !constantTensor(constant) ||
      tensorOf(constant).getNumElements() == 0 ||
      !isa<FloatType>(type.getExpressedType()))
    return std::nullopt;
  QuantizedProduct found;
  found.op = op;
  found.weight = weight;
  found.end = op->getResult(0);
  while (quant::QuantizedType element = quantizedOf(found.end.getType())) {
    OpOperand *use = soleElementUse(found.end);
    if (!use || !parametersOf(element) ||
        use->getOwner()->getBlock() != op->getBlock())
      return std::nullopt;
    Operation *user = use->getOwner();
    if (isa<AddOp>(user)) {
      OpOperand &other = user->getOpOperand(1 - use->getOperandNumber());
      if (!constantOf(other.get()) ||
          quantizedOf(other.get().getType()) != element ||
          quantizedOf(user->getResult(0).getType()) != element)
        return std::nullopt;
      found.addends.push_back(&other);
    } else if (!isa<UniformDequantizeOp>(user)) {
      return std::nullopt;
    }
    found.path.push_back(user);
    found.end = user->getResult(0);
  }
  return found;
}

bool QuantizedProduct::isRounded() const {
  return quantizedOf(op->getResult(0).getType()) && !hasScalesOfSums(op);
}

ElementType QuantizedProduct::numbersType() const {
  quant::QuantizedType type = quantizedOf(op->getOperand(weight).getType());
  return *elementTypeOf(type.getExpressedType());
}

Tensor QuantizedProduct::weightNumbers() const {
  Value constant = op->getOperand(weight);
  std::optional<Tensor> elements = constantTensor(constant);
  quant::QuantizedType type = quantizedOf(constant.getType());
  auto expressed = cast<FloatType>(type.getExpressedType());
  auto parameters = roundedParametersOf(type);
  int64_t stride = 1;
  for (int64_t i = elements->rank() - 1;
       parameters->axis >= 0 && i > parameters->axis; --i)
    stride *= elements->dim(i);
  std::vector<double> numbers;
  numbers.reserve(elements->size());
  for (int64_t i = 0; i < elements->size(); ++i) {
    const size_t slice = i / stride % parameters->scales.size();
    numbers.push_back(
        dequantizedNumber(elements->toInteger(i), parameters->scales[slice],
                          parameters->zeroPoints[slice], expressed));
  }
  return tensorOfDoubles(numbersType(), elements->shape(), numbers);
}

/// Sets the type of the result: that of the accumulators if it was, else with
/// scales times the factors, and zero points mirrored about the middle of the
/// bounds for negative factors.
bool QuantizedProduct::setResult(Scaled &after, const ChannelFactors &factors,
                                 int64_t resultDimension) const {
  quant::QuantizedType before = quantizedOf(op->getResult(0).getType());
  if (!before)
    return addends.empty();
  auto expressed = cast<FloatType>(before.getExpressedType());
  IntegerBounds bounds = boundsOf(before);
  std::optional<QuantizationParameters> parameters = parametersOf(before);
  if (!isRounded()) {
    SmallVector<quant::QuantizedType> types =
        llvm::map_to_vector(op->getOperandTypes(), quantizedOf);
    types[weight] = after.weight;
    auto sums = productScales(op, types);
    if (!sums)
      return false;
    parameters = {sums->factors, SmallVector<int64_t>(sums->factors.size(), 0),
                  sums->axis};
  } else {
    if (!addends.empty())
      return false;
    ChannelFactors own = factors;
    if (own.dimension >= 0)
      own.dimension = resultDimension;
    parameters = own.scaled(*parameters, expressed);
    if (!parameters)
      return false;
    for (auto [i, zero] : llvm::enumerate(parameters->zeroPoints))
      if (own.factors[own.dimension < 0 ? 0 : i] < 0)
        zero = bounds.least + bounds.greatest - zero;
  }
  after.result =
      quantizedElement(storageOf(before), expressed, *parameters, bounds);
  return after.result != nullptr;
}

/// Gives added constants the result's new scales; their integers stay.
bool QuantizedProduct::addConstants(Scaled &after,
                                    const ChannelFactors &factors,
                                    int64_t resultDimension) const {
  for (OpOperand *addend : addends) {
    Value constant = constantOf(addend->get());
    std::optional<Broadcast> spread = Broadcast::of(addend->get());
    std::optional<Tensor> elements = constantTensor(constant);
    auto parameters = parametersOf(after.result);
    auto before = parametersOf(quantizedOf(constant.getType()));
    if (!elements || !before)
      return false;
    // The constant's dimension that holds the channels.
    const auto dimensionOf = [&](int64_t dimension) -> int64_t {
      if (!spread)
        return dimension;
      auto found = llvm::find(spread->dimensions, dimension);
      return found == spread->dimensions.end()
                 ? -1
                 : found - spread->dimensions.begin();
    };
    if (parameters->axis >= 0) {
      parameters->axis = dimensionOf(parameters->axis);
      if (parameters->axis < 0 ||
          elements->dim(parameters->axis) !=
              static_cast<int64_t>(parameters->scales.size()))
        return false;
    }
    if (factors.changesIntegers()) {
      ChannelFactors own = factors;
      if (own.dimension >= 0)
        own.dimension = dimensionOf(resultDimension);
      if (factors.dimension >= 0 && own.dimension < 0)
        return false;
      elements = own.turned(*elements, *before, boundsOf(after.result));
      if (!elements)
        return false;
    }
    quant::QuantizedType type =
        quantizedElement(storageOf(after.result),
                         cast<FloatType>(after.result.getExpressedType()),
                         *parameters, boundsOf(after.result));
    if (!type)
      return false;
    after.added.push_back({std::move(*elements), type});
  }
  return true;
}

std::optional<QuantizedProduct::Scaled>
QuantizedProduct::scaled(const ChannelFactors &factors,
                         int64_t resultDimension) const {
  Value constant = op->getOperand(weight);
  quant::QuantizedType before = quantizedOf(constant.getType());
  auto expressed = cast<FloatType>(before.getExpressedType());
  const QuantizationParameters parameters = *parametersOf(before);
  auto scales = factors.scaled(parameters, expressed);
  if (!scales)
    return std::nullopt;
  if (scales->axis >= 0) {
    std::optional<Axes> axes = axesOf(op);
    const bool isRight = weight + 1 == op->getNumOperands();
    if (!isRight || !axes || !axes->resultOf(weight, scales->axis))
      return std::nullopt;
  }
  Scaled after;
  if (factors.changesIntegers()) {
    after.elements =
        factors.turned(*constantTensor(constant), parameters, boundsOf(before));
    if (!after.elements)
      return std::nullopt;
  }
  after.weight =
      quantizedElement(storageOf(before), expressed, *scales, boundsOf(before));
  if (!after.weight || !setResult(after, factors, resultDimension) ||
      !addConstants(after, factors, resultDimension))
    return std::nullopt;
  return after;
}

bool QuantizedProduct::takesUp(const ChannelFactors &factors,
                               int64_t resultDimension) const {
  return scaled(factors, resultDimension).has_value();
}

SmallVector<Operation *> QuantizedProduct::scale(const ChannelFactors &factors,
                                                 int64_t resultDimension,
                                                 FoldedNames &names) const {
  Scaled after = *scaled(factors, resultDimension);
  SmallVector<Operation *> old;
  OpBuilder builder(op);
  Value constant = op->getOperand(weight);
  op->setOperand(weight,
                 makeQuantized(builder, constant,
                               after.elements ? *after.elements
                                              : *constantTensor(constant),
                               after.weight, names));
  old.push_back(constant.getDefiningOp());
  if (!after.result)
    return old;
  const auto retype = [&](Value value) {
    value.setType(tensorOf(value).clone(after.result));
  };
  retype(op->getResult(0));
  for (auto [addend, added] : llvm::zip_equal(addends, after.added)) {
    Value before = addend->get(), root = constantOf(before);
    builder.setInsertionPoint(addend->getOwner());
    Value made = makeQuantized(builder, root, added.first, added.second, names);
    if (root != before) {
      IRMapping mapping;
      mapping.map(before.getDefiningOp()->getOperand(0), made);
      made = cloneApart(builder, before.getDefiningOp(), mapping)->getResult(0);
      retype(made);
    }
    addend->set(made);
    old.push_back(before.getDefiningOp());
    retype(addend->getOwner()->getResult(0));
  }
  return old;
}

} // namespace sinter
