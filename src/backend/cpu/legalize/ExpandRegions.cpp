//===- ExpandRegions.cpp - loops for regions that kernels cannot hold -----===//

#include "backend/cpu/legalize/ExpandRegions.h"

#include "backend/cpu/emit/RegionForm.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/legalize/LoopWriter.h"
#include "backend/cpu/legalize/SortByLoops.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using stablehlo::ComparisonDirection;

namespace {

class Expansion {
public:
  explicit Expansion(Operation *op)
      : builder(op), write(builder, op->getLoc()) {}

  /// The results' elements as flat rows.
  Values map(stablehlo::MapOp op) {
    const int64_t count = sizeOf(op.getResult());
    Values inputs = rowsOf(op.getInputs());
    return fill(count, op->getResults(), [&](Value i) {
      return write.apply(op.getComputation(), elementsOf(inputs, i));
    });
  }

  Values reduce(stablehlo::ReduceOp op) {
    ArrayRef<int64_t> shape = tensorOf(op.getInputs()[0]).getShape();
    SmallVector<int64_t> permutation;
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (!llvm::is_contained(op.getDimensions(), dim))
        permutation.push_back(dim);
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (llvm::is_contained(op.getDimensions(), dim))
        permutation.push_back(dim);
    Values inputs;
    for (Value input : op.getInputs())
      inputs.push_back(write.flat(write.transpose(input, permutation)));
    int64_t length = 1;
    for (int64_t dim : op.getDimensions())
      length *= shape[dim];
    Values start = startOf(op.getBody(), op.getInitValues());
    return fill(sizeOf(op.getResult(0)), op->getResults(), [&](Value i) {
      if (length == 0)
        return start;
      return write.loop(length, start, [&](Value k, ValueRange carried) {
        Value index = write.add(write.mul(i, write.position(length)), k);
        return combine(op.getBody(), carried, elementsOf(inputs, index));
      });
    });
  }

  /// Padding elements of a window are the initial values.
  Values reduceWindow(stablehlo::ReduceWindowOp op) {
    ArrayRef<int64_t> shape = tensorOf(op.getInputs()[0]).getShape();
    const stablehlo::ConvolutionWindow windows = op.getWindow();
    const SmallVector<int64_t> sizes = sizesOf(windows);
    Values inputs = rowsOf(op.getInputs());
    Values start = startOf(op.getBody(), op.getInitValues());
    ArrayRef<int64_t> places = tensorOf(op.getResult(0)).getShape();
    return fill(sizeOf(op.getResult(0)), op->getResults(), [&](Value i) {
      Values place = write.unflatten(i, places);
      return write.loop(product(sizes), start, [&](Value k, ValueRange now) {
        Values here = start;
        if (sizeOf(op.getInputs()[0]) != 0) {
          auto [inside, index] =
              locate(windows, place, write.unflatten(k, sizes), shape);
          for (auto [value, input] : llvm::zip_equal(here, inputs)) {
            Value element = write.elementOf(input, index);
            value = write.select(
                inside, write.convert(element, getElementTypeOrSelf(value)),
                value);
          }
        }
        return combine(op.getBody(), now, here);
      });
    });
  }

  Values scatter(stablehlo::ScatterOp op) {
    Region &region = op.getUpdateComputation();
    Values rows = startOf(region, rowsOf(op.getInputs()));
    ArrayRef<int64_t> shape = tensorOf(op.getInputs()[0]).getShape();
    const int64_t count = sizeOf(op.getUpdates()[0]);
    if (count == 0 || product(shape) == 0)
      return rows;
    Values updates = rowsOf(op.getUpdates());
    Value indices = write.convert(write.flat(op.getScatterIndices()),
                                  write.integerType(64));
    return write.loop(count, rows, [&](Value i, ValueRange carried) {
      Values place = targetOf(op, indices, i);
      Value inside = isInside(place, shape);
      Value index = write.flatten(place, shape);
      return update(carried, index, inside, [&](ValueRange old) {
        return combine(region, old, elementsOf(updates, i));
      });
    });
  }

  Values selectAndScatter(stablehlo::SelectAndScatterOp op) {
    Values result = {
        write.broadcast(startOf(op.getScatter(), op.getInitValue())[0], {},
                        {sizeOf(op.getOperand())})};
    const int64_t count = sizeOf(op.getSource());
    if (count == 0 || sizeOf(op.getOperand()) == 0)
      return result;
    Value operand = write.flat(op.getOperand());
    Value source = write.flat(op.getSource());
    return write.loop(count, result, [&](Value i, ValueRange carried) {
      Values chosen = choose(op, operand, i);
      return update(carried, chosen[2], chosen[0], [&](ValueRange old) {
        return combine(op.getScatter(), old, write.elementOf(source, i));
      });
    });
  }

