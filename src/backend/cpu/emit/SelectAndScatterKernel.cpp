//===- SelectAndScatterKernel.cpp - what each window chooses --------------===//

#include "backend/cpu/emit/ChannelWindows.h"
#include "backend/cpu/emit/KernelBody.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// One task for each index of the first dimensions along which windows are
/// single elements; within it one source element after the other, or several
/// channels at once. All sizes may be named.
class SelectAndScatterKernel : public KernelBody {
public:
  explicit SelectAndScatterKernel(stablehlo::SelectAndScatterOp op)
      : op(op), windows(op.getWindow()), shape(dimsOf(op.getOperand())),
        source(dimsOf(op.getSource())) {
    while (parallel < shape.size() && isTrivial(windows[parallel]))
      ++parallel;
    takesLanes = parallel < shape.size() &&
                 ChannelWindows::are(windows, shape) &&
                 ChannelWindows::takesVectors(op.getSelect()) &&
                 ChannelWindows::takesVectors(op.getScatter());
  }

  int64_t lanes() const override {
    return takesLanes ? ChannelWindows::lanes : 1;
  }

  int64_t tasks() const override {
    Dim count = 1;
    for (Dim size : shape.take_front(parallel))
      count *= size;
    return std::max<int64_t>(count.valueOr(1), 1);
  }

  std::vector<TaskExtent> taskExtents() const override {
    return {{shape.take_front(parallel).vec(), 1}};
  }

  void emit(Elemental &values, Value task, ValueRange outputs, Value) override {
    elemental = &values;
    KernelBuilder &e = values.code;
    SmallVector<Value> first(parallel);
    for (size_t dim = parallel; dim-- > 0;) {
      Value size = e.index(shape[dim]);
      first[dim] = dim == 0 ? task : e.rem(task, size);
      task = e.div(task, size);
    }
    auto coordinatesOf = [&](ArrayRef<Value> rest) {
      Coordinates place(first.begin(), first.end());
      place.append(rest.begin(), rest.end());
      return place;
    };
    e.loops(shape.drop_front(parallel), [&](ArrayRef<Value> rest) {
      elemental->store(
          elemental->at(op.getInitValue(), ArrayRef<Coordinate>()), outputs[0],
          elemental->linearize(coordinatesOf(rest), shape), element());
    });
    if (llvm::is_contained(source, Dim(0)))
      return;
    // In a region it is other code that says how many lanes there are.
    if (takesLanes && values.lanes == ChannelWindows::lanes)
      return scatterByLanes(first, outputs[0]);
    e.loops(source.drop_front(parallel), [&](ArrayRef<Value> rest) {
      scatter(coordinatesOf(rest), outputs[0]);
    });
  }

private:
  static bool isTrivial(const stablehlo::WindowDimension &w) {
    return w.size == 1 && w.stride == 1 && w.paddingLow == 0 &&
           w.paddingHigh == 0;
  }
  Type element() { return tensorOf(op.getOperand()).getElementType(); }

