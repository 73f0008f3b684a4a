//===- SortByLoops.cpp - merge sort as loops in the graph -----------------===//

#include "backend/cpu/legalize/SortByLoops.h"

#include "backend/cpu/ir/OperationKind.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using stablehlo::ComparisonDirection;

namespace {

/// Each row has two buffers of indices, and each merge pass moves them from one
/// to the other.
class MergeSort {
public:
  explicit MergeSort(stablehlo::SortOp op)
      : op(op), builder(op), write(builder, op.getLoc()),
        shape(tensorOf(op.getInputs()[0]).getShape()) {
    const int64_t rank = shape.size();
    const int64_t dim =
        op.getDimension() < 0 ? op.getDimension() + rank : op.getDimension();
    length = rank == 0 ? 1 : shape[dim];
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim)
        permutation.push_back(i);
    if (rank != 0)
      permutation.push_back(dim);
    while ((int64_t(1) << passes) < length)
      ++passes;
  }

  Values run() {
    const int64_t size = sizeOf(op.getInputs()[0]);
    if (size == 0 || passes == 0)
      return Values(op.getInputs());
    rows = size / length;
    for (Value input : op.getInputs())
      inputs.push_back(write.flat(write.transpose(input, permutation)));
    Value first = write.iota({rows, length}, 1, write.integerType(64));
    Value indices = write.flat(write.concatenate({first, first}, 1));
    indices = write.loop(
        rows * passes * length, {indices, write.position(0), write.position(0)},
        [&](Value i, ValueRange now) { return step(i, now); })[0];
    return gathered(indices);
  }

private:
  Value least(Value a, Value b) { return write.min(a, b); }
  Value less(Value a, Value b) {
    return write.compare(ComparisonDirection::LT, a, b);
  }

  /// Moves one index: that of the lesser of the next elements of two adjacent
  /// runs; the left one if equal. \p now are the indices and the positions in
  /// both runs.
  Values step(Value i, ValueRange now) {
    Value k = write.remainder(i, length);
    Value pass = write.remainder(write.quotient(i, length), passes);
    Value row = write.quotient(i, length * passes);
    Value last = write.position(length);
    Value width = write.make<stablehlo::ShiftLeftOp>(write.position(1), pass);
    Value twice = write.add(width, width);
    Value offset = write.make<stablehlo::RemOp>(k, twice);
    Value begin = write.sub(k, offset);
    Value middle = least(write.add(begin, width), last);
    Value end = least(write.add(begin, twice), last);
    Value isFirst =
        write.compare(ComparisonDirection::EQ, offset, write.position(0));
    Value left = write.select(isFirst, begin, now[1]);
    Value right = write.select(isFirst, middle, now[2]);

    Value half = write.mul(write.remainder(pass, 2), last);
    Value base = write.mul(row, write.position(2 * length));
    Value source = write.add(base, half);
    Value target = write.add(base, write.sub(last, half));
    Value limit = write.position(length - 1);
    Value a = write.elementOf(now[0], write.add(source, least(left, limit)));
    Value b = write.elementOf(now[0], write.add(source, least(right, limit)));
    Value hasLeft = less(left, middle), hasRight = less(right, end);
    Value takesRight = write.branch(
        write.both(hasLeft, hasRight), [&] { return isBefore(row, b, a); },
        [&] { return Values{write.make<stablehlo::NotOp>(hasLeft)}; })[0];
    Value taken = write.select(takesRight, b, a);
    Value fromRight = write.convert(takesRight, write.integerType(64));
    return {write.replaced(now[0], write.add(target, k), taken),
            write.add(left, write.sub(write.position(1), fromRight)),
            write.add(right, fromRight)};
  }

  Values isBefore(Value row, Value a, Value b) {
    Value base = write.mul(row, write.position(length));
    Values arguments;
    for (Value input : inputs)
      for (Value index : {a, b})
        arguments.push_back(write.elementOf(input, write.add(base, index)));
    return write.apply(op.getComparator(), arguments);
  }

  /// The inputs' elements in the order of the sorted buffer of \p indices.
  Values gathered(Value indices) {
    Value halves = write.reshape(indices, {rows, 2 * length});
    const int64_t start = passes % 2 * length;
    Value order = write.slice(halves, 1, start, start + length);
    Value rowNumbers = write.iota({rows, length}, 0, write.integerType(64));
    order = write.flat(
        write.add(order, write.mul(rowNumbers, static_cast<double>(length))));
    SmallVector<int64_t> transposed, back(permutation.size());
    for (auto [i, dim] : llvm::enumerate(permutation)) {
      transposed.push_back(shape[dim]);
      back[dim] = i;
    }
    Values results;
    for (Value input : inputs)
      results.push_back(write.transpose(
          write.reshape(write.take(input, order, 0), transposed), back));
    return results;
  }

  stablehlo::SortOp op;
  OpBuilder builder;
  LoopWriter write;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> permutation;
  int64_t length = 1, passes = 0, rows = 0;
  Values inputs;
};

} // namespace

Values cpu::sortByLoops(stablehlo::SortOp op) { return MergeSort(op).run(); }
