#include "passes/DequantizedWeight.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Source.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/QuantizedConstant.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

Value beforeRearrangement(Value weight) {
  while (isa_and_nonnull<ReshapeOp, TransposeOp, ReverseOp>(
      weight.getDefiningOp()))
    weight = weight.getDefiningOp()->getOperand(0);
  return weight;
}

/// The use of the constant that \p operand is a broadcast, reshape or
/// conversion of; null for anything else.
static OpOperand *useOfConstant(OpOperand &operand) {
  OpOperand *use = &operand;
  constexpr unsigned mostSteps = 4;
  for (unsigned i = 0; i < mostSteps; ++i) {
    Value value = use->get();
    if (value.getDefiningOp<ConstantOp>())
      return use;
    Operation *op = value.getDefiningOp();
    const bool isOneElement = isa_and_nonnull<ReshapeOp>(op) &&
                              tensorOf(value).hasStaticShape() &&
                              tensorOf(value).getNumElements() == 1;
    if (!op || !value.hasOneUse() ||
        !(isOneElement || isa<ConvertOp>(op) || Broadcast::of(value)))
      return nullptr;
    use = &op->getOpOperand(0);
  }
  return nullptr;
}

/// The dimension of \p value that its broadcast vector lies along, -1 for one
/// element; nothing where several dimensions are not broadcast.
static std::optional<int64_t> axisOfRepeated(Value value) {
  std::optional<Broadcast> spread = Broadcast::of(value);
  if (!spread)
    return std::nullopt;
  if (tensorOf(spread->operand).getNumElements() == 1)
    return -1;
  if (spread->dimensions.size() != 1)
    return std::nullopt;
  return spread->dimensions.front();
}

/// The integers in \p tensor, of an integer type or converted to floats;
/// nothing where an element is not an integer.
static std::optional<SmallVector<int64_t>> integersIn(const Tensor &tensor) {
  SmallVector<int64_t> found;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double number = tensor.toDouble(i);
    if (number != std::trunc(number) || std::abs(number) > 0x1p31)
      return std::nullopt;
    found.push_back(static_cast<int64_t>(number));
  }
  return found;
}

std::optional<DequantizedWeight> DequantizedWeight::ofType(Value numbers) {
  auto dequantize = numbers.getDefiningOp<UniformDequantizeOp>();
  if (!dequantize || !dequantize.getOperand().getDefiningOp<ConstantOp>())
    return std::nullopt;
  auto parameters =
      parametersOf(quantizedOf(dequantize.getOperand().getType()));
  if (!parameters)
    return std::nullopt;
  DequantizedWeight found;
  found.numbers = numbers;
  found.integers = &dequantize->getOpOperand(0);
  found.parameters = std::move(*parameters);
  return found;
}

std::optional<DequantizedWeight>
DequantizedWeight::ofArithmetic(Value numbers) {
  auto multiply = numbers.getDefiningOp<MulOp>();
  if (!multiply)
    return std::nullopt;
  DequantizedWeight found;
  found.numbers = numbers;
  auto axis = axisOfRepeated(multiply.getRhs());
  found.scales = useOfConstant(multiply->getOpOperand(1));
  std::optional<Tensor> scales =
      axis && found.scales ? constantTensor(found.scales->get()) : std::nullopt;
  if (!scales || !isFloat(scales->type()))
    return std::nullopt;
  found.parameters.axis = *axis;
  for (int64_t i = 0; i < scales->size(); ++i)
    found.parameters.scales.push_back(scales->toDouble(i));
  found.parameters.zeroPoints.assign(scales->size(), 0);
  Value centred = multiply.getLhs();
  if (auto subtract = centred.getDefiningOp<SubtractOp>()) {
    // Other users would see the mirrored integers, too.
    OpOperand *use = centred.hasOneUse()
                         ? useOfConstant(subtract->getOpOperand(1))
                         : nullptr;
    auto zeroAxis = axisOfRepeated(subtract.getRhs());
    auto zeros = use ? integersIn(*constantTensor(use->get())) : std::nullopt;
    if (!zeros || !zeroAxis ||
        (zeros->size() != 1 &&
         (zeros->size() != found.parameters.scales.size() ||
          *zeroAxis != *axis)))
      return found;
    if (zeros->size() == 1)
      zeros->assign(found.parameters.scales.size(), zeros->front());
    found.parameters.zeroPoints = std::move(*zeros);
    centred = subtract.getLhs();
  }
  auto convert = centred.getDefiningOp<ConvertOp>();
  std::optional<Tensor> integers =
      convert && convert->hasOneUse() && centred.hasOneUse()
          ? constantTensor(convert.getOperand())
          : std::nullopt;
  if (integers && isInteger(integers->type()) &&
      bitWidth(integers->type()) <= 32)
    found.integers = &convert->getOpOperand(0);
  return found;
}

