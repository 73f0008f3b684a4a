//===- ScanKernel.cpp - running sums and the like -------------------------===//

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"
#include "backend/cpu/emit/WideSum.h"
#include "backend/cpu/ir/Scans.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Each place combines what its predecessor has with its own element, or with
/// the predecessor's.
class ScanKernel : public KernelBody {
public:
  explicit ScanKernel(KernelOp kernel)
      : op(cast<stablehlo::ReduceWindowOp>(kernel.getBody()
                                               .front()
                                               .getTerminator()
                                               ->getOperand(0)
                                               .getDefiningOp())),
        shape(dimsOf(op.getInputs()[0])), scan(*cpu::scanOf(op)),
        wide(wideOperation(op)) {
    const bool isInnermost = scan.dim + 1 == shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != scan.dim)
        nest.shape.push_back(shape[i]);
    if (isInnermost)
      nest.shape.push_back(1);
    nest.cost = double(nominalOf(shape[scan.dim]));
    nest.body = [this, isInnermost](ArrayRef<Value> outer, Value begin,
                                    Value end) {
      isInnermost ? scanRow(outer) : scanRows(outer, begin, end);
    };
  }

  int64_t tasks() const override { return std::max<int64_t>(nest.tasks(), 1); }
  std::vector<TaskExtent> taskExtents() const override {
    return nest.taskExtents();
  }

  void emit(Elemental &values, Value task, ValueRange outputs, Value) override {
    elemental = &values;
    memory = outputs[0];
    nest.emitTask(values.code, task);
  }

private:
  Type resultElement() { return elementOf(op.getResults()[0]); }
  Type sumElement() {
    return wide ? Type(elemental->code.builder.getF32Type()) : resultElement();
  }
  Value converted(Value value, Value tensor) {
    return emitConvert(elemental->code, value, elementOf(tensor), sumElement());
  }
  Value initial() {
    Value init = op.getInitValues()[0];
    return converted(elemental->at(init, ArrayRef<Coordinate>()), init);
  }

  /// The sum behind the element at \p place; what stands there is stored.
  Value step(Value sum, ArrayRef<Coordinate> place) {
    KernelBuilder &e = elemental->code;
    Value input = op.getInputs()[0];
    Value element = converted(elemental->at(input, place), input);
    Value next = wide
                     ? emitWide(e, *wide, sum, element)
                     : elemental->inlineRegion(op.getBody(), {sum, element})[0];
    elemental->store(emitConvert(e, scan.isExclusive ? sum : next, sumElement(),
                                 resultElement()),
                     memory, elemental->linearize(place, shape),
                     resultElement());
    return next;
  }

  /// Which element is the \p i th that is met.
  Value met(Value i) {
    KernelBuilder &e = elemental->code;
    return scan.isReverse ? e.sub(e.sub(e.index(shape[scan.dim]), 1), i) : i;
  }

  void scanRow(ArrayRef<Value> outer) {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(0), e.index(shape[scan.dim]), 1, {initial()},
           [&](Value i, ValueRange sums) {
             Coordinates place(outer.begin(), outer.end());
             place.push_back(met(i));
             return KernelBuilder::Carried{step(sums[0], place)};
           });
  }

  /// Along an outer dimension: a piece of a row of sums stays in the cache, and
  /// neighbours are computed together.
  void scanRows(ArrayRef<Value> outer, Value begin, Value end) {
    constexpr int64_t piece = 256;
    KernelBuilder &e = elemental->code;
    Type element = sumElement();
    Value row = createScratch(e.builder, e.loc,
                              MemRefType::get({piece}, storageType(element)));
    e.loop(begin, end, piece, [&](Value first) {
      Value here = e.min(e.add(first, piece), end);
      e.loop(first, here, 1, [&](Value last) {
        elemental->store(initial(), row, e.sub(last, first), element);
      });
      e.loop(e.index(0), e.index(shape[scan.dim]), 1, [&](Value i) {
        e.loop(first, here, 1, [&](Value last) {
          Coordinates place(outer.begin(), outer.end());
          place.insert(place.begin() + scan.dim, Coordinate(met(i)));
          place.push_back(last);
          Value at = e.sub(last, first);
          Value sum = elemental->load(row, at, element);
          elemental->store(step(sum, place), row, at, element);
        });
      });
    });
  }

  stablehlo::ReduceWindowOp op;
  ArrayRef<Dim> shape;
  stablehlo::Scan scan;
  std::optional<StringRef> wide;
  LoopNest nest;
  Elemental *elemental = nullptr;
  Value memory;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createScanKernel(KernelOp kernel) {
  return std::make_unique<ScanKernel>(kernel);
}
