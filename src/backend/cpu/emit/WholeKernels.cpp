//===- WholeKernels.cpp - sort and scatter --------------------------------===//
//
// Operations whose results are not computed element by element.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static Type elementOf(Value tensor) {
  return tensorOf(tensor).getElementType();
}

namespace {

/// A stable merge sort of each row's indices, from runs of one element up, back
/// and forth between two halves of the scratch buffer; then the results are
/// gathered.
class SortKernel : public KernelBody {
public:
  explicit SortKernel(stablehlo::SortOp op) : op(op) {
    shape = shapeOf(op.getInputs()[0]);
    dim = op.getDimension();
    if (dim < 0)
      dim += shape.size();
    // A sort of scalars has nothing to do.
    length = shape.empty() ? 1 : shape[dim];
    while ((int64_t(1) << passes) < length)
      ++passes;
    nest.cost = double(length) * (passes + 1) * 8;
    for (auto [i, size] : llvm::enumerate(shape))
      if (int64_t(i) != dim)
        nest.shape.push_back(size);
    nest.shape.push_back(1);
    nest.keepRows = true;
  }

  int64_t tasks() const override { return nest.tasks(); }
  uint64_t scratchBytes() const override { return 2 * length * 8; }

  void emit(Elemental &values, Value task, ValueRange outputs,
            Value scratch) override {
    elemental = &values;
    Emission &e = values.emission;
    Type i64 = e.builder.getI64Type();
    indices = e.create<memref::ViewOp>(MemRefType::get({2 * length}, i64),
                                       scratch, e.index(0), ValueRange());
    nest.body = [&](ArrayRef<Value> outer, Value, Value) {
      row.assign(outer.begin(), outer.end());
      e.loop(e.index(0), e.index(length), 1, [&](Value i) {
        e.builder.create<memref::StoreOp>(
            e.loc, e.create<arith::IndexCastOp>(i64, i), indices, i);
      });
      e.loop(e.index(0), e.index(passes), 1,
             [&](Value pass) { mergeRuns(pass); });
      e.loop(e.index(0), e.index(length), 1, [&](Value i) {
        Value from = indexAt(e.add(e.index(passes % 2 * length), i));
        for (auto [input, output] : llvm::zip(op.getInputs(), outputs)) {
          Value value = elemental->at(input, placeOf(from));
          elemental->store(value, output,
                           elemental->linearize(placeOf(i), shape),
                           elementOf(input));
        }
      });
    };
    nest.emitTask(e, task);
  }

private:
  Coordinates placeOf(Value index) const {
    Coordinates place(row.begin(), row.end());
    if (!shape.empty())
      place.insert(place.begin() + dim, Coordinate(index));
    return place;
  }
  Value indexAt(Value position) {
    Emission &e = elemental->emission;
    Value loaded = e.create<memref::LoadOp>(indices, position);
    return e.create<arith::IndexCastOp>(e.builder.getIndexType(), loaded);
  }
  /// Whether element \p a belongs before element \p b.
  Value isBefore(Value a, Value b) {
    SmallVector<Value> arguments;
    for (Value input : op.getInputs())
      for (Value index : {a, b})
        arguments.push_back(elemental->at(input, placeOf(index)));
    return elemental->inlineRegion(op.getComparator(), arguments)[0];
  }

  /// Merges neighbouring runs of 2^pass elements.
  void mergeRuns(Value pass) {
    Emission &e = elemental->emission;
    Value width = e.create<arith::ShLIOp>(e.index(1), pass);
    Value twice = e.add(width, width);
    Value last = e.index(length);
    Value source = e.mul(e.rem(pass, 2), length);
    Value target = e.sub(e.index(length), source);
    Value runs = e.create<arith::CeilDivUIOp>(last, twice);
    e.loop(e.index(0), runs, 1, [&](Value run) {
      Value begin = e.create<arith::MulIOp>(run, twice);
      Value middle = e.min(e.add(begin, width), last);
      Value end = e.min(e.add(begin, twice), last);
      e.loop(begin, end, 1, ValueRange{begin, middle},
             [&](Value k, ValueRange next) {
               return mergeStep(source, target, k, next[0], middle, next[1],
                                end);
             });
    });
  }

