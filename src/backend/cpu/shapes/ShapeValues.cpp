//===- ShapeValues.cpp - what values are known by -------------------------===//

#include "backend/cpu/shapes/ShapeValues.h"

#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "runtime/Program.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void ShapeValues::setStatic(Value value) {
  const ArrayRef<int64_t> shape = tensorOf(value).getShape();
  dims[value] = Dims(shape.begin(), shape.end());
}

void ShapeValues::setElement(Value value, size_t i, size_t count,
                             const SizeExpression &size) {
  std::vector<Known> &entry = elements[value];
  entry.resize(count);
  entry[i] = size;
}

Known ShapeValues::numberIn(Value value) const {
  const std::vector<Known> known = elementsOf(value);
  return known.size() == 1 ? known.front() : Known();
}

/// The place in the operand of \p op, a slice, transpose or reversal, of the
/// element at \p place of the result.
static SmallVector<int64_t> placeBefore(Operation *op,
                                        ArrayRef<int64_t> place) {
  using namespace stablehlo;
  ArrayRef<int64_t> shape = tensorOf(op->getOperand(0)).getShape();
  auto from = llvm::to_vector(place);
  if (auto slice = dyn_cast<SliceOp>(op))
    for (size_t i = 0; i < place.size(); ++i)
      from[i] = slice.getStartIndices()[i] + place[i] * slice.getStrides()[i];
  else if (auto transpose = dyn_cast<TransposeOp>(op))
    for (auto [dim, at] : llvm::zip_equal(transpose.getPermutation(), place))
      from[dim] = at;
  else
    for (int64_t dim : cast<ReverseOp>(op).getDimensions())
      from[dim] = shape[dim] - 1 - place[dim];
  return from;
}

/// The elements that \p op moves there, of those of its operand, \p whole.
static std::vector<Known> movedElements(Operation *op,
                                        const std::vector<Known> &whole) {
  std::vector<Known> made;
  auto type = tensorOf(op->getResult(0)), from = tensorOf(op->getOperand(0));
  if (!from.hasStaticShape() ||
      from.getNumElements() != static_cast<int64_t>(whole.size()))
    return made;
  const auto before = computeStrides(from.getShape()),
             strides = computeStrides(type.getShape());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    made.push_back(
        whole[linearize(placeBefore(op, delinearize(i, strides)), before)]);
  return made;
}

void ShapeValues::follow(Operation *op) {
  using namespace stablehlo;
  constexpr int64_t most = 64, mostDims = 2;
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (isa_and_nonnull<FloatType>(getElementTypeOrSelf(op->getResult(0))) ||
      (isa<ConvertOp>(op) && scaled.contains(op->getOperand(0))))
    return followScaled(op);
  if (!type || type.getRank() > mostDims || !type.hasStaticShape() ||
      !isa<IntegerType>(type.getElementType()) || type.getNumElements() > most)
    return;
  std::vector<Known> made;
  auto operand = [&](unsigned i) { return elementsOf(op->getOperand(i)); };
  auto combined = [&](auto combine) {
    const std::vector<Known> a = operand(0), b = operand(1);
    for (auto [left, right] : llvm::zip(a, b))
      made.push_back(left && right ? combine(*left, *right) : Known());
  };
  if (auto known = constantIntegers(op->getResult(0))) {
    made.assign(known->begin(), known->end());
  } else if (auto shape = dyn_cast<nn::ShapeOp>(op)) {
    for (const SizeExpression &size : dimsOf(shape.getOperand()))
      made.push_back(size);
  } else if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
    made = {dimsOf(size.getOperand())[size.getDimension()]};
  } else if (isa<ConvertOp, ReshapeOp>(op)) {
    made = operand(0);
  } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    if (llvm::is_sorted(broadcast.getBroadcastDimensions()))
      made = operand(0);
    if (made.size() == 1)
      made.resize(type.getNumElements(), made.front());
  } else if (auto joined = dyn_cast<ConcatenateOp>(op)) {
    if (joined.getDimension() != 0)
      return;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      std::vector<Known> part = operand(i);
      part.resize(tensorOf(op->getOperand(i)).getNumElements());
      made.insert(made.end(), part.begin(), part.end());
    }
    if (llvm::none_of(made, [](const Known &each) { return each; }))
      return;
  } else if (isa<SliceOp, TransposeOp, ReverseOp>(op)) {
    made = movedElements(op, operand(0));
  } else if (isa<GatherOp, nn::TakeOp>(op)) {
    const std::vector<Known> whole = operand(0), places = operand(1);
    if (tensorOf(op->getOperand(0)).getRank() == 1 && !whole.empty())
      for (const Known &place : places) {
        auto at = place ? place->number() : std::nullopt;
        if (at && *at < 0 && isa<nn::TakeOp>(op))
          *at += static_cast<int64_t>(whole.size());
        const auto last = static_cast<int64_t>(whole.size()) - 1;
        made.push_back(at ? whole[std::clamp<int64_t>(*at, 0, last)] : Known());
      }
  } else if (isa<AddOp>(op)) {
    combined(SizeExpression::sumOf);
  } else if (isa<MulOp>(op)) {
    combined(SizeExpression::productOf);
  } else if (isa<SubtractOp>(op)) {
    combined([](const SizeExpression &a, const SizeExpression &b) -> Known {
      Known less = SizeExpression::productOf(b, -1);
      return less ? SizeExpression::sumOf(a, *less) : Known();
    });
  } else if (isa<MinOp, MaxOp>(op)) {
    const bool smaller = isa<MinOp>(op);
    combined([&](const SizeExpression &a, const SizeExpression &b) {
      return smaller ? facts.smallerOf(a, b) : facts.largerOf(a, b);
    });
  } else if (auto compare = dyn_cast<CompareOp>(op)) {
    combined([&](const SizeExpression &a, const SizeExpression &b) {
      return facts.compared(compare.getComparisonDirection(), a, b);
    });
  } else if (isa<SelectOp>(op)) {
    const std::vector<Known> chosen = operand(0), a = operand(1),
                             b = operand(2);
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const Known which =
          chosen.empty() ? Known() : chosen[chosen.size() == 1 ? 0 : i];
      if (a[i] && a[i] == b[i])
        made.push_back(a[i]);
      else
        made.push_back(!which || !which->number() ? Known()
                       : *which->number() != 0    ? a[i]
                                                  : b[i]);
    }
  } else if (isa<DivOp>(op)) {
    combined([&](const SizeExpression &a, const SizeExpression &b) -> Known {
      if (const Known exact = SizeExpression::quotientOf(a, b)) {
        facts.guards.requireAtMost(1, b);
        return exact;
      }
      // Of sizes, it is rounded down.
      const std::optional<int64_t> divisor = b.number();
      return divisor && *divisor > 0 && facts.guards.isNonNegative(a)
                 ? facts.table.quotientOf(a, *divisor)
                 : Known();
    });
  }
  if (static_cast<int64_t>(made.size()) == type.getNumElements())
    elements[op->getResult(0)] = std::move(made);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

