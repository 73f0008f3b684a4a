//===- WindowRows.cpp - windows over rows of neighbours -------------------===//

#include "backend/cpu/emit/WindowRows.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/Reduction.h"
#include "graph/stablehlo/Sums.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// So many results of a row are computed at a time.
static constexpr int64_t pieceLength = 256;
/// So many elements of a row of the input are kept at most.
static constexpr int64_t longestSource = 2048;
/// So many elements of a window along a row are combined in one loop.
static constexpr int64_t tapsAtOnce = 8;

namespace {

/// A row on the stack of what a reduction carries, one for each result.
class Accumulators {
public:
  Accumulators(const Reduction &reduction, size_t count, int64_t length)
      : reduction(reduction) {
    KernelBuilder &e = reduction.elemental.code;
    for (size_t i = 0; i < count; ++i)
      memories.push_back(createScratch(
          e.builder, e.loc,
          MemRefType::get({length},
                          storageType(reduction.accumulatorType(i)))));
  }
  Values load(Value position) const {
    Values values;
    for (auto [i, memory] : llvm::enumerate(memories))
      values.push_back(reduction.elemental.load(memory, position,
                                                reduction.accumulatorType(i)));
    return values;
  }
  void store(ValueRange values, Value position) const {
    for (auto [i, memory] : llvm::enumerate(memories))
      reduction.elemental.store(values[i], memory, position,
                                reduction.accumulatorType(i));
  }
  void fill(ValueRange values, Value count) const {
    KernelBuilder &e = reduction.elemental.code;
    e.loop(e.index(0), count, 1, [&](Value i) { store(values, i); });
  }

private:
  const Reduction &reduction;
  SmallVector<Value> memories;
};

/// The windows of one operation, for a piece of a row.
class Piece {
public:
  Piece(Elemental &elemental, stablehlo::ReduceWindowOp op,
        ArrayRef<Value> outer, Value first, Value end)
      : e(elemental.code), op(op), outer(outer), first(first), end(end),
        windows(op.getWindow()), last(windows.back()),
        shape(dimsOf(op.getInputs()[0])), reduction(reductionOf(elemental, op)),
        start(reduction.start(op.getInitValues())), pads(seesPadding(op)),
        results(reduction, op.getNumResults(), pieceLength) {}

  void emit() {
    results.fill(start, e.sub(end, first));
    if (hasTwoSteps())
      return emitInTwoSteps();
    overOuter([&](ArrayRef<Value> source) {
      alongRow([&](Value column) { return elementsAt(source, column); });
    });
  }

  /// Result \p i at \p column of the row.
  Value at(size_t i, Value column) const {
    return reduction.finish(results.load(e.sub(column, first)))[i];
  }

private:
  static Reduction reductionOf(Elemental &elemental,
                               stablehlo::ReduceWindowOp op) {
    Reduction reduction{elemental, op.getBody(), /*asVectors=*/false,
                        /*reassociate=*/false};
    reduction.minMax = Reduction::floatMinMax(op.getBody());
    if (reduction.minMax.empty())
      reduction.wideOperation = wideOperation(op);
    return reduction;
  }

  /// Elements of the input's row that the windows of a whole piece cover.
  int64_t sourceLength() const {
    if (last.size > longestSource || last.stride > longestSource ||
        last.windowDilation > longestSource)
      return longestSource + 1;
    return (pieceLength - 1) * last.stride +
           (last.size - 1) * last.windowDilation + 1;
  }
  /// Whether the order does not matter, and the row of the input fits.
  bool hasTwoSteps() const {
    int64_t above = 1;
    for (const stablehlo::WindowDimension &each : windows)
      above = std::max(above, &each == &windows.back() ? 1 : each.size);
    return !reduction.minMax.empty() && last.size > 1 && above > 1 &&
           sourceLength() <= longestSource;
  }

  Values elementsAt(ArrayRef<Value> source, Value column) {
    Coordinates place(source.begin(), source.end());
    place.push_back(column);
    Values elements;
    for (auto [i, tensor] : llvm::enumerate(op.getInputs()))
      elements.push_back(reduction.element(tensor, i, place));
    return elements;
  }

