#include "passes/RescaleTree.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/FirstError.h"
#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/QuantizedProducts.h"
#include "graph/RealRange.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Groups.h"
#include "passes/QuantizedForms.h"

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Rescales
//===----------------------------------------------------------------------===//

std::optional<Rescale> Rescale::of(Operation *op) {
  if (!isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op))
    return std::nullopt;
  quant::QuantizedType from = quantizedOf(op->getOperand(0).getType()),
                       to = quantizedOf(op->getResult(0).getType());
  const QuantizedRounding rounding = isa<nn::QuantizeOp>(op)
                                         ? QuantizedRounding::BeforeZeroPoint
                                         : QuantizedRounding::AfterZeroPoint;
  auto function =
      from && to ? RescaleFunction::between(from, to, rounding) : std::nullopt;
  if (!function)
    return std::nullopt;
  return Rescale{op, op->getOperand(0), from, to, rounding, *function};
}

static constexpr unsigned widthOfSums = 32;

bool givesSums(Operation *op) {
  quant::QuantizedType type = op->getNumResults() == 1
                                  ? quantizedOf(op->getResult(0).getType())
                                  : quant::QuantizedType();
  return type && type.getStorageTypeIntegralWidth() == widthOfSums &&
         hasScalesOfSums(op);
}

bool Rescale::isOfSums() const {
  return from.getStorageTypeIntegralWidth() >= widthOfSums ||
         to.getStorageTypeIntegralWidth() >= widthOfSums;
}

Value makeRescale(OpBuilder &builder, const Rescale &like, Value operand,
                  quant::QuantizedType to) {
  if (quantizedOf(operand.getType()) == to)
    return operand;
  IRMapping mapping;
  mapping.map(like.operand, operand);
  Operation *copy = cloneApart(builder, like.op, mapping);
  copy->getResult(0).setType(tensorOf(operand).clone(to));
  return copy->getResult(0);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Dynamic dimensions count as eight.
static double elementsOf(Value value) {
  constexpr double unknown = 8;
  double elements = 1;
  for (int64_t size : tensorOf(value).getShape())
    elements *=
        ShapedType::isDynamic(size) ? unknown : static_cast<double>(size);
  return elements;
}

RescaleCost RescaleCost::ofValue(Value value, quant::QuantizedType type) {
  return {elementsOf(value) * type.getStorageTypeIntegralWidth(), 0, 0};
}

RescaleCost RescaleCost::ofRescale(Value value, quant::QuantizedType from,
                                   quant::QuantizedType to) {
  return ofValue(value, from) + ofValue(value, to) + ofValue(value, to) +
         RescaleCost{0, 1, 0};
}

RescaleCost RescaleCost::ofReaders(Value value) {
  return {
      0, 0,
      static_cast<int64_t>(std::distance(value.use_begin(), value.use_end()))};
}

//===----------------------------------------------------------------------===//
// Ways through
//===----------------------------------------------------------------------===//

static quant::QuantizedType along(quant::QuantizedType type, int64_t axis) {
  return cast<quant::QuantizedType>(alongAxis(type, axis));
}

std::optional<RescaleWay> wayThrough(Operation *op) {
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  if (!rescaled || op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      !quantizedOf(op->getResult(0).getType()))
    return std::nullopt;
  for (RescaleWay &way : rescaled.getRescaleWays()) {
    const bool isWhole = llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
      const bool isQuantized = bool(quantizedOf(use.get().getType()));
      return llvm::is_contained(way.operands, use.getOperandNumber())
                 ? isQuantized
                 : !isQuantized || usesShapeOnly(use);
    });
    if (isWhole && !way.operands.empty() &&
        way.ranges != RescaleRanges::CutsNothing)
      return way;
  }
  return std::nullopt;
}

/// Whether \p op on storage elements of \p type computes the same as on real
/// values.
static bool keepsElements(Operation *op, quant::QuantizedType type) {
  return op->hasTrait<traits::MovesElements>() || survives(type);
}

/// The dimension of the result of \p op that is dimension \p axis of operand
/// \p index; -1 for -1.
static std::optional<int64_t> axisBehind(Operation *op, unsigned index,
                                         int64_t axis) {
  if (axis < 0)
    return -1;
  if (auto axes = axesOf(op))
    return axes->resultOf(index, axis);
  if (auto repeated = Broadcast::of(op->getResult(0)); repeated && index == 0)
    return repeated->dimensions[axis];
  return std::nullopt;
}

