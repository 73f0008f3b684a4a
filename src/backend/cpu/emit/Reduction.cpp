//===- Reduction.cpp - what reductions carry from element to element ------===//

#include "backend/cpu/emit/Reduction.h"

#include "backend/cpu/ir/Scans.h"
#include "graph/stablehlo/Sums.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool Reduction::mayReassociate(Region &body) {
  std::optional<StringRef> op = stablehlo::soleOperation(body);
  return op == stablehlo::AddOp::getOperationName() ||
         op == stablehlo::MulOp::getOperationName();
}

SmallVector<MinOrMax> Reduction::floatMinMax(Region &body) {
  Block &block = body.front();
  const size_t count = block.getNumArguments() / 2;
  SmallVector<MinOrMax> minMax;
  for (auto [i, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    Operation *combine = value.getDefiningOp();
    Value lhs = block.getArgument(i), rhs = block.getArgument(i + count);
    if (!isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(combine) ||
        !hasIntegerOrder(elementOf(value)) ||
        !llvm::is_contained(combine->getOperands(), lhs) ||
        !llvm::is_contained(combine->getOperands(), rhs))
      return {};
    minMax.push_back(isa<stablehlo::MaxOp>(combine) ? MinOrMax::Greatest
                                                    : MinOrMax::Least);
  }
  return minMax;
}

bool Reduction::hasComplex(Region &body) {
  return llvm::any_of(body.getArgumentTypes(), [](Type type) {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  });
}

Type Reduction::accumulatorType(size_t i) const {
  Type element = elementOf(body.front().getArgument(i));
  if (!minMax.empty())
    return elemental.code.builder.getIntegerType(
        element.getIntOrFloatBitWidth());
  return wideOperation ? Type(elemental.code.builder.getF32Type()) : element;
}

Values Reduction::start(ValueRange initialValues) const {
  Values values;
  for (auto [i, tensor] : llvm::enumerate(initialValues))
    values.push_back(element(tensor, i, ArrayRef<Coordinate>()));
  return values;
}

Value Reduction::element(Value tensor, size_t i,
                         ArrayRef<Coordinate> place) const {
  KernelBuilder &e = elemental.code;
  Value value = elemental.at(tensor, place);
  if (minMax.empty())
    value = emitConvert(e, value, elementOf(tensor), accumulatorType(i));
  else
    value = emitToOrder(e,
                        emitConvert(e, value, elementOf(tensor),
                                    elementOf(body.front().getArgument(i))),
                        minMax[i]);
  return asVectors ? elemental.splat(value) : value;
}

Values Reduction::combine(ValueRange carried, ValueRange inputs,
                          ArrayRef<Coordinate> place) const {
  Values elements;
  for (auto [i, tensor] : llvm::enumerate(inputs))
    elements.push_back(element(tensor, i, place));
  return combine(carried, elements);
}

Values Reduction::combine(ValueRange carried, ValueRange elements) const {
  KernelBuilder &e = elemental.code;
  if (wideOperation)
    return {emitWide(e, *wideOperation, carried[0], elements[0], reassociate)};
  Values next;
  for (auto [i, each] : llvm::enumerate(minMax))
    next.push_back(emitMinMax(e, carried[i], elements[i], each));
  if (!minMax.empty())
    return next;
  SmallVector<Value> arguments(carried);
  llvm::append_range(arguments, elements);
  return elemental.inlineRegion(body, arguments, reassociate);
}

Values Reduction::finish(ValueRange carried) const {
  KernelBuilder &e = elemental.code;
  if (minMax.empty() && !wideOperation)
    return carried;
  Values results;
  for (auto [i, value] : llvm::enumerate(carried)) {
    Type element = elementOf(body.front().getArgument(i));
    auto vector = dyn_cast<VectorType>(value.getType());
    results.push_back(
        minMax.empty()
            ? emitConvert(e, value, accumulatorType(i), element)
            : emitFromOrder(e, value,
                            vector ? Type(vector.clone(element)) : element));
  }
  return results;
}

WindowRange WindowRange::of(KernelBuilder &e, Value place, Dim size,
                            const stablehlo::WindowDimension &w) {
  WindowRange range;
  range.first = e.sub(e.mul(place, w.stride), w.paddingLow);
  range.mustCheck = w.baseDilation != 1;
  range.begin = e.index(0);
  range.end = e.index(w.size);
  // first + i * dilation >= 0 and < extent.
  if (w.paddingLow > 0) {
    Value missing = e.max(e.sub(e.index(0), range.first), e.index(0));
    range.begin =
        e.min(e.div(e.add(missing, w.windowDilation - 1), w.windowDilation),
              range.end);
  }
  if (w.paddingHigh > 0) {
    Value extent =
        size == 0 ? e.index(0)
                  : e.add(e.mul(e.sub(e.index(size), 1), w.baseDilation), 1);
    Value room = e.max(e.sub(extent, range.first), e.index(0));
    Value count = e.div(e.add(room, w.windowDilation - 1), w.windowDilation);
    range.end = e.min(count, e.index(w.size));
  }
  return range;
}

static bool reachesBeyond(const stablehlo::WindowDimension &w) {
  return w.paddingLow > 0 || w.paddingHigh > 0 || w.baseDilation != 1;
}

bool cpu::seesPadding(stablehlo::ReduceWindowOp op) {
  return llvm::any_of(op.getWindow(), reachesBeyond) && !ignoresPadding(op);
}
