//===- OperationGuards.cpp - what operations require of their sizes -------===//

#include "backend/cpu/shapes/OperationGuards.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A dimension of an operand or a result.
struct AxisPlace {
  bool isResult = false;
  unsigned tensor = 0;
  size_t dimension = 0;

  std::string text() const {
    return "dimension " + std::to_string(dimension) +
           (isResult ? " of result " : " of operand ") + std::to_string(tensor);
  }
};

struct AxisSize {
  Known size;
  std::optional<AxisPlace> place;

  std::string text() const { return place ? place->text() : std::string(); }
};

} // namespace

Result<void> OperationGuards::require(Operation *op) {
  if (Result<void> required = requireAxes(op); !required)
    return required;
  return requireFit(op);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Calls \p visit for each dimension of operands and results that is made of
/// axes of its own size, with these.
template <typename Visit>
static bool visitDimensions(const Axes &axes, Visit visit) {
  auto isResized = [&](unsigned axis) {
    return axes.axes[axis].kind == AxisKind::Resized;
  };
  for (bool isResult : {false, true})
    for (auto [tensor, lists] : llvm::enumerate(
             isResult ? ArrayRef(axes.results) : ArrayRef(axes.operands)))
      for (auto [dimension, list] : llvm::enumerate(lists))
        if (!llvm::any_of(list, isResized) &&
            !visit(
                AxisPlace{isResult, static_cast<unsigned>(tensor), dimension},
                list))
          return false;
  return true;
}

Result<void> OperationGuards::requireAxes(Operation *op) {
  const std::optional<Axes> axes = axesOf(op);
  if (!axes)
    return {};
  std::vector<AxisSize> found(axes->axes.size());
  auto sizeAt = [&](const AxisPlace &place) -> Known {
    const Value value = place.isResult ? Value(op->getResult(place.tensor))
                                       : op->getOperand(place.tensor);
    const Dims *sizes = values.dimsIfKnown(value);
    return !sizes ? Known() : (*sizes)[place.dimension];
  };
  // Single axes first: they give the sizes of what others are made of.
  bool fits =
      visitDimensions(*axes, [&](AxisPlace place, const AxisList &list) {
        const Known size = list.size() == 1 ? sizeAt(place) : Known();
        if (!size)
          return true;
        AxisSize &axis = found[list.front()];
        if (axis.size)
          return *axis.size == *size ||
                 facts.guards.requireEqual(*size, *axis.size, place.text(),
                                           axis.text());
        axis = {size, place};
        return true;
      });
  for (auto [axis, known] : llvm::zip_equal(axes->axes, found))
    if (const Dim size = axis.size; !known.size && size.isStatic())
      known.size = size.value();
  fits =
      fits &&
      visitDimensions(*axes, [&](AxisPlace place, const AxisList &list) {
        const Known size = list.size() > 1 ? sizeAt(place) : Known();
        Known product = 1;
        AxisSize *missing = nullptr;
        for (unsigned axis : list) {
          if (!found[axis].size && !missing)
            missing = &found[axis];
          else if (product)
            product =
                found[axis].size
                    ? SizeExpression::productOf(*product, *found[axis].size)
                    : std::nullopt;
        }
        if (!size || !product)
          return true;
        if (!missing)
          return facts.guards.requireEqual(*size, *product, place.text());
        // The axes that are known divide the dimension.
        missing->size = SizeExpression::quotientOf(*size, *product);
        const std::optional<int64_t> divisor = product->number();
        if (missing->size || !divisor || *divisor < 1)
          return true;
        missing->size = facts.table.quotientOf(*size, *divisor);
        const Known whole =
            missing->size ? SizeExpression::productOf(*missing->size, *divisor)
                          : Known();
        return !whole || facts.guards.requireEqual(*size, *whole, place.text());
      });
  if (!fits)
    return refused(op, "has dimensions that do not fit");
  return {};
}

//===----------------------------------------------------------------------===//
// Other requirements
//===----------------------------------------------------------------------===//

static std::string dimensionText(size_t dimension, unsigned operand) {
  return "dimension " + std::to_string(dimension) + " of operand " +
         std::to_string(operand);
}

/// Requires of each dimension of operand \p operand that it holds \p sizes.
void OperationGuards::requireInside(Operation *op, unsigned operand,
                                    ArrayRef<Known> sizes) {
  const Dims *found = values.dimsIfKnown(op->getOperand(operand));
  if (!found)
    return;
  // A copy: whether regions are entered may be followed on the way.
  const Dims dims = *found;
  for (auto [i, size, all] : llvm::enumerate(sizes, dims))
    if (size)
      entered.requireRoom(op, *size, all, "the end of the slice",
                          dimensionText(i, operand));
}

/// The same of operand 0, unless nothing is taken: the result has no elements.
void OperationGuards::requireTaken(Operation *op, ArrayRef<Known> sizes) {
  const Dims *from = values.dimsIfKnown(op->getOperand(0)),
             *to = values.dimsIfKnown(op->getResult(0));
  if (!from || !to)
    return;
  const Dims dims = *from, taken = *to;
  for (auto [size, all] : llvm::zip(sizes, dims))
    if (size && !facts.guards.isAtMost(*size, all))
      entered.requireSlice(op, *size, all, taken);
}

/// Sizes that an attribute has, but for names.
static SmallVector<Known> knownIn(ArrayRef<int64_t> sizes) {
  SmallVector<Known> known;
  for (Dim size : dimsIn(sizes))
    known.push_back(size.isStatic() ? Known(size.value()) : Known());
  return known;
}

Result<void> OperationGuards::requireScales(Operation *op) {
  auto require = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto scales = type ? dyn_cast<quant::UniformQuantizedPerAxisType>(
                             type.getElementType())
                       : nullptr;
    const Dims *found = values.dimsIfKnown(value);
    return !scales || !found ||
           facts.guards.requireEqual(
               (*found)[scales.getQuantizedDimension()],
               static_cast<int64_t>(scales.getScales().size()),
               "the dimension that has scales", "their number");
  };
  if (llvm::all_of(op->getOperands(), require) &&
      llvm::all_of(op->getResults(), require))
    return {};
  return refused(op, "has not as many scales as slices");
}