  /// Calls \p body with the place of each row that the windows cover, in order;
  /// of rows of padding that count, the initial values are combined.
  void overOuter(llvm::function_ref<void(ArrayRef<Value>)> body) {
    SmallVector<Value> source;
    auto nest = [&](auto &self) -> void {
      const size_t dim = source.size();
      if (dim + 1 == windows.size())
        return body(source);
      WindowRange range =
          WindowRange::of(e, outer[dim], shape[dim], windows[dim]);
      auto row = [&](Value i) {
        Value index = e.add(range.first, e.mul(i, windows[dim].windowDilation));
        auto inside = [&] {
          source.push_back(index);
          self(self);
          source.pop_back();
        };
        if (!pads)
          return inside();
        e.when(e.both(e.less(e.index(-1), index),
                      e.less(index, e.index(shape[dim]))),
               inside, [&] { combinePadding(dim); });
      };
      if (pads)
        e.loop(e.index(0), e.index(windows[dim].size), 1, row);
      else
        e.loop(range.begin, range.end, 1, row);
    };
    nest(nest);
  }

  /// All below a row that lies outside along dimension \p dim.
  void combinePadding(size_t dim) {
    SmallVector<int64_t> below;
    for (const stablehlo::WindowDimension &each :
         ArrayRef(windows).drop_front(dim + 1))
      below.push_back(each.size);
    overResults(first, end, [&](Values carried) {
      return e.loops(ArrayRef<int64_t>(below), carried,
                     [&](ArrayRef<Value>, ValueRange inner) {
                       return reduction.combine(inner, ValueRange(start));
                     });
    });
  }

  /// Replaces results [\p from, \p to) by what \p next makes of them.
  void overResults(Value from, Value to,
                   llvm::function_ref<Values(Values)> next) {
    overResults(from, to, [&](Value, Values carried) { return next(carried); });
  }
  void overResults(Value from, Value to,
                   llvm::function_ref<Values(Value, Values)> next) {
    e.loop(from, to, 1, [&](Value column) {
      Value position = e.sub(column, first);
      results.store(next(column, results.load(position)), position);
    });
  }

  /// The first result whose window's element \p tap lies at \p bound of the
  /// row or behind it.
  Value firstFrom(Value bound, Value tap) const {
    Value before =
        e.add(e.sub(bound, e.mul(tap, last.windowDilation)), last.paddingLow);
    return e.div(e.add(e.max(before, e.index(0)), last.stride - 1),
                 last.stride);
  }

  using ElementsAt = llvm::function_ref<Values(Value column)>;

  /// Combines the results with the window's elements along the row.
  void alongRow(ElementsAt elements) {
    const int64_t whole = last.size / tapsAtOnce * tapsAtOnce;
    if (whole != 0)
      e.loop(e.index(0), e.index(whole), tapsAtOnce,
             [&](Value tap) { alongRow(tap, tapsAtOnce, elements); });
    if (whole != last.size)
      alongRow(e.index(whole), last.size - whole, elements);
  }

  /// The same of \p count elements from \p tap on: without tests where all of
  /// them lie inside.
  void alongRow(Value tap, int64_t count, ElementsAt elements) {
    Value length = e.index(shape.back());
    auto clamped = [&](Value column, Value low) {
      return e.min(e.max(column, low), end);
    };
    Value begin = clamped(firstFrom(e.index(0), tap), first);
    Value behind = clamped(firstFrom(length, e.add(tap, count - 1)), begin);
    auto columnOf = [&](Value column, int64_t i) {
      Value start = e.sub(e.mul(column, last.stride), last.paddingLow);
      return e.add(start, e.mul(e.add(tap, i), last.windowDilation));
    };
    auto atEdge = [&](Value column, Values carried) {
      for (int64_t i = 0; i < count; ++i) {
        Value source = columnOf(column, i);
        carried = e.branch(
            e.both(e.less(e.index(-1), source), e.less(source, length)),
            [&] { return reduction.combine(carried, elements(source)); },
            [&] {
              return pads ? reduction.combine(carried, ValueRange(start))
                          : carried;
            });
      }
      return carried;
    };
    overResults(first, begin, atEdge);
    overResults(begin, behind, [&](Value column, Values carried) {
      for (int64_t i = 0; i < count; ++i)
        carried = reduction.combine(carried, elements(columnOf(column, i)));
      return carried;
    });
    overResults(behind, end, atEdge);
  }

