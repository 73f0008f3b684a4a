#include "formats/import/KnownValues.h"

#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace sinter::formats {

/// Maximum number of elements of a tensor that is followed as a shape.
static constexpr int64_t mostKnown = 1024;
/// Maximum number of elements of a tensor that is computed during import.
static constexpr int64_t mostComputed = 1 << 16;

int64_t KnownValues::symbolNamed(StringRef name) {
  auto [entry, isNew] = names.try_emplace(name.str(), nextSymbol);
  if (isNew)
    ++nextSymbol;
  return entry->second;
}

StringRef KnownValues::nameOf(int64_t symbol) const {
  for (const auto &[name, number] : names)
    if (number == symbol)
      return name;
  return "";
}

void KnownValues::forget(Operation *op) {
  for (Value result : op->getResults())
    forget(result);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value argument : block.getArguments())
        forget(argument);
}

void KnownValues::forget(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t i = 0; i < type.getRank(); ++i)
      symbols.erase({value, i});
  known.erase(value);
  evaluated.erase(value);
}

Element KnownValues::sizeOf(Value value, int64_t dimension) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dimension))
    return Element::integer(type.getDimSize(dimension));
  auto [place, isNew] = symbols.try_emplace({value, dimension});
  if (isNew)
    place->second = newSymbol();
  return Element::symbol(place->second);
}

void KnownValues::setSymbol(Value value, int64_t dimension, int64_t symbol) {
  symbols[{value, dimension}] = symbol;
}

bool KnownValues::sameSize(Value lhs, int64_t lhsDimension, Value rhs,
                           int64_t rhsDimension) {
  return sizeOf(lhs, lhsDimension) == sizeOf(rhs, rhsDimension);
}

void KnownValues::copySymbol(Value from, int64_t fromDimension, Value to,
                             int64_t toDimension) {
  if (!cast<RankedTensorType>(to.getType()).isDynamicDim(toDimension))
    return;
  Element size = sizeOf(from, fromDimension);
  if (size.kind == Element::Symbol)
    setSymbol(to, toDimension, size.value);
}

//===----------------------------------------------------------------------===//
// Elements of shapes
//===----------------------------------------------------------------------===//

static std::optional<int64_t> smallStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrIndex())
    return std::nullopt;
  auto count = elementCount(type.getShape());
  if (!count || *count > mostKnown)
    return std::nullopt;
  return count;
}

/// Visits the values that \p value is computed from and then \p value, each
/// after its operands; skips those for which \p isDone is true. Not recursive,
/// since chains may be long.
static void operandsFirst(Value value, llvm::function_ref<bool(Value)> isDone,
                          llvm::function_ref<void(Value)> visit) {
  SmallVector<std::pair<Value, bool>> open = {{value, false}};
  while (!open.empty()) {
    auto [next, isReady] = open.pop_back_val();
    if (isReady) {
      visit(next);
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!op || isDone(next))
      continue;
    open.push_back({next, true});
    for (Value operand : op->getOperands())
      open.push_back({operand, false});
  }
}

std::optional<Elements> KnownValues::follow(Value value) {
  operandsFirst(
      value,
      [&](Value each) { return !smallStatic(each) || known.contains(each); },
      [&](Value each) { elementsOf(each); });
  return elementsOf(value);
}

std::optional<Elements> KnownValues::elements(Value value) {
  auto list = follow(value);
  bool partial = !list || llvm::any_of(*list, [](Element element) {
    return element.kind == Element::Unknown;
  });
  if (!partial || !smallStatic(value))
    return list;
  auto computed = tensor(value);
  if (!computed)
    return list;
  Elements result;
  for (int64_t i = 0; i < computed->size(); ++i)
    result.push_back(Element::integer(computed->toInteger(i)));
  return result;
}

std::optional<Elements> KnownValues::elementsOf(Value value) {
  if (!smallStatic(value))
    return std::nullopt;
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  auto result = compute(value);
  known[value] = result;
  return result;
}