Result<void> OperationGuards::requireFit(Operation *op) {
  using namespace stablehlo;
  bool fits = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](SliceOp slice) {
        requireInside(op, 0, knownIn(slice.getLimitIndices()));
      })
      .Case([&](DynamicSliceOp slice) {
        requireInside(op, 0, knownIn(slice.getSliceSizes()));
      })
      .Case([&](GatherOp gather) {
        requireTaken(op, knownIn(gather.getSliceSizes()));
      })
      .Case([&](DynamicUpdateSliceOp update) {
        if (const Dims *found = values.dimsIfKnown(update.getUpdate()))
          requireInside(op, 0,
                        SmallVector<Known>(found->begin(), found->end()));
      })
      .Case([&](nn::PadModeOp pad) {
        // With known sizes there is always a way to compute it.
        SmallVector<Known> least(pad.getLow().size());
        for (size_t i = 0; i < least.size(); ++i)
          if (tensorOf(pad.getOperand()).isDynamicDim(i))
            least[i] = pad.leastSize(i);
        requireInside(op, 0, least);
      })
      .Case([&](nn::TakeAlongOp take) {
        const Dims *found = values.dimsIfKnown(take.getIndices());
        if (!found)
          return;
        SmallVector<Known> reach(found->begin(), found->end());
        reach[take.getAxis()] = 1;
        requireInside(op, 0, reach);
      })
      .Case<nn::TakeOp, nn::ArgMaxOp, nn::ArgMinOp>([&](auto choice) {
        SmallVector<Known> reach(tensorOf(op->getOperand(0)).getRank());
        reach[choice.getAxis()] = 1;
        requireTaken(op, reach);
      })
      .Case([&](ScatterOp scatter) {
        requireUpdates(scatter);
        for (Value update : scatter.getUpdates().drop_front())
          fits &= requireAlike(scatter.getUpdates()[0], update);
      })
      .Case([&](ReduceWindowOp windows) {
        for (Value input : windows.getInputs().drop_front())
          fits &= requireAlike(windows.getInputs()[0], input);
      });
  if (!fits)
    return refused(op, "has operands of other sizes");
  return requireScales(op);
}

/// Requires that two tensors have the same shape; whether they can.
bool OperationGuards::requireAlike(Value lhs, Value rhs) {
  const Dims *a = values.dimsIfKnown(lhs), *b = values.dimsIfKnown(rhs);
  return !a || !b || llvm::all_of(llvm::zip(*a, *b), [&](const auto &pair) {
    return facts.guards.requireEqual(std::get<0>(pair), std::get<1>(pair));
  });
}

/// A window of updates is at most as large as what it is written to.
void OperationGuards::requireUpdates(stablehlo::ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  const Dims *all = values.dimsIfKnown(op.getInputs()[0]),
             *part = values.dimsIfKnown(op.getUpdates()[0]);
  if (!all || !part)
    return;
  const Dims whole = *all, windows = *part;
  size_t next = 0;
  for (auto [i, size] : llvm::enumerate(whole)) {
    const auto dimension = static_cast<int64_t>(i);
    if (llvm::is_contained(numbers.getInsertedWindowDims(), dimension) ||
        llvm::is_contained(numbers.getInputBatchingDims(), dimension))
      continue;
    const int64_t window = numbers.getUpdateWindowDims()[next++];
    entered.requireRoom(op, windows[window], size, "the window of updates",
                        dimensionText(i, 0));
  }
}

/// A reshape keeps the number of elements, where both have an expression.
void OperationGuards::requireSameCount(Operation *op) {
  const Dims *from = values.dimsIfKnown(op->getOperand(0)),
             *to = values.dimsIfKnown(op->getResult(0));
  if (!from || !to)
    return;
  const Known before = facts.countOf(*from), after = facts.countOf(*to);
  if (before && after)
    facts.guards.requireEqual(*before, *after, "the number of elements before",
                              "that after");
}
