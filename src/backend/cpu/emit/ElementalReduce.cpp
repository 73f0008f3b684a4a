//===- ElementalReduce.cpp - elements of reductions and products ----------===//
//
// The plain form of what the generators in kernels/ do better where they apply:
// loops around multiply-adds, for every shape, type and attribute.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/ArgMinMax.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/Reduction.h"
#include "backend/cpu/ir/Scans.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/Sums.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

//===----------------------------------------------------------------------===//
// Sums of vectors
//===----------------------------------------------------------------------===//

static bool isSumOfFloats(stablehlo::ReduceOp op) {
  return op.getInputs().size() == 1 &&
         isa<FloatType>(elementOf(op.getInputs()[0])) &&
         stablehlo::soleOperation(op.getBody()) ==
             stablehlo::AddOp::getOperationName();
}

/// So many sums are taken side by side, of neighbours along the last dimension,
/// where that has as many: additions that wait for one another take four cycles
/// each, in which as many elements come from the second-level cache, and a sum
/// of many numbers loses more digits than sums of sums.
static constexpr int64_t chainCount = 4;

/// Rows of so many elements for each chain are summed up by themselves.
static constexpr int64_t longRow = 8;

/// A sum over \p sizes in chains, which are added at the end, two by two;
/// \p ofRows where rows are summed up by themselves. \p combine adds the
/// element at a position to what it is given.
static Values
sumInChains(const Reduction &reduction, ArrayRef<Dim> sizes, bool ofRows,
            const Values &start,
            llvm::function_ref<Values(ArrayRef<Value>, ValueRange)> combine) {
  KernelBuilder &e = reduction.elemental.code;
  Value last = e.index(sizes.back()),
        whole = e.sub(last, e.rem(last, chainCount));
  // What is added to is not changed by -0.
  Value none = reduction.elemental.splat(e.create<arith::ConstantOp>(
      e.builder.getFloatAttr(elementOf(start[0]), -0.0)));
  Values zeros(chainCount, none), chains = zeros;
  chains[0] = start[0];
  auto row = [&](ArrayRef<Value> outer, ValueRange carried) {
    SmallVector<Value> position(outer);
    position.push_back({});
    auto addAt = [&](Value at, Value chain) {
      position.back() = at;
      return combine(position, chain)[0];
    };
    Values sums = e.loop(e.index(0), whole, chainCount, carried,
                         [&](Value i, ValueRange inner) {
                           Values next;
                           for (int64_t each = 0; each < chainCount; ++each)
                             next.push_back(addAt(e.add(i, each), inner[each]));
                           return next;
                         });
    for (int64_t chain = 0; chain + 1 < chainCount; ++chain) {
      Value at = e.add(whole, chain);
      sums[chain] = e.branch(
          e.less(at, last), [&] { return Values{addAt(at, sums[chain])}; },
          [&] { return Values{sums[chain]}; })[0];
    }
    return sums;
  };
  auto add = [&](Value a, Value b) { return reduction.combine(a, b)[0]; };
  chains = e.loops(sizes.drop_back(), chains,
                   [&](ArrayRef<Value> outer, ValueRange carried) {
                     if (!ofRows)
                       return row(outer, carried);
                     Values sums = row(outer, zeros);
                     for (auto [sum, total] : llvm::zip(sums, carried))
                       sum = add(total, sum);
                     return sums;
                   });
  for (int64_t half = chainCount / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      chains[i] = add(chains[i], chains[i + half]);
  return {chains[0]};
}

std::optional<Values> Elemental::reduceAt(stablehlo::ReduceOp op, Place place) {
  if (hasLanes(place) && Reduction::hasComplex(op.getBody()))
    return std::nullopt;
  Reduction reduction{*this, op.getBody(), hasLanes(place)};
  ArrayRef<Dim> shape = dimsOf(op.getInputs()[0]);
  SmallVector<int64_t> reduced(op.getDimensions());
  llvm::sort(reduced);
  SmallVector<Dim> sizes;
  for (int64_t dim : reduced)
    sizes.push_back(shape[dim]);
  auto sourceOf = [&](ArrayRef<Value> position) {
    Coordinates source;
    size_t nextKept = 0, nextReduced = 0;
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      source.push_back(llvm::is_contained(reduced, dim)
                           ? Coordinate(position[nextReduced++])
                           : place[nextKept++]);
    return source;
  };
  reduction.minMax = Reduction::floatMinMax(op.getBody());
  if (reduction.minMax.empty())
    reduction.wideOperation = wideOperation(op.getBody());
  Values start = reduction.start(op.getInitValues());
  auto inChains = [&](bool ofRows) {
    return reduction.finish(sumInChains(
        reduction, sizes, ofRows, start,
        [&](ArrayRef<Value> position, ValueRange carried) {
          return reduction.combine(carried, op.getInputs(), sourceOf(position));
        }));
  };
  auto inOrder = [&] {
    return reduction.finish(code.loops(
        sizes, start, [&](ArrayRef<Value> position, ValueRange carried) {
          return reduction.combine(carried, op.getInputs(), sourceOf(position));
        }));
  };
  if (hasLanes(place) && isSumOfFloats(op)) {
    const Dim last = sizes.empty() ? Dim(0) : sizes.back();
    const bool hasRows = sizes.size() > 1;
    // A dynamic size has the order that a known one has, whatever that is.
    auto isBelow = [&](int64_t bound) {
      return code.less(code.index(last), code.index(bound));
    };
    return code.branch(isBelow(chainCount), inOrder, [&] {
      return code.branch(
          hasRows ? isBelow(chainCount * longRow) : code.boolean(true),
          [&] { return inChains(false); }, [&] { return inChains(true); });
    });
  }
  std::optional<ArgMinMax> arg;
  if (reduction.minMax.empty() && !hasLanes(place))
    arg = ArgMinMax::of(op);
  return arg ? arg->emit(
                   *this, start,
                   [&](Value index) { return sourceOf(ArrayRef(index)); },
                   inOrder)
             : inOrder();
}

static bool isTrivial(const stablehlo::WindowDimension &w) {
  return w.size == 1 && w.stride == 1 && w.paddingLow == 0 &&
         w.paddingHigh == 0 && w.baseDilation == 1;
}

std::optional<Values> Elemental::reduceWindowAt(stablehlo::ReduceWindowOp op,
                                                Place place) {
  if (hasLanes(place) && Reduction::hasComplex(op.getBody()))
    return std::nullopt;
  ArrayRef<Dim> shape = dimsOf(op.getInputs()[0]);
  stablehlo::ConvolutionWindow windows = op.getWindow();
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (place[dim].lanes && !isTrivial(windows[dim]))
      return std::nullopt;
  // Windows are small, and prefix sums should not depend on their order.
  Reduction reduction{*this, op.getBody(), hasLanes(place),
                      /*reassociate=*/false, wideOperation(op)};
  const Values start = reduction.start(op.getInitValues());
  const std::optional<stablehlo::Scan> scan =
      Reduction::mayReassociate(op.getBody())
          ? stablehlo::scanOf(shape, windows)
          : std::nullopt;
  const bool pads = seesPadding(op);
  Coordinates source;
  Value inside = code.boolean(true);
  auto nest = [&](auto &self, size_t dim, ValueRange carried) -> Values {
    if (dim == shape.size()) {
      Coordinates here(source);
      return code.branch(
          inside,
          [&] { return reduction.combine(carried, op.getInputs(), here); },
          [&] {
            return pads ? reduction.combine(carried, start) : Values(carried);
          });
    }
    if (isTrivial(windows[dim])) {
      source.push_back(place[dim]);
      Values result = self(self, dim + 1, carried);
      source.pop_back();
      return result;
    }
    const stablehlo::WindowDimension &w = windows[dim];
    WindowRange range = WindowRange::of(code, place[dim].value, shape[dim], w);
    if (pads) {
      range.begin = code.index(0);
      range.end = code.index(w.size);
    }
    return code.loop(
        range.begin, range.end, 1, carried, [&](Value i, ValueRange inner) {
          if (scan && scan->isReverse && scan->dim == dim)
            i = code.sub(code.add(range.begin, code.add(range.end, -1)), i);
          Value index = code.add(range.first, code.mul(i, w.windowDilation));
          Value outer = inside;
          if (pads) {
            Value end = code.mul(code.index(shape[dim]), w.baseDilation);
            inside =
                code.both(inside, code.both(code.less(code.index(-1), index),
                                            code.less(index, end)));
          }
          if (range.mustCheck) {
            inside =
                code.both(inside, code.equal(code.rem(index, w.baseDilation),
                                             code.index(0)));
            index = code.div(index, w.baseDilation);
          }
          source.push_back(index);
          Values result = self(self, dim + 1, inner);
          source.pop_back();
          inside = outer;
          return result;
        });
  };
  return reduction.finish(nest(nest, 0, start));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A sum of products: in f32 for narrower floats.
struct ProductSum {
  KernelBuilder &code;
  Type result;
  /// Whether products are added in any order, without being rounded first. Of a
  /// few nothing is gained by it: they are summed as the interpreter does.
  bool mayFuse = true;
  Type accumulator = isa<FloatType>(result) && !result.isF64()
                         ? Type(Float32Type::get(result.getContext()))
                         : result;

  Value zero() const {
    Type type = valueType(accumulator);
    if (auto complexType = dyn_cast<ComplexType>(type)) {
      Builder &b = code.builder;
      Attribute part = b.getZeroAttr(complexType.getElementType());
      return code.create<complex::ConstantOp>(complexType,
                                              b.getArrayAttr({part, part}));
    }
    return code.create<arith::ConstantOp>(code.builder.getZeroAttr(type));
  }
  Value add(Value sum, Value a, Type aType, Value b, Type bType) const {
    return emitMultiplyAdd(code, emitConvert(code, a, aType, accumulator),
                           emitConvert(code, b, bType, accumulator), sum,
                           mayFuse);
  }
  Value finish(Value sum) const {
    return emitConvert(code, sum, accumulator, result);
  }
};
} // namespace

std::optional<Values> Elemental::dotAt(stablehlo::DotGeneralOp op,
                                       Place place) {
  if (hasLanes(place))
    return std::nullopt;
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  const Axes axes = *axesOf(op);
  auto coordinatesOf = [&](unsigned operand) {
    Coordinates coordinates(axes.operands[operand].size());
    for (auto [dim, coordinate] : llvm::enumerate(coordinates))
      if (auto there = axes.resultOf(operand, dim))
        coordinate = place[*there];
    return coordinates;
  };
  Coordinates left = coordinatesOf(0), right = coordinatesOf(1);
  SmallVector<Dim> sizes;
  for (int64_t dim : lhs.contracting)
    sizes.push_back(dimsOf(lhs.value)[dim]);
  ProductSum sum{code, elementOf(op.getResult())};
  Values total = code.loops(
      sizes, sum.zero(), [&](ArrayRef<Value> position, ValueRange carried) {
        for (auto [i, index] : llvm::enumerate(position)) {
          left[lhs.contracting[i]] = index;
          right[rhs.contracting[i]] = index;
        }
        return Values{sum.add(carried[0], at(lhs.value, left),
                              elementOf(lhs.value), at(rhs.value, right),
                              elementOf(rhs.value))};
      });
  return Values{sum.finish(total[0])};
}

std::optional<Values> Elemental::convolutionAt(stablehlo::ConvolutionOp op,
                                               Place place) {
  if (hasLanes(place))
    return std::nullopt;
  auto numbers = op.getDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  const Dim outputFeatures =
      dimsOf(rhs)[numbers.getKernelOutputFeatureDimension()];
  const Dim inputFeatures =
      dimsOf(rhs)[numbers.getKernelInputFeatureDimension()];
  int64_t groups = op.getFeatureGroupCount();
  int64_t batchGroups = op.getBatchGroupCount();
  Value feature = place[numbers.getOutputFeatureDimension()].value;
  Value batch = place[numbers.getOutputBatchDimension()].value;
  // The group an output feature belongs to takes its own part of the input's
  // features, or of its batch.
  int64_t parts = std::max(groups, batchGroups);
  Value group = code.div(feature, outputFeatures / parts);
  if (batchGroups > 1) {
    Value images = code.div(
        code.index(dimsOf(lhs)[numbers.getInputBatchDimension()]), batchGroups);
    batch = code.add(code.mul(group, images), batch);
  }
  Coordinates left(dimsOf(lhs).size()), right(dimsOf(rhs).size());
  left[numbers.getInputBatchDimension()] = batch;
  right[numbers.getKernelOutputFeatureDimension()] = feature;

  constexpr int64_t fewProducts = 16;
  // Of a number that is not known there may be many.
  const bool hasMany =
      !tensorOf(rhs).hasStaticShape() ||
      (outputFeatures != 0 &&
       outputFeatures * fewProducts < tensorOf(rhs).getNumElements());
  ProductSum sum{code, elementOf(op.getResult()), hasMany};
  stablehlo::ConvolutionWindow windows = op.getWindow();
  Value inside = code.boolean(true);
  auto overFeatures = [&](ValueRange carried) -> Values {
    return code.loop(
        code.index(0), code.index(inputFeatures), 1, carried,
        [&](Value i, ValueRange inner) {
          left[numbers.getInputFeatureDimension()] =
              groups > 1 ? code.add(code.mul(group, inputFeatures), i) : i;
          right[numbers.getKernelInputFeatureDimension()] = i;
          return Values{sum.add(inner[0], at(lhs, left), elementOf(lhs),
                                at(rhs, right), elementOf(rhs))};
        });
  };
  auto nest = [&](auto &self, size_t dim, ValueRange carried) -> Values {
    if (dim == windows.size())
      return code.branch(
          inside, [&] { return overFeatures(carried); },
          [&] { return Values(carried); });
    const stablehlo::WindowDimension &w = windows[dim];
    int64_t inputDim = numbers.getInputSpatialDimensions()[dim];
    int64_t kernelDim = numbers.getKernelSpatialDimensions()[dim];
    Value at = place[numbers.getOutputSpatialDimensions()[dim]].value;
    WindowRange range = WindowRange::of(code, at, dimsOf(lhs)[inputDim], w);
    return code.loop(
        range.begin, range.end, 1, carried, [&](Value i, ValueRange inner) {
          Value outer = inside;
          Value index = code.add(range.first, code.mul(i, w.windowDilation));
          if (range.mustCheck) {
            inside =
                code.both(inside, code.equal(code.rem(index, w.baseDilation),
                                             code.index(0)));
            index = code.div(index, w.baseDilation);
          }
          left[inputDim] = index;
          right[kernelDim] =
              w.reversed ? code.sub(code.index(Dim(w.size) - 1), i) : i;
          Values result = self(self, dim + 1, inner);
          inside = outer;
          return result;
        });
  };
  return Values{sum.finish(nest(nest, 0, sum.zero())[0])};
}