std::optional<SmallVector<int64_t>> KnownValues::integers(Value value) {
  if (isa<FloatType>(getElementTypeOrSelf(value))) {
    // A count may be an integral floating-point value.
    auto number = tensor(value);
    if (!number || number->size() != 1 ||
        number->toDouble(0) != std::trunc(number->toDouble(0)) ||
        std::abs(number->toDouble(0)) > 9e15)
      return std::nullopt;
    return SmallVector<int64_t>{static_cast<int64_t>(number->toDouble(0))};
  }
  auto list = elements(value);
  if (!list || !llvm::all_of(*list, [](Element e) { return e.isInteger(); }))
    return std::nullopt;
  SmallVector<int64_t> result;
  for (Element element : *list)
    result.push_back(element.value);
  return result;
}

/// x op y if both are integers or one is the neutral element.
static Element combine(Operation *op, Element x, Element y) {
  bool integers = x.isInteger() && y.isInteger();
  int64_t result;
  if (isa<stablehlo::AddOp>(op)) {
    if (y == Element::integer(0))
      return x;
    if (x == Element::integer(0))
      return y;
    if (integers && !llvm::AddOverflow(x.value, y.value, result))
      return Element::integer(result);
  } else if (isa<stablehlo::SubtractOp>(op)) {
    if (y == Element::integer(0))
      return x;
    if (integers && !llvm::SubOverflow(x.value, y.value, result))
      return Element::integer(result);
  } else if (isa<stablehlo::MulOp>(op)) {
    if (y == Element::integer(1))
      return x;
    if (x == Element::integer(1))
      return y;
    if (integers && !llvm::MulOverflow(x.value, y.value, result))
      return Element::integer(result);
  } else if (isa<stablehlo::DivOp>(op)) {
    if (y == Element::integer(1))
      return x;
    if (integers && y.value > 0)
      return Element::integer(x.value / y.value);
  } else if (isa<stablehlo::RemOp>(op)) {
    if (integers && y.value > 0)
      return Element::integer(x.value % y.value);
  } else if (isa<stablehlo::MaxOp>(op)) {
    if (integers)
      return Element::integer(std::max(x.value, y.value));
    // A dimension's size is not negative.
    if (x.kind == Element::Symbol && y.isInteger() && y.value <= 0)
      return x;
    if (y.kind == Element::Symbol && x.isInteger() && x.value <= 0)
      return y;
  } else if (isa<stablehlo::MinOp>(op)) {
    if (integers)
      return Element::integer(std::min(x.value, y.value));
  } else if (isa<stablehlo::AndOp>(op)) {
    if (integers)
      return Element::integer(x.value & y.value);
  } else if (isa<stablehlo::OrOp>(op)) {
    if (integers)
      return Element::integer(x.value | y.value);
  }
  return {};
}

/// Whether a comparison holds; a dimension's size is not negative.
static Element compare(stablehlo::ComparisonDirection direction, Element x,
                       Element y) {
  using Direction = stablehlo::ComparisonDirection;
  if (x.isInteger() && y.isInteger()) {
    switch (direction) {
    case Direction::EQ:
      return Element::integer(x.value == y.value);
    case Direction::NE:
      return Element::integer(x.value != y.value);
    case Direction::GE:
      return Element::integer(x.value >= y.value);
    case Direction::GT:
      return Element::integer(x.value > y.value);
    case Direction::LE:
      return Element::integer(x.value <= y.value);
    case Direction::LT:
      return Element::integer(x.value < y.value);
    }
  }
  bool equality = direction == Direction::EQ || direction == Direction::NE;
  if (equality && x.kind == Element::Symbol && x == y)
    return Element::integer(direction == Direction::EQ);
  auto negative = [](Element e) { return e.isInteger() && e.value < 0; };
  if (equality && ((x.kind == Element::Symbol && negative(y)) ||
                   (y.kind == Element::Symbol && negative(x))))
    return Element::integer(direction == Direction::NE);
  return {};
}

