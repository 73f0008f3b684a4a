//===- ScanKernel.cpp - running sums and the like -------------------------===//

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

std::optional<size_t> cpu::scanDimension(stablehlo::ReduceWindowOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  std::optional<size_t> found;
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    if (window.stride != 1 || window.baseDilation != 1 ||
        window.paddingHigh != 0 || window.paddingLow != window.size - 1 ||
        (window.windowDilation != 1 && window.size != 1))
      return std::nullopt;
    if (window.size == 1)
      continue;
    if (found || window.size < shape[dim] || shape[dim] == 0)
      return std::nullopt;
    found = dim;
  }
  return ignoresPadding(op) ? found : std::nullopt;
}

namespace {

/// Each place combines what its predecessor has with its own element: the order
/// in which a window would, so that the results are the same.
class ScanKernel : public KernelBody {
public:
  explicit ScanKernel(KernelOp kernel)
      : op(cast<stablehlo::ReduceWindowOp>(kernel.getBody()
                                               .front()
                                               .getTerminator()
                                               ->getOperand(0)
                                               .getDefiningOp())),
        shape(shapeOf(op.getInputs()[0])), dim(*scanDimension(op)),
        isInnermost(dim + 1 == shape.size()) {
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != dim)
        nest.shape.push_back(shape[i]);
    if (isInnermost)
      nest.shape.push_back(1);
    nest.cost = double(shape[dim]);
    nest.body = [this](ArrayRef<Value> outer, Value begin, Value end) {
      isInnermost ? scanRow(outer) : scanRows(outer, begin, end);
    };
  }

  int64_t tasks() const override { return std::max<int64_t>(nest.tasks(), 1); }

  void emit(Elemental &values, Value task, ValueRange outputs, Value) override {
    elemental = &values;
    memory = outputs;
    nest.emitTask(values.emission, task);
  }

private:
  Type resultElement(size_t i) {
    return tensorOf(op.getResults()[i]).getElementType();
  }

  SmallVector<Value> initial() {
    SmallVector<Value> values;
    for (auto [i, init] : llvm::enumerate(op.getInitValues()))
      values.push_back(emitConvert(
          elemental->emission, elemental->at(init, ArrayRef<Coordinate>()),
          tensorOf(init).getElementType(), resultElement(i)));
    return values;
  }

  /// Stores and returns what follows \p sums at \p place.
  SmallVector<Value> step(ValueRange sums, ArrayRef<Coordinate> place) {
    SmallVector<Value> arguments(sums);
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      arguments.push_back(
          emitConvert(elemental->emission, elemental->at(input, place),
                      tensorOf(input).getElementType(), resultElement(i)));
    SmallVector<Value> next = elemental->inlineRegion(op.getBody(), arguments);
    Value offset = elemental->linearize(place, shape);
    for (auto [i, value] : llvm::enumerate(next))
      elemental->store(value, memory[i], offset, resultElement(i));
    return next;
  }

  void scanRow(ArrayRef<Value> outer) {
    Emission &e = elemental->emission;
    e.loop(e.index(0), e.index(shape[dim]), 1, initial(),
           [&](Value i, ValueRange sums) {
             Coordinates place(outer.begin(), outer.end());
             place.push_back(i);
             return Emission::Carried(step(sums, place));
           });
  }

  /// Along an outer dimension: rows are combined with the row before, so that
  /// neighbours are computed together.
  void scanRows(ArrayRef<Value> outer, Value begin, Value end) {
    Emission &e = elemental->emission;
    auto placeOf = [&](Value i, Value last) {
      Coordinates place(outer.begin(), outer.end());
      place.insert(place.begin() + dim, Coordinate(i));
      place.push_back(last);
      return place;
    };
    e.loop(begin, end, 1,
           [&](Value last) { step(initial(), placeOf(e.index(0), last)); });
    e.loop(e.index(1), e.index(shape[dim]), 1, [&](Value i) {
      e.loop(begin, end, 1, [&](Value last) {
        Value before = elemental->linearize(placeOf(e.sub(i, 1), last), shape);
        SmallVector<Value> sums;
        for (size_t k = 0; k < op.getNumResults(); ++k)
          sums.push_back(elemental->load(memory[k], before, resultElement(k)));
        step(sums, placeOf(i, last));
      });
    });
  }

  stablehlo::ReduceWindowOp op;
  ArrayRef<int64_t> shape;
  size_t dim;
  bool isInnermost;
  LoopNest nest;
  Elemental *elemental = nullptr;
  ValueRange memory;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createScanKernel(KernelOp kernel) {
  return std::make_unique<ScanKernel>(kernel);
}