  /// Takes the lesser of the next elements of both runs; of equal ones, the
  /// left.
  Emission::Carried mergeStep(Value source, Value target, Value k, Value left,
                              Value middle, Value right, Value end) {
    Emission &e = elemental->emission;
    Value limit = e.index(length - 1);
    Value a = indexAt(e.add(source, e.min(left, limit)));
    Value b = indexAt(e.add(source, e.min(right, limit)));
    Value hasLeft = e.less(left, middle), hasRight = e.less(right, end);
    Value takeRight = e.create<arith::AndIOp>(hasRight, isBefore(b, a));
    takeRight = e.create<arith::SelectOp>(hasLeft, takeRight, e.boolean(true));
    Value taken = e.create<arith::SelectOp>(takeRight, b, a);
    e.builder.create<memref::StoreOp>(
        e.loc, e.create<arith::IndexCastOp>(e.builder.getI64Type(), taken),
        indices, e.add(target, k));
    Value step =
        e.create<arith::IndexCastUIOp>(e.builder.getIndexType(), takeRight);
    return {e.add(left, e.sub(e.index(1), step)), e.add(right, step)};
  }

  stablehlo::SortOp op;
  ArrayRef<int64_t> shape;
  int64_t dim = 0, length = 1, passes = 0;
  LoopNest nest;
  Elemental *elemental = nullptr;
  Value indices;
  SmallVector<Value> row;
};

/// The inputs are copied, then every update is combined in, in order.
class ScatterKernel : public KernelBody {
public:
  explicit ScatterKernel(stablehlo::ScatterOp op) : op(op) {}

  int64_t tasks() const override { return 1; }

  void emit(Elemental &values, Value, ValueRange outputs, Value) override {
    elemental = &values;
    Emission &e = values.emission;
    for (auto [input, output] : llvm::zip(op.getInputs(), outputs)) {
      e.loops(shapeOf(input),
              [&, input = input, output = output](ArrayRef<Value> position) {
                Coordinates place(position.begin(), position.end());
                elemental->store(elemental->at(input, place), output,
                                 elemental->linearize(place, shapeOf(input)),
                                 elementOf(input));
              });
    }
    if (tensorOf(op.getUpdates()[0]).getNumElements() == 0)
      return;
    e.loops(shapeOf(op.getUpdates()[0]), [&](ArrayRef<Value> position) {
      Coordinates place(position.begin(), position.end());
      combine(place, outputs);
    });
  }

private:
  /// The specification's result_index for the update at \p place.
  Coordinates target(ArrayRef<Coordinate> place) {
    Emission &e = elemental->emission;
    auto numbers = op.getScatterDimensionNumbers();
    Coordinates scatter, window;
    for (auto [i, coordinate] : llvm::enumerate(place))
      (llvm::is_contained(numbers.getUpdateWindowDims(), int64_t(i)) ? window
                                                                     : scatter)
          .push_back(coordinate);
    Coordinates result;
    size_t next = 0;
    for (size_t dim = 0; dim < shapeOf(op.getInputs()[0]).size(); ++dim) {
      bool isSkipped =
          llvm::is_contained(numbers.getInsertedWindowDims(), int64_t(dim)) ||
          llvm::is_contained(numbers.getInputBatchingDims(), int64_t(dim));
      result.push_back(isSkipped ? Coordinate(e.index(0)) : window[next++]);
    }
    Value indices = op.getScatterIndices();
    for (auto [component, dim] :
         llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      Coordinates where(scatter);
      if (numbers.getIndexVectorDim() < int64_t(shapeOf(indices).size()))
        where.insert(where.begin() + numbers.getIndexVectorDim(),
                     Coordinate(e.index(component)));
      Value start = emitConvert(e, elemental->at(indices, where),
                                elementOf(indices), e.builder.getI64Type());
      start = e.create<arith::IndexCastOp>(e.builder.getIndexType(), start);
      result[dim].value = e.add(result[dim].value, start);
    }
    for (auto [inputDim, indexDim] :
         llvm::zip(numbers.getInputBatchingDims(),
                   numbers.getScatterIndicesBatchingDims()))
      result[inputDim] =
          scatter[indexDim - (indexDim > numbers.getIndexVectorDim() ? 1 : 0)];
    return result;
  }