/// The known elements of an op's operands.
using KnownOperands = ArrayRef<std::optional<Elements>>;

static std::optional<Elements> convert(stablehlo::ConvertOp op,
                                       KnownOperands known) {
  std::optional<Elements> list = known[0];
  auto to = cast<RankedTensorType>(op.getType());
  if (!list || !getElementTypeOrSelf(op.getOperand()).isIntOrIndex())
    return std::nullopt;
  for (Element &element : *list)
    if (to.getElementType().isInteger(1) && element.isInteger())
      element.value = element.value != 0;
    else if (element.isInteger() && to.getElementTypeBitWidth() < 64 &&
             !llvm::isIntN(to.getElementTypeBitWidth(), element.value))
      element = {};
  return list;
}

static std::optional<Elements> concatenate(stablehlo::ConcatenateOp op,
                                           KnownOperands known) {
  if (cast<RankedTensorType>(op.getType()).getRank() != 1)
    return std::nullopt;
  Elements result;
  for (auto [operand, list] : llvm::zip_equal(op.getInputs(), known)) {
    if (list) {
      result.append(*list);
      continue;
    }
    auto size = smallStatic(operand);
    if (!size)
      return std::nullopt;
    result.append(*size, Element());
  }
  return result;
}

static std::optional<Elements> slice(stablehlo::SliceOp op,
                                     KnownOperands known) {
  if (!known[0] || op.getStartIndices().size() != 1)
    return std::nullopt;
  Elements result;
  for (int64_t i = op.getStartIndices()[0]; i < op.getLimitIndices()[0];
       i += op.getStrides()[0])
    result.push_back((*known[0])[i]);
  return result;
}

static std::optional<Elements> reverse(stablehlo::ReverseOp op,
                                       KnownOperands known) {
  std::optional<Elements> list = known[0];
  if (!list || cast<RankedTensorType>(op.getType()).getRank() != 1)
    return std::nullopt;
  if (!op.getDimensions().empty())
    std::reverse(list->begin(), list->end());
  return list;
}

static std::optional<Elements> take(nn::TakeOp op, KnownOperands known) {
  if (!known[0] || !known[1] || op.getOperand().getType().getRank() != 1)
    return std::nullopt;
  Elements result;
  const int64_t size = known[0]->size();
  for (Element index : *known[1]) {
    int64_t at = index.value < 0 ? index.value + size : index.value;
    bool inside = index.isInteger() && at >= 0 && at < size;
    result.push_back(inside ? (*known[0])[at] : Element());
  }
  return result;
}

static std::optional<Elements> broadcast(Operation *op, KnownOperands known) {
  const int64_t count = *smallStatic(op->getResult(0));
  if (!known[0] || static_cast<int64_t>(known[0]->size()) == count)
    return known[0];
  if (known[0]->size() != 1)
    return std::nullopt;
  return Elements(count, known[0]->front());
}

static std::optional<Elements> compare(stablehlo::CompareOp op,
                                       KnownOperands known) {
  if (!known[0] || !known[1])
    return std::nullopt;
  Elements result;
  for (auto [x, y] : llvm::zip_equal(*known[0], *known[1]))
    result.push_back(compare(op.getComparisonDirection(), x, y));
  return result;
}

static std::optional<Elements> select(KnownOperands known) {
  if (!known[0] || !known[1] || !known[2])
    return std::nullopt;
  Elements result;
  for (auto [i, x, y] : llvm::enumerate(*known[1], *known[2])) {
    Element which = (*known[0])[known[0]->size() == 1 ? 0 : i];
    result.push_back(which.isInteger() ? (which.value ? x : y)
                     : x == y          ? x
                                       : Element());
  }
  return result;
}

static std::optional<Elements> elementwise(Operation *op, KnownOperands known) {
  if (known.size() != 2 || !known[0] || !known[1] ||
      !op->hasTrait<OpTrait::SameOperandsAndResultShape>())
    return std::nullopt;
  Elements result;
  for (auto [x, y] : llvm::zip_equal(*known[0], *known[1]))
    result.push_back(combine(op, x, y));
  return result;
}