  /// Replaces the results of \p op by \p rows, reshaped.
  void replace(Operation *op, ValueRange rows) {
    for (auto [result, row] : llvm::zip_equal(op->getResults(), rows)) {
      Value value = write.reshape(row, tensorOf(result).getShape());
      result.replaceAllUsesWith(
          write.convert(value, getElementTypeOrSelf(result)));
    }
    op->erase();
  }

private:
  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }
  static SmallVector<int64_t>
  sizesOf(ArrayRef<stablehlo::WindowDimension> windows) {
    SmallVector<int64_t> sizes;
    for (const stablehlo::WindowDimension &window : windows)
      sizes.push_back(window.size);
    return sizes;
  }

  Values rowsOf(ValueRange tensors) {
    Values rows;
    for (Value tensor : tensors)
      rows.push_back(write.flat(tensor));
    return rows;
  }
  Values elementsOf(ValueRange rows, Value index) {
    Values elements;
    for (Value row : rows)
      elements.push_back(write.elementOf(row, index));
    return elements;
  }
  /// \p values converted to the types that \p region combines.
  Values startOf(Region &region, ValueRange values) {
    Values start;
    for (auto [i, value] : llvm::enumerate(values))
      start.push_back(
          write.convert(value, getElementTypeOrSelf(region.getArgument(i))));
    return start;
  }
  Values combine(Region &region, ValueRange carried, ValueRange elements) {
    Values arguments(carried);
    llvm::append_range(arguments, elements);
    Values values = write.apply(region, arguments);
    for (auto [value, old] : llvm::zip_equal(values, carried))
      value = write.convert(value, getElementTypeOrSelf(old));
    return values;
  }

  /// Rows of \p count elements that \p body computes, of the element types of
  /// \p results.
  Values fill(int64_t count, ValueRange results,
              llvm::function_ref<Values(Value)> body) {
    Values rows;
    for (Value result : results)
      rows.push_back(write.splat(
          0, RankedTensorType::get({count}, getElementTypeOrSelf(result))));
    if (count == 0)
      return rows;
    return write.loop(count, rows, [&](Value i, ValueRange carried) {
      Values next;
      for (auto [row, value] : llvm::zip_equal(carried, body(i)))
        next.push_back(write.replaced(
            row, i, write.convert(value, getElementTypeOrSelf(row))));
      return next;
    });
  }

  /// \p rows with the elements at \p index replaced by the results of \p body
  /// on them, where \p condition holds.
  Values update(ValueRange rows, Value index, Value condition,
                llvm::function_ref<Values(ValueRange)> body) {
    Value safe = write.select(condition, index, write.position(0));
    Values old = elementsOf(rows, safe);
    Values values =
        write.branch(condition, [&] { return body(old); }, [&] { return old; });
    Values next;
    for (auto [row, value] : llvm::zip_equal(rows, values))
      next.push_back(write.replaced(row, safe, value));
    return next;
  }

  Value isInside(ValueRange place, ArrayRef<int64_t> shape) {
    Value inside;
    for (auto [coordinate, size] : llvm::zip_equal(place, shape)) {
      Value here = write.isWithin(coordinate, size);
      inside = inside ? write.both(inside, here) : here;
    }
    return inside ? inside : write.scalar(1, write.integerType(1));
  }

  /// Whether \p position in the window at \p place is an element, and its
  /// index.
  std::pair<Value, Value> locate(ArrayRef<stablehlo::WindowDimension> windows,
                                 ValueRange place, ValueRange position,
                                 ArrayRef<int64_t> shape) {
    Value shows;
    Values where;
    for (auto [i, window] : llvm::enumerate(windows)) {
      Value offset =
          write.mul(position[i], write.position(window.windowDilation));
      Value index =
          write.add(write.mul(place[i], write.position(window.stride)),
                    write.sub(offset, write.position(window.paddingLow)));
      if (window.baseDilation != 1) {
        Value isElement = write.compare(
            ComparisonDirection::EQ,
            write.remainder(index, window.baseDilation), write.position(0));
        shows = shows ? write.both(shows, isElement) : isElement;
        // -1 / 2 is 0, but is rejected by its remainder.
        index = write.quotient(index, window.baseDilation);
      }
      where.push_back(index);
    }
    Value inside = isInside(where, shape);
    return {shows ? write.both(shows, inside) : inside,
            write.flatten(where, shape)};
  }