  /// The place in the operand of position \p position in the window at
  /// \p place, and whether it lies inside.
  Value locate(ArrayRef<Coordinate> place, ArrayRef<Value> position,
               Coordinates &where) {
    KernelBuilder &e = elemental->code;
    Value inside = e.boolean(true);
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const stablehlo::WindowDimension &w = windows[dim];
      Value index =
          e.sub(e.add(e.mul(place[dim].value, w.stride), position[dim]),
                w.paddingLow);
      if (w.paddingLow > 0)
        inside = e.both(inside, e.less(e.index(-1), index));
      if (w.paddingHigh > 0)
        inside = e.both(inside, e.less(index, e.index(shape[dim])));
      where.push_back({index, place[dim].lanes});
    }
    return inside;
  }

  /// Carries whether anything has been chosen, what, and where it lies.
  void scatter(ArrayRef<Coordinate> place, Value output) {
    KernelBuilder &e = elemental->code;
    Value nothing = elemental->at(op.getInitValue(), ArrayRef<Coordinate>());
    KernelBuilder::Carried chosen = e.loops(
        windowSizes(), ValueRange{e.boolean(false), nothing, e.index(0)},
        [&](ArrayRef<Value> position, ValueRange carried) {
          Coordinates where;
          Value inside = locate(place, position, where);
          return e.branch(
              inside, [&] { return choose(carried, where); },
              [&] { return KernelBuilder::Carried(carried); });
        });
    e.when(chosen[0], [&] {
      Value old = elemental->load(output, chosen[2], element());
      Value value = elemental->inlineRegion(
          op.getScatter(), {old, elemental->at(op.getSource(), place)})[0];
      elemental->store(value, output, chosen[2], element());
    });
  }

  KernelBuilder::Carried choose(ValueRange carried,
                                ArrayRef<Coordinate> where) {
    KernelBuilder &e = elemental->code;
    Value value = elemental->at(op.getOperand(), where);
    Value keeps =
        elemental->inlineRegion(op.getSelect(), {carried[1], value})[0];
    keeps = e.create<arith::AndIOp>(carried[0], keeps);
    Value offset = elemental->linearize(where, shape);
    return {e.boolean(true),
            e.create<arith::SelectOp>(keeps, carried[1], value),
            e.create<arith::SelectOp>(keeps, carried[2], offset)};
  }

  //===--------------------------------------------------------------------===//
  // Several channels at once
  //===--------------------------------------------------------------------===//

  void scatterByLanes(ArrayRef<Value> first, Value output) {
    KernelBuilder &e = elemental->code;
    const int64_t lanes = elemental->lanes;
    Value channels = e.index(shape.back()),
          whole = e.sub(channels, e.rem(channels, lanes));
    e.loops(source.drop_front(parallel).drop_back(),
            [&](ArrayRef<Value> position) {
              Coordinates place(first.begin(), first.end());
              place.append(position.begin(), position.end());
              place.push_back({});
              e.loop(e.index(0), whole, lanes, [&](Value channel) {
                place.back() = {channel, /*lanes=*/true};
                scatterVectors(place, output);
              });
              e.loop(whole, channels, 1, [&](Value channel) {
                place.back() = channel;
                scatter(place, output);
              });
            });
  }

  SmallVector<Dim> windowSizes() {
    SmallVector<Dim> sizes;
    for (const stablehlo::WindowDimension &w : windows)
      sizes.push_back(w.size);
    return sizes;
  }
  /// The number of a position in the window, in all lanes.
  Value numberOf(ArrayRef<Value> position) {
    KernelBuilder &e = elemental->code;
    Coordinates where(position.begin(), position.end());
    return elemental->splat(e.create<arith::IndexCastOp>(
        e.builder.getI32Type(), elemental->linearize(where, windowSizes())));
  }

  /// Finds for each lane what its window chooses; then goes over the window
  /// again, and lets each position take the lanes that have chosen it.
  void scatterVectors(ArrayRef<Coordinate> place, Value output) {
    KernelBuilder &e = elemental->code;
    Value nothing = elemental->splat(
        elemental->at(op.getInitValue(), ArrayRef<Coordinate>()));
    Value nowhere = elemental->splat(e.create<arith::ConstantIntOp>(-1, 32));
    KernelBuilder::Carried chosen = e.loops(
        windowSizes(), ValueRange{e.boolean(false), nothing, nowhere},
        [&](ArrayRef<Value> position, ValueRange carried) {
          Coordinates where;
          Value inside = locate(place, position, where);
          return e.branch(
              inside,
              [&] { return chooseVectors(carried, where, numberOf(position)); },
              [&] { return KernelBuilder::Carried(carried); });
        });
    Value update = elemental->splat(elemental->at(op.getSource(), place));
    e.loops(windowSizes(), [&](ArrayRef<Value> position) {
      Coordinates where;
      Value inside = locate(place, position, where);
      e.when(inside, [&] {
        Value offset = elemental->linearize(where, shape);
        Value old =
            elemental->load(output, offset, element(), /*asVector=*/true);
        Value isHere = e.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                               chosen[2], numberOf(position));
        Value combined = elemental->splat(
            elemental->inlineRegion(op.getScatter(), {old, update})[0]);
        elemental->store(e.create<arith::SelectOp>(isHere, combined, old),
                         output, offset, element());
      });
    });
  }

  KernelBuilder::Carried
  chooseVectors(ValueRange carried, ArrayRef<Coordinate> where, Value number) {
    KernelBuilder &e = elemental->code;
    Value value = elemental->splat(elemental->at(op.getOperand(), where));
    Value keeps = elemental->splat(
        elemental->inlineRegion(op.getSelect(), {carried[1], value})[0]);
    keeps = e.create<arith::AndIOp>(elemental->splat(carried[0]), keeps);
    return {e.boolean(true),
            e.create<arith::SelectOp>(keeps, carried[1], value),
            e.create<arith::SelectOp>(keeps, carried[2], number)};
  }

  stablehlo::SelectAndScatterOp op;
  stablehlo::ConvolutionWindow windows;
  ArrayRef<Dim> shape, source;
  size_t parallel = 0;
  bool takesLanes = false;
  Elemental *elemental = nullptr;
};

} // namespace

std::unique_ptr<KernelBody>
cpu::createSelectAndScatterKernel(stablehlo::SelectAndScatterOp op) {
  return std::make_unique<SelectAndScatterKernel>(op);
}