  void combine(ArrayRef<Coordinate> place, ValueRange outputs) {
    Emission &e = elemental->emission;
    Coordinates where = target(place);
    ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
    Value inside = e.boolean(true);
    for (auto [coordinate, size] : llvm::zip(where, shape)) {
      inside = e.both(inside, e.less(e.index(-1), coordinate.value));
      inside = e.both(inside, e.less(coordinate.value, e.index(size)));
    }
    e.when(inside, [&] {
      Value offset = elemental->linearize(where, shape);
      SmallVector<Value> arguments;
      for (auto [input, output] : llvm::zip(op.getInputs(), outputs))
        arguments.push_back(elemental->load(output, offset, elementOf(input)));
      for (Value update : op.getUpdates())
        arguments.push_back(elemental->at(update, place));
      SmallVector<Value> combined =
          elemental->inlineRegion(op.getUpdateComputation(), arguments);
      for (auto [value, input, output] :
           llvm::zip(combined, op.getInputs(), outputs))
        elemental->store(value, output, offset, elementOf(input));
    });
  }

  stablehlo::ScatterOp op;
  Elemental *elemental = nullptr;
};

/// Writes the update over the operand.
class UpdateKernel : public KernelBody {
public:
  explicit UpdateKernel(KernelOp kernel)
      : op(kernel.getBody()
               .front()
               .getTerminator()
               ->getOperand(0)
               .getDefiningOp<stablehlo::DynamicUpdateSliceOp>()) {
    nest.shape = shapeOf(op.getUpdate()).vec();
    if (nest.shape.empty())
      nest.shape.push_back(1);
    nest.cost = std::max(
        1.0,
        flopsOf(kernel) /
            std::max<int64_t>(1, tensorOf(op.getUpdate()).getNumElements()));
  }

  int64_t tasks() const override { return std::max<int64_t>(1, nest.tasks()); }

  void emit(Elemental &elemental, Value task, ValueRange outputs,
            Value) override {
    if (tensorOf(op.getUpdate()).getNumElements() == 0)
      return;
    Emission &e = elemental.emission;
    ArrayRef<int64_t> shape = shapeOf(op.getOperand()),
                      update = shapeOf(op.getUpdate());
    SmallVector<Value> starts;
    for (auto [i, start] : llvm::enumerate(op.getStartIndices()))
      starts.push_back(elemental.clampedStart(start, ArrayRef<Coordinate>(),
                                              shape[i] - update[i]));
    nest.body = [&](ArrayRef<Value> outer, Value begin, Value end) {
      e.loop(begin, end, 1, [&](Value last) {
        Coordinates place(outer.begin(), outer.end());
        place.push_back(last);
        place.resize(update.size());
        Coordinates target;
        for (auto [start, coordinate] : llvm::zip(starts, place))
          target.push_back(e.add(start, coordinate.value));
        elemental.store(elemental.at(op.getUpdate(), place), outputs[0],
                        elemental.linearize(target, shape),
                        elementOf(op.getOperand()));
      });
    };
    nest.emitTask(e, task);
  }

private:
  stablehlo::DynamicUpdateSliceOp op;
  LoopNest nest;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createUpdateKernel(KernelOp kernel) {
  return std::make_unique<UpdateKernel>(kernel);
}

std::unique_ptr<KernelBody> cpu::createSortKernel(stablehlo::SortOp op) {
  return std::make_unique<SortKernel>(op);
}

std::unique_ptr<KernelBody> cpu::createScatterKernel(stablehlo::ScatterOp op) {
  return std::make_unique<ScatterKernel>(op);
}

std::unique_ptr<KernelBody> cpu::createWholeKernel(Operation *op) {
  if (auto sort = dyn_cast<stablehlo::SortOp>(op))
    return createSortKernel(sort);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return createScatterKernel(scatter);
  if (auto scatter = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    return createSelectAndScatterKernel(scatter);
  return nullptr;
}