  /// The specification's result_index for update element \p i.
  Values targetOf(stablehlo::ScatterOp op, Value indices, Value i) {
    auto numbers = op.getScatterDimensionNumbers();
    ArrayRef<int64_t> shape = tensorOf(op.getInputs()[0]).getShape();
    ArrayRef<int64_t> indexShape = tensorOf(op.getScatterIndices()).getShape();
    Values scatter, window;
    for (auto [dim, coordinate] : llvm::enumerate(
             write.unflatten(i, tensorOf(op.getUpdates()[0]).getShape())))
      (llvm::is_contained(numbers.getUpdateWindowDims(), int64_t(dim))
           ? window
           : scatter)
          .push_back(coordinate);
    Values result;
    size_t next = 0;
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      result.push_back(
          llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
                  llvm::is_contained(numbers.getInputBatchingDims(), dim)
              ? write.position(0)
              : window[next++]);
    const int64_t vectorDim = numbers.getIndexVectorDim();
    for (auto [component, dim] :
         llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      Values where = scatter;
      if (vectorDim < int64_t(indexShape.size()))
        where.insert(where.begin() + vectorDim, write.position(component));
      result[dim] =
          write.add(result[dim],
                    write.elementOf(indices, write.flatten(where, indexShape)));
    }
    for (auto [inputDim, indexDim] :
         llvm::zip_equal(numbers.getInputBatchingDims(),
                         numbers.getScatterIndicesBatchingDims()))
      result[inputDim] = scatter[indexDim - (indexDim > vectorDim ? 1 : 0)];
    return result;
  }

  /// Whether the window of source element \p i has any element, the selected
  /// element, and its index.
  Values choose(stablehlo::SelectAndScatterOp op, Value operand, Value i) {
    const stablehlo::ConvolutionWindow windows = op.getWindow();
    const SmallVector<int64_t> sizes = sizesOf(windows);
    ArrayRef<int64_t> shape = tensorOf(op.getOperand()).getShape();
    Values place = write.unflatten(i, tensorOf(op.getSource()).getShape());
    Value no = write.scalar(0, write.integerType(1));
    Value yes = write.scalar(1, write.integerType(1));
    Value nothing = write.scalar(0, getElementTypeOrSelf(operand));
    auto consider = [&](ValueRange now, Value value, Value index) -> Values {
      Value keeps = write.branch(
          now[0], [&] { return write.apply(op.getSelect(), {now[1], value}); },
          [&] { return Values{no}; })[0];
      return {yes, write.select(keeps, now[1], value),
              write.select(keeps, now[2], index)};
    };
    return write.loop(
        product(sizes), ValueRange{no, nothing, write.position(0)},
        [&](Value k, ValueRange now) {
          auto [inside, found] =
              locate(windows, place, write.unflatten(k, sizes), shape);
          Value index = write.select(inside, found, write.position(0));
          Value value = write.elementOf(operand, index);
          return write.branch(
              inside, [&] { return consider(now, value, index); },
              [&] { return Values(now); });
        });
  }

  OpBuilder builder;
  LoopWriter write;
};

void expand(Operation *op) {
  Expansion expansion(op);
  using namespace stablehlo;
  Values rows =
      llvm::TypeSwitch<Operation *, Values>(op)
          .Case([&](MapOp o) { return expansion.map(o); })
          .Case([&](ReduceOp o) { return expansion.reduce(o); })
          .Case([&](ReduceWindowOp o) { return expansion.reduceWindow(o); })
          .Case([&](ScatterOp o) { return expansion.scatter(o); })
          .Case([&](SelectAndScatterOp o) {
            return expansion.selectAndScatter(o);
          })
          .Case([&](SortOp o) { return sortByLoops(o); });
  expansion.replace(op, rows);
}

/// Clones constants that the regions of \p op capture into the regions; merging
/// equal constants causes such captures.
void bringConstantsInside(Operation *op) {
  for (Region &region : op->getRegions()) {
    SetVector<Value> fromOutside;
    getUsedValuesDefinedAbove(region, fromOutside);
    for (Value value : fromOutside)
      if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>()) {
        OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
        replaceAllUsesInRegionWith(
            value, builder.clone(*constant)->getResult(0), region);
      }
  }
}

bool mustExpand(Operation *op) {
  using namespace stablehlo;
  return isa<MapOp, ReduceOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp,
             SortOp>(op) &&
         !hasInlinableRegions(op);
}

} // namespace

void cpu::expandRegions(func::FuncOp function) {
  for (bool changed = true; changed;) {
    SmallVector<Operation *> found;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isControlFlow(op) || op == function)
        return WalkResult::advance();
      bringConstantsInside(op);
      if (mustExpand(op))
        found.push_back(op);
      return WalkResult::skip();
    });
    llvm::for_each(found, expand);
    changed = !found.empty();
  }
}