std::optional<DequantizedWeight> DequantizedWeight::find(Value weight) {
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> dimensions =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value numbers = weight;
  while (numbers.hasOneUse() &&
         isa_and_nonnull<TransposeOp, ReverseOp>(numbers.getDefiningOp())) {
    if (auto transpose = numbers.getDefiningOp<TransposeOp>())
      for (int64_t &each : dimensions)
        each = transpose.getPermutation()[each];
    numbers = numbers.getDefiningOp()->getOperand(0);
  }
  if (!numbers.hasOneUse())
    return std::nullopt;
  std::optional<DequantizedWeight> found = ofType(numbers);
  if (!found)
    found = ofArithmetic(numbers);
  if (found)
    found->dimensions = std::move(dimensions);
  return found;
}

/// The scaled weight. \p factors become those of the dequantised value's own
/// dimensions.
std::optional<DequantizedWeight::Scaled>
DequantizedWeight::scaled(ChannelFactors &factors) const {
  if (factors.dimension >= 0)
    factors.dimension = dimensions[factors.dimension];
  auto expressed = cast<FloatType>(tensorOf(numbers).getElementType());
  auto after = factors.scaled(parameters, expressed);
  if (!after)
    return std::nullopt;
  Scaled result{std::move(*after), {}, {}};
  const bool staysArithmetic =
      scales && result.parameters.axis == parameters.axis;
  if (staysArithmetic && !factors.changesIntegers())
    return result;
  if (!integers)
    return std::nullopt;
  Type stored = tensorOf(integers->get()).getElementType();
  const IntegerBounds bounds =
      scales ? boundsOf(cast<IntegerType>(stored))
             : boundsOf(quantizedOf(integers->get().getType()));
  if (factors.changesIntegers()) {
    result.integers =
        factors.turned(*constantTensor(integers->get()), parameters, bounds);
    if (!result.integers)
      return std::nullopt;
  }
  if (staysArithmetic)
    return result;
  result.type =
      quantizedElement(scales ? cast<IntegerType>(stored)
                              : storageOf(cast<quant::QuantizedType>(stored)),
                       expressed, result.parameters, bounds);
  return result.type ? std::optional(std::move(result)) : std::nullopt;
}

bool DequantizedWeight::takesUp(ChannelFactors factors) const {
  return scaled(factors).has_value();
}

/// Replaces the constant that \p operand uses by a new one.
static Operation *exchange(OpOperand &operand, const Tensor &tensor,
                           FoldedNames &names) {
  Value old = operand.get();
  OpBuilder builder(operand.getOwner());
  operand.set(makeConstant(builder, old.getLoc(), tensor,
                           names.fused(constantName(old))));
  return old.getDefiningOp();
}

SmallVector<Operation *> DequantizedWeight::scale(ChannelFactors factors,
                                                  FoldedNames &names) const {
  const Scaled after = *scaled(factors);
  SmallVector<Operation *> old;
  if (!after.type) {
    if (after.integers)
      old.push_back(exchange(*integers, *after.integers, names));
    const Tensor before = *constantTensor(scales->get());
    old.push_back(exchange(
        *scales,
        tensorOfDoubles(before.type(), before.shape(), after.parameters.scales),
        names));
    return old;
  }
  Value constant = integers->get();
  OpBuilder builder(numbers.getDefiningOp());
  Value quantized = makeQuantized(builder, constant,
                                  after.integers ? *after.integers
                                                 : *constantTensor(constant),
                                  after.type, names);
  if (!scales) {
    integers->set(quantized);
    return {constant.getDefiningOp()};
  }
  auto dequantize = builder.create<UniformDequantizeOp>(
      numbers.getLoc(), numbers.getType(), quantized);
  old.push_back(numbers.getDefiningOp());
  Value before = numbers;
  before.replaceAllUsesWith(dequantize);
  return old;
}

} // namespace sinter