/// The operand's dimension that is dimension \p axis of the result.
static std::optional<int64_t> axisBefore(Operation *op, unsigned index,
                                         int64_t axis) {
  if (axis < 0)
    return -1;
  for (int64_t i = 0, rank = tensorOf(op->getOperand(index)).getRank();
       i < rank; ++i)
    if (axisBehind(op, index, i) == axis &&
        tensorOf(op->getOperand(index)).getDimSize(i) ==
            tensorOf(op->getResult(0)).getDimSize(axis))
      return i;
  return std::nullopt;
}

/// Changes elements of \p from in the regions of \p op to those of \p type.
static void retypeRegions(Operation *op, quant::QuantizedType from,
                          quant::QuantizedType type) {
  auto retype = [&](Value value) {
    if (quantizedOf(value.getType()) == from)
      value.setType(tensorOf(value).clone(type));
  };
  for (Region &region : op->getRegions())
    region.walk([&](Block *block) {
      llvm::for_each(block->getArguments(), retype);
      for (Operation &each : *block)
        llvm::for_each(each.getResults(), retype);
    });
}

/// \p op, which was just created, if it verifies; else erases it and returns
/// null.
static Operation *verifiedOrNull(Operation *op) {
  FirstError silent(op->getContext());
  if (succeeded(verify(op)))
    return op;
  op->erase();
  return nullptr;
}

Operation *retyped(OpBuilder &builder, Operation *op, const IRMapping &operands,
                   quant::QuantizedType type, quant::QuantizedType from) {
  Operation *copy = cloneApart(builder, op, operands);
  copy->getResult(0).setType(tensorOf(copy->getResult(0)).clone(type));
  if (from)
    retypeRegions(copy, from, type);
  return verifiedOrNull(copy);
}

Operation *withOperands(OpBuilder &builder, Operation *op,
                        const IRMapping &operands) {
  return verifiedOrNull(cloneApart(builder, op, operands));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static constexpr int64_t largestConstantOfTree = int64_t(1) << 16;

static Value constantOf(OpBuilder &builder, Value like,
                        quant::QuantizedType type, ArrayRef<double> elements) {
  Tensor tensor = tensorOfDoubles(*elementTypeOf(storageOf(type)),
                                  Shape(tensorOf(like).getShape()), elements);
  std::string name = constantName(like).str();
  if (!name.empty())
    name += "_rescaled";
  auto constant = builder.create<stablehlo::ConstantOp>(
      like.getLoc(), tensorOf(like).clone(type),
      toAttribute(tensor, name, builder.getContext()));
  if (!name.empty())
    constant->setAttr(nameAttribute, builder.getStringAttr(name));
  return constant;
}

/// The index of \p function's function for element \p index of \p value, if it
/// has one for each index of a dimension.
static size_t functionAt(const RescaleFunction &function, Value value,
                         int64_t index) {
  const int64_t axis = function.axis();
  if (function.count() == 1)
    return 0;
  int64_t inner = 1;
  for (int64_t size : tensorOf(value).getShape().drop_front(axis + 1))
    inner *= size;
  return index / inner % tensorOf(value).getDimSize(axis);
}

Value foldRescale(OpBuilder &builder, const RescaleFunction &function,
                  Value constant, quant::QuantizedType type) {
  const Tensor tensor = *constantTensor(constant);
  SmallVector<double> elements;
  elements.reserve(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    elements.push_back(static_cast<double>(
        function.at(functionAt(function, constant, i), tensor.toInteger(i))));
  return constantOf(builder, constant, type, elements);
}

//===----------------------------------------------------------------------===//
// Trees of rescales
//===----------------------------------------------------------------------===//

static constexpr unsigned deepest = 32;

namespace {
struct RescaledLeaf {
  Rescale rescale;
  int64_t axis;
};
} // namespace

static std::optional<RescaledLeaf> leafOf(Value value, unsigned depth,
                                          unsigned &left) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || left == 0)
    return std::nullopt;
  --left;
  if (auto rescale = Rescale::of(op)) {
    const int64_t axis = rescale->function.axis();
    return rescale->isOfSums() ? std::nullopt
                               : std::optional<RescaledLeaf>({*rescale, axis});
  }
  std::optional<RescaleWay> way = wayThrough(op);
  if (!way)
    return std::nullopt;
  for (unsigned index : way->operands)
    if (auto leaf = leafOf(op->getOperand(index), depth - 1, left)) {
      auto axis = axisBehind(op, index, leaf->axis);
      if (!axis)
        return std::nullopt;
      leaf->axis = *axis;
      return leaf;
    }
  return std::nullopt;
}

