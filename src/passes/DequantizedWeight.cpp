#include "passes/DequantizedWeight.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "runtime/ElementDispatch.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// The constant that \p value is, through one conversion and one broadcast.
static std::optional<Tensor> constantBehind(Value value) {
  if (std::optional<Broadcast> spread = Broadcast::of(value))
    value = spread->operand;
  if (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getOperand();
  return constantTensor(value);
}

std::optional<DequantizedWeight> DequantizedWeight::find(Value weight) {
  auto multiply = weight.getDefiningOp<MulOp>();
  std::optional<Broadcast> spread =
      multiply ? Broadcast::of(multiply.getRhs()) : std::nullopt;
  if (!spread || !weight.hasOneUse() || spread->dimensions.size() != 1 ||
      !spread->op->hasOneUse() || !constantTensor(spread->operand))
    return std::nullopt;
  DequantizedWeight found;
  found.scales = &spread->op->getOpOperand(0);
  found.dimension = spread->dimensions.front();
  Value centred = multiply.getLhs();
  if (auto subtract = centred.getDefiningOp<SubtractOp>()) {
    std::optional<Tensor> zero = constantBehind(subtract.getRhs());
    // Others would see the integers the other way round, too.
    if (!zero || !centred.hasOneUse())
      return found;
    // They may have been converted already.
    for (int64_t i = 0; i < zero->size(); ++i) {
      const double number = zero->toDouble(i);
      if (number != std::trunc(number) || std::abs(number) > 0x1p31)
        return found;
      found.zeroPoints.push_back(static_cast<int64_t>(number));
    }
    centred = subtract.getLhs();
  }
  auto convert = centred.getDefiningOp<ConvertOp>();
  std::optional<Tensor> integers =
      convert && convert->hasOneUse() && centred.hasOneUse()
          ? constantTensor(convert.getOperand())
          : std::nullopt;
  if (integers && isInteger(integers->type()))
    found.integers = &convert->getOpOperand(0);
  return found;
}

std::optional<Tensor>
DequantizedWeight::flipped(ArrayRef<double> factors) const {
  if (!integers)
    return std::nullopt;
  const Tensor before = *constantTensor(integers->get());
  const unsigned bits = bitWidth(before.type());
  const bool isSigned = classOf(before.type()) == ElementClass::SInt;
  if (bits > 32 ||
      before.shape()[dimension] != static_cast<int64_t>(factors.size()))
    return std::nullopt;
  const int64_t least = isSigned ? -(int64_t(1) << (bits - 1)) : 0,
                most = (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
  int64_t stride = 1;
  for (size_t i = dimension + 1; i < before.shape().size(); ++i)
    stride *= before.shape()[i];
  Tensor after(before.type(), before.shape());
  for (int64_t i = 0; i < before.size(); ++i) {
    const size_t channel = i / stride % factors.size();
    int64_t number = before.toInteger(i);
    if (factors[channel] < 0) {
      const int64_t zero = zeroPoints.empty()       ? 0
                           : zeroPoints.size() == 1 ? zeroPoints.front()
                                                    : zeroPoints[channel];
      number = 2 * zero - number;
    }
    if (number < least || number > most)
      return std::nullopt;
    dispatch(after.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!isStdComplex<T>)
        after.set<T>(i, static_cast<T>(number));
    });
  }
  return after;
}

static bool isFlipped(ArrayRef<double> factors) {
  return llvm::any_of(factors, [](double each) { return each < 0; });
}

/// The scales times the factors without their signs.
static Tensor scaled(const Tensor &scales, ArrayRef<double> factors) {
  std::vector<double> numbers;
  for (auto [i, factor] : llvm::enumerate(factors))
    numbers.push_back(scales.toDouble(i) * std::abs(factor));
  return tensorOfDoubles(scales.type(), scales.shape(), numbers);
}

bool DequantizedWeight::takesUp(int64_t place, ArrayRef<double> factors) const {
  const Tensor before = *constantTensor(scales->get());
  if (place != dimension ||
      before.size() != static_cast<int64_t>(factors.size()) ||
      (!zeroPoints.empty() && zeroPoints.size() != 1 &&
       zeroPoints.size() != factors.size()))
    return false;
  const Tensor after = scaled(before, factors);
  for (int64_t i = 0; i < after.size(); ++i)
    if (const double scale = after.toDouble(i);
        !(scale > 0) || !std::isfinite(scale))
      return false;
  return !isFlipped(factors) || flipped(factors).has_value();
}

/// A new constant in the place of what \p operand reads.
static Operation *exchange(OpOperand &operand, const Tensor &tensor,
                           FoldedNames &names) {
  Value old = operand.get();
  OpBuilder builder(operand.getOwner());
  operand.set(makeConstant(builder, old.getLoc(), tensor,
                           names.fused(constantName(old))));
  return old.getDefiningOp();
}

SmallVector<Operation *> DequantizedWeight::scale(ArrayRef<double> factors,
                                                  FoldedNames &names) const {
  const Tensor before = *constantTensor(scales->get());
  SmallVector<Operation *> old;
  if (isFlipped(factors))
    old.push_back(exchange(*integers, *flipped(factors), names));
  old.push_back(exchange(*scales, scaled(before, factors), names));
  return old;
}

} // namespace sinter
