//===- ScatterKernel.cpp - updates combined into what is there ------------===//

#include "backend/cpu/emit/KernelBody.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// The inputs are copied, unless they lie in the results' memory already; then
/// every update is combined in, in order. Where the last dimension of updates
/// is one of windows, whole rows of it are combined without a decision, and
/// tasks may take a part of the rows each.
class ScatterKernel : public KernelBody {
public:
  ScatterKernel(stablehlo::ScatterOp op, bool inPlace)
      : op(op), inPlace(inPlace), shape(dimsOf(op.getInputs()[0])),
        updates(dimsOf(op.getUpdates()[0])) {
    auto numbers = op.getScatterDimensionNumbers();
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (!isSkipped(dim))
        rowDim = dim;
    hasRows = !updates.empty() && rowDim &&
              llvm::is_contained(numbers.getUpdateWindowDims(),
                                 int64_t(updates.size()) - 1);
    if (!hasRows)
      return;
    const bool isShifted = llvm::is_contained(
        numbers.getScatterDimsToOperandDims(), int64_t(*rowDim));
    if (inPlace && !isShifted)
      chooseColumns();
  }

  int64_t tasks() const override {
    return hasRows && taskColumns
               ? ceilDivide(updates.back(), taskColumns).valueOr(1)
               : 1;
  }

  std::vector<TaskExtent> taskExtents() const override {
    if (hasRows && taskColumns)
      return {{{updates.back()}, taskColumns}};
    return {{{}, 1}};
  }

  void emit(Elemental &values, Value task, ValueRange outputs, Value) override {
    elemental = &values;
    memory = outputs;
    if (!inPlace)
      copyInputs();
    if (llvm::is_contained(updates, Dim(0)))
      return;
    KernelBuilder &e = values.code;
    if (!hasRows) {
      e.loops(updates, [&](ArrayRef<Value> position) {
        Coordinates place(position.begin(), position.end());
        combine(place, target(place));
      });
      return;
    }
    Value begin = e.index(0), end = e.index(updates.back());
    if (taskColumns) {
      begin = e.mul(task, taskColumns);
      end = e.min(e.add(begin, taskColumns), end);
    }
    e.loops(updates.drop_back(), [&](ArrayRef<Value> position) {
      combineRow(position, begin, end);
    });
  }

private:
  /// Parts of rows that are worth a task each, the same for any number of
  /// threads.
  void chooseColumns() {
    constexpr int64_t leastElements = 1 << 16, mostTasks = 16, line = 64;
    if (updates.back().isDynamic()) {
      taskColumns = leastElements;
      return;
    }
    const auto wanted = static_cast<int64_t>(std::clamp<double>(
        nominalCount(updates) / leastElements, 1, mostTasks));
    const int64_t part = ceilDivide(updates.back(), wanted).value();
    taskColumns = (part + line - 1) / line * line;
  }

  bool isSkipped(int64_t dim) {
    auto numbers = op.getScatterDimensionNumbers();
    return llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
           llvm::is_contained(numbers.getInputBatchingDims(), dim);
  }

  void copyInputs() {
    KernelBuilder &e = elemental->code;
    for (auto [input, output] : llvm::zip(op.getInputs(), memory))
      e.loops(shape, [&, input = input,
                      output = output](ArrayRef<Value> position) {
        Coordinates place(position.begin(), position.end());
        elemental->store(elemental->at(input, place), output,
                         elemental->linearize(place, shape), elementOf(input));
      });
  }

  /// The specification's result_index for the update at \p place.
  Coordinates target(ArrayRef<Coordinate> place) {
    KernelBuilder &e = elemental->code;
    auto numbers = op.getScatterDimensionNumbers();
    Coordinates scatter, window;
    for (auto [i, coordinate] : llvm::enumerate(place))
      (llvm::is_contained(numbers.getUpdateWindowDims(), int64_t(i)) ? window
                                                                     : scatter)
          .push_back(coordinate);
    Coordinates result;
    size_t next = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      result.push_back(isSkipped(dim) ? Coordinate(e.index(0))
                                      : window[next++]);
    Value indices = op.getScatterIndices();
    for (auto [component, dim] :
         llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      Coordinates where(scatter);
      if (numbers.getIndexVectorDim() < int64_t(dimsOf(indices).size()))
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

  /// Combines the update at \p place with what is at \p where.
  void combineInside(ArrayRef<Coordinate> place, ArrayRef<Coordinate> where) {
    Value offset = elemental->linearize(where, shape);
    SmallVector<Value> arguments;
    for (auto [input, output] : llvm::zip(op.getInputs(), memory))
      arguments.push_back(elemental->load(output, offset, elementOf(input)));
    for (Value update : op.getUpdates())
      arguments.push_back(elemental->at(update, place));
    SmallVector<Value> combined =
        elemental->inlineRegion(op.getUpdateComputation(), arguments);
    for (auto [value, input, output] :
         llvm::zip(combined, op.getInputs(), memory))
      elemental->store(value, output, offset, elementOf(input));
  }

  /// The same if \p where is a place at all.
  void combine(ArrayRef<Coordinate> place, ArrayRef<Coordinate> where) {
    KernelBuilder &e = elemental->code;
    Value inside = e.boolean(true);
    for (auto [coordinate, size] : llvm::zip(where, shape)) {
      inside = e.both(inside, e.less(e.index(-1), coordinate.value));
      inside = e.both(inside, e.less(coordinate.value, e.index(size)));
    }
    e.when(inside, [&] { combineInside(place, where); });
  }

  /// The updates at [\p begin, \p end) of the row at \p position.
  void combineRow(ArrayRef<Value> position, Value begin, Value end) {
    KernelBuilder &e = elemental->code;
    Coordinates place(position.begin(), position.end());
    place.push_back(e.index(0));
    Coordinates first = target(place);
    Value inside = e.boolean(true);
    for (auto [dim, coordinate] : llvm::enumerate(first)) {
      if (dim == *rowDim)
        continue;
      inside = e.both(inside, e.less(e.index(-1), coordinate.value));
      inside = e.both(inside, e.less(coordinate.value, e.index(shape[dim])));
    }
    Value start = first[*rowDim].value;
    begin = e.max(begin, e.sub(e.index(0), start));
    end = e.min(end, e.sub(e.index(shape[*rowDim]), start));
    e.when(inside, [&] {
      e.loop(begin, end, 1, [&](Value last) {
        Coordinates from(place), to(first);
        from.back() = last;
        to[*rowDim] = e.add(start, last);
        combineInside(from, to);
      });
    });
  }

  stablehlo::ScatterOp op;
  bool inPlace;
  ArrayRef<Dim> shape, updates;
  /// The operand's dimension along which rows of updates lie.
  std::optional<size_t> rowDim;
  bool hasRows = false;
  int64_t taskColumns = 0;
  Elemental *elemental = nullptr;
  ValueRange memory;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createScatterKernel(stablehlo::ScatterOp op,
                                                     bool inPlace) {
  return std::make_unique<ScatterKernel>(op, inPlace);
}