/// The tree above \p value that \p add extends up to rescales of one kind.
std::optional<RescaledTree> RescaledTree::grown(
    Value value,
    llvm::function_ref<bool(RescaledTree &tree, int64_t axis)> add) {
  unsigned left = 64;
  auto leaf = leafOf(value, deepest, left);
  if (!leaf)
    return std::nullopt;
  RescaledTree tree(leaf->rescale);
  tree.root = value;
  tree.before = along(leaf->rescale.from, leaf->axis);
  tree.after = along(leaf->rescale.to, leaf->axis);
  if (!add(tree, leaf->axis))
    return std::nullopt;
  return tree;
}

std::optional<RescaledTree> RescaledTree::of(Value value) {
  return grown(value, [&](RescaledTree &tree, int64_t axis) {
    return tree.add(value, axis, deepest);
  });
}

std::optional<RescaledTree> RescaledTree::above(Operation *op) {
  if (!wayThrough(op))
    return std::nullopt;
  return grown(op->getResult(0), [&](RescaledTree &tree, int64_t axis) {
    return tree.addOperation(op, axis, deepest);
  });
}

bool RescaledTree::add(Value value, int64_t axis, unsigned depth) {
  if (depth == 0 || left == 0 ||
      quantizedOf(value.getType()) != along(leaf.to, axis))
    return false;
  --left;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto rescale = Rescale::of(op)) {
    if (rescale->from != along(leaf.from, axis) ||
        rescale->rounding != leaf.rounding)
      return false;
    sum.readers -= 1;
    const RealRange numbers = rangeBeforeRounding(value);
    range = {std::min(range.least, numbers.least),
             std::max(range.greatest, numbers.greatest)};
    if (hasOneElementUse(value))
      sum = sum + -RescaleCost::ofRescale(value, rescale->from, rescale->to);
    return true;
  }
  if (retyped.contains(value))
    return true;
  return hasOneElementUse(value) && addOperation(op, axis, depth);
}

bool RescaledTree::addConstant(Value value, bool isFloor, bool isCeiling) {
  const std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor || tensor->size() > largestConstantOfTree ||
      leaf.function.count() != 1 || quantizedOf(value.getType()) != leaf.to)
    return false;
  const IntegerBounds bounds = leaf.function.boundsBefore();
  SmallVector<int64_t> elements;
  for (int64_t i = 0; i < tensor->size(); ++i) {
    const int64_t element = tensor->toInteger(i);
    std::optional<int64_t> before = leaf.function.before(0, element);
    // No element of the type before becomes one below this.
    if (!before && isFloor && element < leaf.function.at(0, bounds.least))
      before = bounds.least;
    if (!before && isCeiling && element > leaf.function.at(0, bounds.greatest))
      before = bounds.greatest;
    if (!before)
      return false;
    elements.push_back(*before);
    const double number = leaf.function.numberBefore(0, *before);
    range = {std::min(range.least, number), std::max(range.greatest, number)};
  }
  constants[value] = std::move(elements);
  return true;
}

bool RescaledTree::addOperation(Operation *op, int64_t axis, unsigned depth) {
  std::optional<RescaleWay> way = wayThrough(op);
  Value result = op->getResult(0);
  const quant::QuantizedType from = along(leaf.from, axis),
                             to = along(leaf.to, axis);
  if (!way || quantizedOf(result.getType()) != to || !keepsElements(op, from) ||
      !keepsElements(op, to) || (axis >= 0 && op->getNumRegions() != 0))
    return false;
  retyped[result] = from;
  sum = sum + RescaleCost::ofValue(result, from) +
        -RescaleCost::ofValue(result, to);
  for (unsigned index : way->operands) {
    Value operand = op->getOperand(index);
    if (operand.getDefiningOp<stablehlo::ConstantOp>()) {
      if (!addConstant(operand, llvm::is_contained(way->floors, index),
                       llvm::is_contained(way->ceilings, index)))
        return false;
      continue;
    }
    std::optional<int64_t> operandAxis = axisBefore(op, index, axis);
    if (!operandAxis || !add(operand, *operandAxis, depth - 1))
      return false;
  }
  return true;
}