using Scaled = std::optional<ScaledSize>;

/// Scales that are followed have no more bits behind the point.
static constexpr int64_t mostDivisor = 1 << 10;

static Scaled scaledNumber(double number) {
  constexpr double most = 1 << 20;
  for (int64_t divisor = 1; divisor <= mostDivisor; divisor *= 2) {
    const double whole = number * static_cast<double>(divisor);
    // NaN is not, either.
    if (!(std::abs(whole) <= most))
      return std::nullopt;
    if (whole == std::floor(whole))
      return ScaledSize{static_cast<int64_t>(whole), divisor};
  }
  return std::nullopt;
}

static Scaled productOf(const Scaled &a, const Scaled &b) {
  if (!a || !b || a->divisor * b->divisor > mostDivisor)
    return std::nullopt;
  const Known size = SizeExpression::productOf(a->size, b->size);
  return size ? Scaled(ScaledSize{*size, a->divisor * b->divisor})
              : std::nullopt;
}

std::vector<Scaled> ShapeValues::scaledOf(Value value) const {
  if (auto found = scaled.find(value); found != scaled.end())
    return found->second;
  std::vector<Scaled> list;
  for (const Known &each : elementsOf(value))
    list.push_back(each ? Scaled(ScaledSize{*each, 1}) : std::nullopt);
  return list;
}

/// \p number, rounded to a whole one as \p op does it.
Known ShapeValues::roundedSize(const ScaledSize &number, Operation *op) {
  if (number.divisor == 1)
    return number.size;
  const Known size =
      isa<stablehlo::CeilOp>(op)
          ? SizeExpression::sumOf(number.size, number.divisor - 1)
          : number.size;
  // What becomes an integer is rounded towards zero.
  return size && facts.guards.isNonNegative(*size)
             ? facts.table.quotientOf(*size, number.divisor)
             : Known();
}

void ShapeValues::followScaled(Operation *op) {
  using namespace stablehlo;
  constexpr int64_t most = 64;
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      type.getNumElements() > most)
    return;
  auto element = dyn_cast<FloatType>(type.getElementType());
  std::vector<Scaled> made;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
      for (const APFloat &value : values.getValues<APFloat>())
        made.push_back(scaledNumber(value.convertToDouble()));
  } else if (isa<ConvertOp, ReshapeOp, FloorOp, CeilOp>(op)) {
    made = scaledOf(op->getOperand(0));
    const bool rounds = isa<FloorOp, CeilOp>(op) || !element;
    for (Scaled &each : made) {
      const Known whole = each && rounds ? roundedSize(*each, op) : Known();
      if (rounds)
        each = whole ? Scaled(ScaledSize{*whole, 1}) : std::nullopt;
    }
  } else if (isa<MulOp>(op)) {
    const std::vector<Scaled> a = scaledOf(op->getOperand(0)),
                              b = scaledOf(op->getOperand(1));
    for (auto [left, right] : llvm::zip(a, b))
      made.push_back(productOf(left, right));
  }
  if (static_cast<int64_t>(made.size()) != type.getNumElements())
    return;
  if (element) {
    // For sizes that these floats do not hold there is another program; f64
    // holds those of all tensors.
    const unsigned bitsOfSizes = llvm::Log2_64(mostTensorBytes);
    const unsigned bits = element.getFPMantissaWidth();
    for (const Scaled &each : made)
      if (const Known left = each && !each->size.number() && bits < bitsOfSizes
                                 ? differenceOf(int64_t(1) << bits, each->size)
                                 : Known())
        facts.guards.requireNonNegative(*left);
    scaled[op->getResult(0)] = std::move(made);
    return;
  }
  std::vector<Known> sizes;
  for (const Scaled &each : made)
    sizes.push_back(each ? Known(each->size) : std::nullopt);
  if (isa<IntegerType>(type.getElementType()))
    elements[op->getResult(0)] = std::move(sizes);
}