std::optional<Elements> KnownValues::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto tensor = constantTensor(value)) {
    Elements result;
    for (int64_t i = 0; i < tensor->size(); ++i)
      result.push_back(Element::integer(tensor->toInteger(i)));
    return result;
  }
  if (auto shape = dyn_cast<nn::ShapeOp>(op)) {
    Elements result;
    for (int64_t i = 0; i < *smallStatic(value); ++i)
      result.push_back(sizeOf(shape.getOperand(), i));
    return result;
  }
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op))
    return Elements{sizeOf(size.getOperand(), size.getDimension())};
  SmallVector<std::optional<Elements>, 3> known;
  for (Value operand : op->getOperands())
    known.push_back(elementsOf(operand));
  return llvm::TypeSwitch<Operation *, std::optional<Elements>>(op)
      .Case<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(
          [&](auto) { return known[0]; })
      .Case<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp,
            nn::BroadcastLikeOp>([&](auto) { return broadcast(op, known); })
      .Case([&](stablehlo::ConvertOp each) { return convert(each, known); })
      .Case([&](stablehlo::ConcatenateOp each) {
        return concatenate(each, known);
      })
      .Case([&](stablehlo::SliceOp each) { return slice(each, known); })
      .Case([&](stablehlo::ReverseOp each) { return reverse(each, known); })
      .Case([&](nn::TakeOp each) { return take(each, known); })
      .Case([&](stablehlo::CompareOp each) { return compare(each, known); })
      .Case([&](stablehlo::SelectOp) { return select(known); })
      .Default([&](Operation *) { return elementwise(op, known); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether the interpreter may compute \p value during import.
static bool mayBeComputed(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !type || !type.hasStaticShape() || !isMemoryEffectFree(op))
    return false;
  auto count = elementCount(type.getShape());
  return count && *count <= mostComputed;
}

std::optional<Tensor> KnownValues::tensor(Value value) {
  operandsFirst(
      value,
      [&](Value each) {
        return !mayBeComputed(each) || evaluated.contains(each);
      },
      [&](Value each) {
        follow(each);
        evaluate(each);
      });
  return evaluate(value);
}

/// The elements as a tensor of the value's type; nothing if one is unknown.
static std::optional<Tensor> tensorOfElements(Value value,
                                              const Elements &list) {
  auto type = cast<RankedTensorType>(value.getType());
  auto element = sinter::elementTypeOf(type.getElementType());
  if (!element || !llvm::all_of(list, [](Element e) { return e.isInteger(); }))
    return std::nullopt;
  Tensor result(*element,
                Shape(type.getShape().begin(), type.getShape().end()));
  for (auto [i, e] : llvm::enumerate(list))
    std::memcpy(result.mutableBytes() + i * byteSize(*element), &e.value,
                byteSize(*element));
  return result;
}

std::optional<Tensor> KnownValues::evaluate(Value value) {
  if (auto constant = constantTensor(value))
    return constant;
  auto found = evaluated.find(value);
  if (found != evaluated.end())
    return found->second;
  std::optional<Tensor> result;
  if (auto list = elementsOf(value))
    result = tensorOfElements(value, *list);
  if (!result)
    result = interpretOp(value);
  evaluated[value] = result;
  return result;
}

/// Interprets the op that defines \p value, whose operands are constants.
std::optional<Tensor> KnownValues::interpretOp(Value value) {
  if (!mayBeComputed(value))
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  std::vector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    auto known = evaluate(operand);
    if (!known || known->size() > mostComputed)
      return std::nullopt;
    operands.push_back(*known);
  }
  auto results = sinter::evaluate(op, operands);
  if (!results)
    return std::nullopt;
  return (*results)[cast<OpResult>(value).getResultNumber()];
}

} // namespace sinter::formats