Value RescaledTree::build(OpBuilder &builder) const {
  DenseMap<Value, Value> built;
  return build(builder, root, built);
}

Value RescaledTree::build(OpBuilder &builder, Value value,
                          DenseMap<Value, Value> &built) const {
  if (Value known = built.lookup(value))
    return known;
  if (auto constant = constants.find(value); constant != constants.end()) {
    SmallVector<double> elements(constant->second.begin(),
                                 constant->second.end());
    return built[value] = constantOf(builder, value, leaf.from, elements);
  }
  auto type = retyped.find(value);
  if (type == retyped.end())
    return Rescale::of(value)->operand;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  const RescaleWay way = *wayThrough(op);
  for (unsigned index : way.operands) {
    Value operand = build(builder, op->getOperand(index), built);
    if (!operand)
      return {};
    mapping.map(op->getOperand(index), operand);
  }
  Operation *copy =
      sinter::retyped(builder, op, mapping, type->second, leaf.to);
  return built[value] = copy ? copy->getResult(0) : Value();
}

//===----------------------------------------------------------------------===//
// Trees wanted in another element type
//===----------------------------------------------------------------------===//

bool WantedTree::find() {
  const int64_t axis = rescale.function.axis();
  const RescaleCost cost = plan(rescale.operand, axis, deepest, true);
  const RescaleCost own =
      RescaleCost::ofRescale(rescale.operand, rescale.from, rescale.to) +
      RescaleCost::ofReaders(rescale.op->getResult(0));
  return plans.lookup(rescale.operand).kind != Kind::Rescaled &&
         (cost + -own).isLess();
}

/// Whether \p op rounds to its result's type, and may round to another.
bool WantedTree::mayEndIn(Operation *op, int64_t axis) const {
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  return isNear && rescaled && rescaled.absorbsRescaleOfResult() &&
         isMemoryEffectFree(op) && !Rescale::of(op) && !givesSums(op) &&
         llvm::all_of(op->getResults().drop_front(),
                      [](Value each) { return each.use_empty(); });
}

/// Sets \p best, if that costs less than before, to the plan that the operation
/// which rounds \p numbers to the type of \p value rounds them to \p best's
/// type, for \p cost. Values that only the latter represents are clipped behind
/// it.
void WantedTree::considerEnding(Plan &best, Value value, Kind kind,
                                RescaleCost cost, RealRange numbers) const {
  std::optional<IntegerBounds> held;
  if (!rescale.function.isAlmostRounding(numbers)) {
    held = cuts && rescale.function.isFineEnough() &&
                   isa<quant::UniformQuantizedType>(best.type)
               ? rescale.function.image()
               : std::nullopt;
    if (!held)
      return;
    cost = cost + RescaleCost::ofValue(value, best.type);
  }
  if (cost < best.cost)
    best = {kind, cost, best.type, held};
}

std::optional<RescaleCost> WantedTree::through(Operation *op, int64_t axis,
                                               unsigned depth) {
  std::optional<RescaleWay> way = wayThrough(op);
  const quant::QuantizedType from = along(rescale.from, axis),
                             to = along(rescale.to, axis);
  Value result = op->getResult(0);
  if (!way || !keepsElements(op, from) || !keepsElements(op, to) ||
      (axis >= 0 && op->getNumRegions() != 0))
    return std::nullopt;
  RescaleCost cost =
      RescaleCost::ofValue(result, to) + -RescaleCost::ofValue(result, from);
  for (unsigned index : way->operands) {
    Value operand = op->getOperand(index);
    std::optional<int64_t> operandAxis = axisBefore(op, index, axis);
    if (!operandAxis ||
        quantizedOf(operand.getType()) != along(rescale.from, *operandAxis))
      return std::nullopt;
    if (!plans.contains(operand))
      cost = cost + plan(operand, *operandAxis, depth - 1, false);
  }
  return cost;
}