  void emitInTwoSteps() {
    Value firstColumn = e.sub(e.mul(first, last.stride), last.paddingLow);
    Value from = e.max(firstColumn, e.index(0));
    Value lastColumn =
        e.add(e.sub(e.mul(e.add(end, -1), last.stride), last.paddingLow),
              (last.size - 1) * last.windowDilation);
    Value to = e.min(e.add(lastColumn, 1), e.index(shape.back()));
    Accumulators row(reduction, op.getNumResults(), longestSource);
    row.fill(start, e.sub(to, from));
    overOuter([&](ArrayRef<Value> source) {
      e.loop(from, to, 1, [&](Value column) {
        Value position = e.sub(column, from);
        row.store(
            reduction.combine(row.load(position), elementsAt(source, column)),
            position);
      });
    });
    alongRow([&](Value column) { return row.load(e.sub(column, from)); });
  }

  KernelBuilder &e;
  stablehlo::ReduceWindowOp op;
  ArrayRef<Value> outer;
  Value first, end;
  stablehlo::ConvolutionWindow windows;
  stablehlo::WindowDimension last;
  ArrayRef<Dim> shape;
  Reduction reduction;
  Values start;
  bool pads;
  Accumulators results;
};

} // namespace

static bool isRowWise(stablehlo::ReduceWindowOp op) {
  constexpr int64_t shortestRow = 8;
  constexpr unsigned mostResults = 2;
  ArrayRef<Dim> shape = dimsOf(op.getResult(0));
  return !shape.empty() && shape.back() >= shortestRow &&
         op.getNumResults() <= mostResults &&
         !stablehlo::scanOf(dimsOf(op.getInputs()[0]), op.getWindow()) &&
         !Reduction::hasComplex(op.getBody()) &&
         llvm::all_of(op.getWindow(),
                      [](const stablehlo::WindowDimension &each) {
                        return each.baseDilation == 1 && !each.reversed;
                      });
}

bool WindowRows::areAll(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  ArrayRef<Dim> shape = dimsOf(body.getTerminator()->getOperand(0));
  DenseSet<Operation *> made;
  for (Operation &op : body.without_terminator()) {
    auto window = dyn_cast<stablehlo::ReduceWindowOp>(op);
    const bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return made.contains(operand.getDefiningOp());
    });
    if (!window && !follows)
      continue;
    if (dimsOf(op.getResult(0)) != shape ||
        (window ? follows || !isRowWise(window) : !isElementwise(&op)))
      return false;
    made.insert(&op);
  }
  return !made.empty() &&
         llvm::all_of(body.getTerminator()->getOperands(),
                      [&](Value value) { return dimsOf(value) == shape; });
}

WindowRows::WindowRows(KernelOp kernel)
    : windows(kernel.getBody().front().getOps<stablehlo::ReduceWindowOp>()) {}

void WindowRows::emit(Elemental &elemental, ArrayRef<Value> outer, Value begin,
                      Value end,
                      llvm::function_ref<void(Value, Value)> body) const {
  KernelBuilder &e = elemental.code;
  e.loop(begin, end, pieceLength, [&](Value first) {
    Value behind = e.min(e.add(first, pieceLength), end);
    std::vector<std::unique_ptr<Piece>> pieces;
    for (stablehlo::ReduceWindowOp op : windows) {
      Piece &piece = *pieces.emplace_back(
          std::make_unique<Piece>(elemental, op, outer, first, behind));
      piece.emit();
      for (auto [i, result] : llvm::enumerate(op.getResults()))
        elemental.bind(result, [&piece, i = i](ArrayRef<Coordinate> place) {
          return piece.at(i, place.back().value);
        });
    }
    body(first, behind);
  });
}