RescaleCost WantedTree::plan(Value value, int64_t axis, unsigned depth,
                             bool isRoot) {
  const quant::QuantizedType to = along(rescale.to, axis);
  Plan best{Kind::Rescaled,
            RescaleCost::ofRescale(value, along(rescale.from, axis), to) +
                RescaleCost{0, 0, 1},
            to, std::nullopt};
  auto consider = [&](Kind kind, RescaleCost cost) {
    if (cost < best.cost)
      best = {kind, cost, to, std::nullopt};
  };
  Operation *op = value.getDefiningOp();
  if (op && depth != 0 && left != 0) {
    --left;
    auto inner = Rescale::of(op);
    if (isa<stablehlo::ConstantOp>(op)) {
      if (auto tensor = constantTensor(value);
          tensor && tensor->size() <= largestConstantOfTree)
        consider(Kind::Constant, {});
    } else if (inner) {
      if (auto both =
              RescaleFunction::between(inner->from, to, inner->rounding)) {
        RescaleCost cost{0, 0, -1};
        if (inner->from != to)
          cost = cost + RescaleCost::ofRescale(value, inner->from, to) +
                 RescaleCost{0, 0, 1};
        if (hasOneElementUse(value))
          cost = cost + -RescaleCost::ofRescale(value, inner->from, inner->to);
        if (inner->function.composes(rescale.function, *both))
          consider(Kind::Merged, cost);
        else if (isNear)
          considerEnding(best, value, Kind::Merged, cost,
                         realRangeOf(inner->from));
      }
    } else if (hasOneElementUse(value)) {
      // Plans of a way that is not taken do not count.
      auto kept = plans;
      std::optional<RescaleCost> cost = through(op, axis, depth);
      if (cost)
        consider(Kind::Through, *cost);
      if (best.kind != Kind::Through)
        plans = std::move(kept);
      if (value == op->getResult(0) && mayEndIn(op, axis)) {
        const RescaleCost ends =
            RescaleCost::ofValue(value, to) +
            -RescaleCost::ofValue(value, along(rescale.from, axis));
        considerEnding(best, value, Kind::Result, ends,
                       rangeBeforeRounding(value));
      }
    }
  }
  plans[value] = best;
  return best.cost;
}

Value WantedTree::build(OpBuilder &builder) const {
  DenseMap<Value, Value> built;
  return build(builder, rescale.operand, built);
}

Value WantedTree::build(OpBuilder &builder, Value value,
                        DenseMap<Value, Value> &built) const {
  if (!built.contains(value))
    built[value] = buildOnce(builder, value, built);
  return built.lookup(value);
}

/// \p value clamped to \p held, elements of its type.
Value WantedTree::cutTo(OpBuilder &builder, Value value,
                        IntegerBounds held) const {
  quant::QuantizedType type = quantizedOf(value.getType());
  const auto bound = [&](int64_t element) -> Value {
    return builder.create<stablehlo::ConstantOp>(
        value.getLoc(), RankedTensorType::get({}, type),
        toAttribute(tensorOfDoubles(*elementTypeOf(storageOf(type)), {},
                                    {static_cast<double>(element)}),
                    "", builder.getContext()));
  };
  Value least = bound(held.least), greatest = bound(held.greatest);
  return builder.create<stablehlo::ClampOp>(value.getLoc(), value.getType(),
                                            least, value, greatest);
}

Value WantedTree::buildOnce(OpBuilder &builder, Value value,
                            DenseMap<Value, Value> &built) const {
  const Plan plan = plans.lookup(value);
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  Operation *made = nullptr;
  switch (plan.kind) {
  case Kind::Rescaled:
    return makeRescale(builder, rescale, value, plan.type);
  case Kind::Merged: {
    const Rescale inner = *Rescale::of(op);
    Value merged = makeRescale(builder, inner, inner.operand, plan.type);
    return plan.held ? cutTo(builder, merged, *plan.held) : merged;
  }
  case Kind::Constant:
    return foldRescale(builder,
                       *RescaleFunction::between(quantizedOf(value.getType()),
                                                 plan.type, rescale.rounding),
                       value, plan.type);
  case Kind::Result:
    made = retyped(builder, op, mapping, plan.type);
    if (made && plan.held)
      return cutTo(builder, made->getResult(0), *plan.held);
    break;
  case Kind::Through: {
    const RescaleWay way = *wayThrough(op);
    for (unsigned index : way.operands) {
      Value operand = op->getOperand(index);
      Value wanted = build(builder, operand, built);
      if (!wanted)
        return {};
      mapping.map(operand, wanted);
    }
    made = retyped(builder, op, mapping, plan.type,
                   quantizedOf(op->getResult(0).getType()));
    break;
  }
  }
  return made ? made->getResult(0) : Value();
}

} // namespace sinter
