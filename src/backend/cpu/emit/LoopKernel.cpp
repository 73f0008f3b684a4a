//===- LoopKernel.cpp - loops over the elements of the results ------------===//

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/ChannelWindows.h"
#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"
#include "backend/cpu/emit/RowParts.h"
#include "backend/cpu/emit/WideSum.h"
#include "backend/cpu/emit/WindowRows.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Sums.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// The loops of one kernel, and what is in them.
class LoopKernel : public KernelBody {
public:
  explicit LoopKernel(KernelOp kernel)
      : kernel(kernel),
        yield(cast<YieldOp>(kernel.getBody().front().getTerminator())),
        root(yield.getValues()[0].getDefiningOp()),
        cost(elementCostOf(kernel)) {
    if (auto concatenate = dyn_cast_or_null<stablehlo::ConcatenateOp>(root);
        concatenate && !hasNamedSizes(concatenate))
      addPieces(concatenate);
    else if (concatenate && concatenate.getDimension() + 1 <
                                dimsOf(concatenate.getResult()).size())
      addRowsOfPieces(concatenate);
    else if (auto reduce = dyn_cast_or_null<stablehlo::ReduceOp>(root);
             reduce && isInRegisters(reduce)) {
      lanesAtOnce = dimsOf(reduce.getInputs()[0]).back().value();
      addElements();
    } else if (reduce && keepsInnermost(reduce))
      addAccumulation(reduce);
    else if (auto transpose = dyn_cast_or_null<stablehlo::TransposeOp>(root);
             transpose && isWorthTiling(transpose))
      addTiles(transpose);
    else
      addElements();
  }

  int64_t tasks() const override {
    int64_t count = 0;
    for (const LoopNest &nest : nests)
      count += nest.tasks();
    return std::max<int64_t>(count, 1);
  }

  std::vector<TaskExtent> taskExtents() const override {
    if (nests.size() == 1)
      return nests.front().taskExtents();
    // Several nests have to know where the tasks of each begin.
    const bool areKnown = llvm::all_of(
        nests, [](const LoopNest &nest) { return isStaticShape(nest.shape); });
    return areKnown ? std::vector<TaskExtent>{{{tasks()}, 1}}
                    : std::vector<TaskExtent>();
  }

  int64_t lanes() const override { return lanesAtOnce; }

  void emit(Elemental &values, Value task, ValueRange outputs, Value) override {
    elemental = &values;
    memory = outputs;
    KernelBuilder &e = values.code;
    int64_t first = 0;
    for (const LoopNest &nest : nests) {
      int64_t end = first + nest.tasks();
      Value here = nests.size() == 1 ? e.boolean(true)
                                     : e.both(e.less(e.index(first - 1), task),
                                              e.less(task, e.index(end)));
      e.when(here, [&] { nest.emitTask(e, e.sub(task, first)); });
      first = end;
    }
  }

private:
  static std::vector<Dim> loopShape(Value tensor) {
    ArrayRef<Dim> shape = dimsOf(tensor);
    return shape.empty() ? std::vector<Dim>{1} : shape.vec();
  }
  /// The loops' position as coordinates in a tensor (a scalar has none).
  static Coordinates coordinatesOf(Value tensor, ArrayRef<Value> outer,
                                   Coordinate last) {
    Coordinates place(outer.begin(), outer.end());
    place.push_back(last);
    if (dimsOf(tensor).empty())
      place.clear();
    return place;
  }

  /// Every element of the results, one after the other.
  void addElements() {
    Value result = yield.getValues()[0];
    LoopNest nest;
    nest.shape = loopShape(result);
    nest.cost = cost;
    if (ChannelWindows::areAll(kernel))
      lanesAtOnce = ChannelWindows::lanes;
    else if (WindowRows::areAll(kernel))
      return addWindowRows();
    else if (looksUpBytes())
      lanesAtOnce = 64;
    parts = RowParts(result, nest.shape.size() - 1);
    if (lanesAtOnce == 1 && !parts.hasCuts() && addRowsOfBlocks())
      return;
    nest.body = [this](ArrayRef<Value> outer, Value begin, Value end) {
      parts.emit(*elemental, outer, begin, end,
                 [&](Value from, Value to) { storeElements(outer, from, to); });
    };
    nests.push_back(std::move(nest));
  }

  void addWindowRows() {
    LoopNest nest;
    nest.shape = loopShape(yield.getValues()[0]);
    nest.cost = cost;
    nest.body = [this, rows = WindowRows(kernel)](ArrayRef<Value> outer,
                                                  Value begin, Value end) {
      rows.emit(*elemental, outer, begin, end,
                [&](Value from, Value to) { storeElements(outer, from, to); });
    };
    nests.push_back(std::move(nest));
  }

  /// Rows of short blocks, as those of an image's channels, are gone over block
  /// by block: a block would be a small task, and cuts of rows have no place in
  /// it.
  bool addRowsOfBlocks() {
    constexpr int64_t longestBlock = 64;
    Value result = yield.getValues()[0];
    LoopNest nest;
    nest.shape = loopShape(result);
    const Dim block = nest.shape.back();
    if (nest.shape.size() < 2 || block > longestBlock)
      return false;
    nest.shape.pop_back();
    if (nest.shape.back() == 1)
      return false;
    parts = RowParts(result, nest.shape.size() - 1);
    nest.cost = cost * double(block.value());
    nest.body = [this, block](ArrayRef<Value> outer, Value begin, Value end) {
      KernelBuilder &e = elemental->code;
      parts.emit(*elemental, outer, begin, end, [&](Value from, Value to) {
        loopFrom(from, to, 1, [&](Value row) {
          SmallVector<Value> rows(outer);
          rows.push_back(row);
          storeElements(rows, e.index(0), e.index(block));
        });
      });
    };
    nests.push_back(std::move(nest));
    return true;
  }

  /// Whether bytes are looked up in tables, and all else is computed in vectors
  /// beside that.
  bool looksUpBytes() {
    Block &body = kernel.getBody().front();
    if (body.getOps<LookupOp>().empty())
      return false;
    ArrayRef<Dim> shape = dimsOf(yield.getValues()[0]);
    return llvm::all_of(body.without_terminator(), [&](Operation &op) {
      return !llvm::any_of(op.getOperands(),
                           [](Value value) { return isComplex(value); }) &&
             op.getNumResults() == 1 &&
             (isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp>(op) ||
              (isElementwise(&op) && dimsOf(op.getResult(0)) == shape));
    });
  }

  void storeElements(ArrayRef<Value> outer, Value begin, Value end) {
    KernelBuilder &e = elemental->code;
    auto storeAt = [&](Coordinate last) {
      for (auto [i, tensor] : llvm::enumerate(yield.getValues())) {
        Coordinates place = coordinatesOf(tensor, outer, last);
        Value value = elemental->at(tensor, place);
        elemental->store(last.lanes ? elemental->splat(value) : value,
                         memory[i], elemental->linearize(place, dimsOf(tensor)),
                         tensorOf(tensor).getElementType());
      }
    };
    const bool looksUp = !kernel.getBody().front().getOps<LookupOp>().empty();
    // Without an instruction for it bytes are looked up one by one.
    if (lanesAtOnce > 1 &&
        (!looksUp || e.permutesBytes || e.shuffledBytes > 0)) {
      Value count = e.sub(end, begin);
      Value whole = e.add(begin, e.mul(e.div(count, lanesAtOnce), lanesAtOnce));
      loopFrom(begin, whole, lanesAtOnce,
               [&](Value last) { storeAt({last, /*lanes=*/true}); });
      begin = whole;
    }
    loopFrom(begin, end, 1, [&](Value last) { storeAt(last); });
  }

  /// A loop that counts from zero where it is known how often it runs, so that
  /// the vectoriser knows it, too.
  void loopFrom(Value begin, Value end, int64_t step,
                llvm::function_ref<void(Value)> body) {
    KernelBuilder &e = elemental->code;
    Value count = e.sub(end, begin);
    std::optional<int64_t> known = e.constantOf(count);
    if (!known || e.constantOf(begin))
      return e.loop(begin, end, step, body);
    if (*known > 0)
      e.loop(e.index(0), count, step, [&](Value i) { body(e.add(begin, i)); });
  }

  /// Each input of a concatenation by loops of its own, without a decision an
  /// element.
  void addPieces(stablehlo::ConcatenateOp op) {
    size_t dim = op.getDimension();
    Dim start = 0;
    for (Value input : op.getInputs()) {
      if (tensorOf(input).getNumElements() == 0)
        continue;
      LoopNest nest;
      nest.shape = loopShape(input);
      nest.cost = cost;
      nest.body = [this, input, start, dim](ArrayRef<Value> outer, Value begin,
                                            Value end) {
        KernelBuilder &e = elemental->code;
        e.loop(begin, end, 1, [&](Value last) {
          Coordinates place = coordinatesOf(input, outer, last);
          Value value = elemental->at(input, place);
          place[dim] = e.add(place[dim].value, start);
          elemental->store(
              value, memory[0],
              elemental->linearize(place, dimsOf(yield.getValues()[0])),
              tensorOf(input).getElementType());
        });
      };
      nests.push_back(std::move(nest));
      start += dimsOf(input)[dim];
    }
  }

  /// Each row of a concatenation of which sizes are named is one of an input,
  /// which is decided once for the row. So are rows of rows of known length:
  /// the pixels of an image whose channels are joined block by block.
  void addRowsOfPieces(stablehlo::ConcatenateOp op) {
    const size_t dim = op.getDimension();
    LoopNest nest;
    nest.shape = loopShape(op.getResult());
    nest.cost = cost;
    std::optional<int64_t> rowLength;
    if (dim + 2 < nest.shape.size() && nest.shape.back().isStatic()) {
      rowLength = nest.shape.back().value();
      nest.cost *= double(*rowLength);
      nest.shape.pop_back();
    }
    nest.body = [this, op, dim, rowLength](ArrayRef<Value> outer, Value begin,
                                           Value end) mutable {
      KernelBuilder &e = elemental->code;
      auto inputs = op.getInputs();
      auto rowOf = [&](size_t input, Value start) {
        auto element = [&](ArrayRef<Value> outer, Value last) {
          Coordinates place = coordinatesOf(inputs[input], outer, last);
          Coordinates source = place;
          source[dim] = e.sub(outer[dim], start);
          elemental->store(
              elemental->at(inputs[input], source), memory[0],
              elemental->linearize(place, dimsOf(yield.getValues()[0])),
              tensorOf(inputs[input]).getElementType());
        };
        e.loop(begin, end, 1, [&](Value last) {
          if (!rowLength)
            return element(outer, last);
          SmallVector<Value> row(outer);
          row.push_back(last);
          e.loop(e.index(0), e.index(*rowLength), 1,
                 [&](Value inRow) { element(row, inRow); });
        });
      };
      auto choose = [&](auto &self, size_t input, Value start) -> void {
        if (input + 1 == inputs.size())
          return rowOf(input, start);
        Value next = e.add(start, e.index(dimsOf(inputs[input])[dim]));
        e.when(
            e.less(outer[dim], next), [&] { rowOf(input, start); },
            [&] { self(self, input + 1, next); });
      };
      choose(choose, 0, e.index(0));
    };
    nests.push_back(std::move(nest));
  }

  //===--------------------------------------------------------------------===//
  // Transposes in tiles, so that the cache lines of both sides are used whole.
  //===--------------------------------------------------------------------===//

  /// The result's dimension along which the operand is contiguous.
  static size_t contiguousDim(stablehlo::TransposeOp op) {
    ArrayRef<int64_t> permutation = op.getPermutation();
    return llvm::find(permutation, int64_t(permutation.size()) - 1) -
           permutation.begin();
  }
  static bool isWorthTiling(stablehlo::TransposeOp op) {
    ArrayRef<Dim> shape = dimsOf(op.getResult());
    if (shape.size() < 2)
      return false;
    const size_t dim = contiguousDim(op);
    const Dim rows = shape[dim], columns = shape.back();
    return dim + 1 != shape.size() && rows >= 4 && columns >= 4 &&
           (rows.isStatic() || columns.isStatic());
  }

  static constexpr int64_t tileRows = 16, tileColumns = 64;

  /// How many rows and columns of a tile are read as vectors along one side and
  /// written as vectors along the other; 1 where it is one by one.
  int64_t blockOf(stablehlo::TransposeOp op) {
    using namespace stablehlo;
    auto isVector = [](Operation &each) {
      return each.getNumRegions() == 0 &&
             !llvm::any_of(each.getOperands(),
                           [](Value value) { return isComplex(value); }) &&
             (isElementwise(&each) ||
              isa<ConstantOp, BroadcastInDimOp, PadOp, ReshapeOp, SliceOp,
                  TransposeOp, YieldOp>(each));
    };
    if (!llvm::all_of(kernel.getBody().front(), isVector))
      return 1;
    const unsigned bits = storageType(tensorOf(op.getResult()).getElementType())
                              .getIntOrFloatBitWidth();
    const int64_t block = bits == 8 ? 16 : bits <= 32 ? 8 : 1;
    ArrayRef<Dim> shape = dimsOf(op.getResult());
    return shape[contiguousDim(op)] >= block && shape.back() >= block ? block
                                                                      : 1;
  }
  static bool isComplex(Value value) {
    return isa<ComplexType>(getElementTypeOrSelf(value.getType()));
  }

  /// Of a named number of rows, or of columns, a tile has as many as a task.
  void addTiles(stablehlo::TransposeOp op) {
    ArrayRef<Dim> shape = dimsOf(op.getResult());
    const size_t dim = contiguousDim(op);
    const Dim columns = shape.back(), rows = shape[dim];
    const bool hasDynamicRows = rows.isDynamic(),
               hasDynamicColumns = columns.isDynamic();
    lanesAtOnce = blockOf(op);
    LoopNest nest;
    nest.cost = cost;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      if (i != dim)
        nest.shape.push_back(shape[i]);
    // The innermost dimension is named, or tiles of columns.
    if (!hasDynamicRows) {
      nest.cost *= double(tileRows);
      nest.shape.push_back(ceilDivide(rows, tileRows));
    }
    if (!hasDynamicColumns) {
      nest.cost *= double(columns.upTo(tileColumns));
      nest.shape.push_back(ceilDivide(columns, tileColumns));
    }
    if (hasDynamicRows || hasDynamicColumns)
      nest.shape.push_back(hasDynamicRows ? rows : columns);
    nest.body = [=, this](ArrayRef<Value> outer, Value begin, Value end) {
      KernelBuilder &e = elemental->code;
      auto placeAt = [&](Coordinate row, Value column) {
        Coordinates place(outer.drop_back().begin(), outer.drop_back().end());
        place.insert(place.begin() + dim, row);
        place.push_back(column);
        return place;
      };
      auto endOf = [&](Value start, int64_t size, Dim all) {
        return e.min(e.add(start, size), e.index(all));
      };
      Value firstRow = begin, endRow = end;
      if (!hasDynamicRows) {
        firstRow = e.mul(outer.back(), tileRows);
        endRow = endOf(firstRow, tileRows, rows);
      }
      if (hasDynamicColumns)
        return emitTile(firstRow, endRow, begin, end, placeAt);
      // A number that is known, as that of a channel among few, decides what is
      // padding.
      if (columns <= tileColumns)
        return emitTile(firstRow, endRow, e.index(0), e.index(columns),
                        placeAt);
      auto tile = [&](Value number) {
        Value first = e.mul(number, tileColumns);
        emitTile(firstRow, endRow, first, endOf(first, tileColumns, columns),
                 placeAt);
      };
      if (hasDynamicRows)
        return tile(outer.back());
      e.loop(begin, end, 1, tile);
    };
    nests.push_back(std::move(nest));
  }

  using PlaceAt = llvm::function_ref<Coordinates(Coordinate row, Value column)>;

  /// Rows and columns from the first to the ends: in blocks, and what is left
  /// one by one.
  void emitTile(Value firstRow, Value endRow, Value first, Value last,
                PlaceAt placeAt) {
    KernelBuilder &e = elemental->code;
    const int64_t block = lanesAtOnce;
    auto whole = [&](Value begin, Value end) {
      return e.add(begin, e.mul(e.div(e.sub(end, begin), block), block));
    };
    auto oneByOne = [&](Value beginRow, Value beginColumn) {
      e.loop(beginRow, endRow, 1, [&](Value row) {
        e.loop(beginColumn, last, 1,
               [&](Value column) { storeAt(placeAt(row, column)); });
      });
    };
    if (block == 1)
      return oneByOne(firstRow, first);
    Value rows = whole(firstRow, endRow), columns = whole(first, last);
    // What is padding is decided for each column once, where it has a number.
    std::optional<int64_t> begin = e.constantOf(first),
                           end = e.constantOf(columns);
    const bool hasPadding =
        !kernel.getBody().front().getOps<stablehlo::PadOp>().empty();
    e.loop(firstRow, rows, block, [&](Value row) {
      if (!begin || !end || !hasPadding)
        e.loop(first, columns, block,
               [&](Value column) { emitBlock(row, column, placeAt); });
      else
        for (int64_t column = *begin; column < *end; column += block)
          emitBlock(row, e.index(column), placeAt);
      e.loop(row, e.add(row, block), 1, [&](Value each) {
        e.loop(columns, last, 1,
               [&](Value column) { storeAt(placeAt(each, column)); });
      });
    });
    oneByOne(rows, first);
  }

  void storeAt(const Coordinates &place) {
    Value result = yield.getValues()[0];
    elemental->store(elemental->at(result, place), memory[0],
                     elemental->linearize(place, dimsOf(result)),
                     tensorOf(result).getElementType());
  }

  /// As many vectors along the rows as they have elements become such along the
  /// columns: each round puts the elements of the first half between those of
  /// the second.
  void emitBlock(Value row, Value column, PlaceAt placeAt) {
    KernelBuilder &e = elemental->code;
    const int64_t block = lanesAtOnce;
    Value result = yield.getValues()[0];
    Type element = tensorOf(result).getElementType();
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < block; ++i) {
      Value value = elemental->at(
          result, placeAt({row, /*lanes=*/true}, e.add(column, i)));
      vectors.push_back(elemental->stored(elemental->splat(value), element));
    }
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < block / 2; ++i) {
      low.append({i, block + i});
      high.append({block / 2 + i, block + block / 2 + i});
    }
    for (int64_t round = 1; round < block; round *= 2) {
      SmallVector<Value> next;
      for (int64_t i = 0; i < block / 2; ++i)
        for (ArrayRef<int64_t> order : {ArrayRef(low), ArrayRef(high)})
          next.push_back(e.create<vector::ShuffleOp>(
              vectors[i], vectors[i + block / 2], order));
      vectors = std::move(next);
    }
    for (auto [i, vector] : llvm::enumerate(vectors)) {
      Coordinates place = placeAt(e.add(row, int64_t(i)), column);
      e.builder.create<vector::StoreOp>(
          e.loc, vector, memory[0],
          ValueRange{elemental->linearize(place, dimsOf(result))});
    }
  }

  static bool keepsInnermost(stablehlo::ReduceOp op) {
    int64_t last = tensorOf(op.getInputs()[0]).getRank() - 1;
    return last >= 0 && !op.getDimensions().empty() &&
           !llvm::is_contained(op.getDimensions(), last) &&
           dimsOf(op.getInputs()[0]).back() > 1;
  }

  /// Whether a row of \p op's result is one vector, as that of the channels of
  /// a block: it stays in a register while what is reduced is gone over.
  bool isInRegisters(stablehlo::ReduceOp op) {
    constexpr int64_t fewest = 4, most = 64;
    if (!keepsInnermost(op) || stablehlo::carriedInF32(op.getBody()))
      return false;
    const int64_t size = dimsOf(op.getInputs()[0]).back().valueOr(most + 1);
    auto isReal = [](Value value) {
      return !isa<ComplexType>(getElementTypeOrSelf(value.getType()));
    };
    return size >= fewest && size <= most && llvm::isPowerOf2_64(size) &&
           ChannelWindows::takesVectors(op.getBody()) &&
           llvm::all_of(kernel.getBody().front(), [&](Operation &each) {
             return llvm::all_of(each.getOperands(), isReal) &&
                    (isElementwise(&each) || &each == op ||
                     isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp,
                         YieldOp>(each));
           });
  }

  /// A reduction over outer dimensions: whole rows are added to the result's
  /// row, so that memory is read in order and neighbours are computed together.
  void addAccumulation(stablehlo::ReduceOp op) {
    LoopNest nest;
    nest.shape = loopShape(op.getResults()[0]);
    nest.cost = cost;
    nest.body = [this, op](ArrayRef<Value> outer, Value begin,
                           Value end) mutable {
      accumulateRow(op, outer, begin, end);
    };
    nests.push_back(std::move(nest));
  }

  /// Element \p last of a row of \p op's result, where the loops stand.
  Value offsetInResult(stablehlo::ReduceOp op, ArrayRef<Value> outer,
                       Value last) {
    Value result = op.getResults()[0];
    return elemental->linearize(coordinatesOf(result, outer, last),
                                dimsOf(result));
  }

  /// Goes over what is reduced; \p combine is given the place of an element of
  /// the inputs, which lies above element `last` of a row of the result.
  void goOver(
      stablehlo::ReduceOp op, ArrayRef<Value> outer, Value begin, Value end,
      llvm::function_ref<void(Value last, const Coordinates &source)> combine) {
    KernelBuilder &e = elemental->code;
    ArrayRef<Dim> shape = dimsOf(op.getInputs()[0]);
    SmallVector<int64_t> reduced(op.getDimensions());
    SmallVector<Dim> sizes;
    llvm::sort(reduced);
    for (int64_t dim : reduced)
      sizes.push_back(shape[dim]);
    e.loops(sizes, [&](ArrayRef<Value> position) {
      e.loop(begin, end, 1, [&](Value last) {
        Coordinates source;
        size_t nextReduced = 0, nextKept = 0;
        for (int64_t dim = 0; dim + 1 < int64_t(shape.size()); ++dim)
          source.push_back(llvm::is_contained(reduced, dim)
                               ? position[nextReduced++]
                               : outer[nextKept++]);
        source.push_back(last);
        combine(last, source);
      });
    });
  }

  void accumulateRow(stablehlo::ReduceOp op, ArrayRef<Value> outer, Value begin,
                     Value end) {
    if (std::optional<StringRef> wide = stablehlo::carriedInF32(op.getBody()))
      return accumulateWideRow(op, *wide, outer, begin, end);
    KernelBuilder &e = elemental->code;
    auto elementType = [&](size_t i) {
      return tensorOf(op.getResults()[i]).getElementType();
    };
    e.loop(begin, end, 1, [&](Value last) {
      for (auto [i, init] : llvm::enumerate(op.getInitValues())) {
        Value value = elemental->at(init, ArrayRef<Coordinate>());
        value = emitConvert(e, value, tensorOf(init).getElementType(),
                            elementType(i));
        elemental->store(value, memory[i], offsetInResult(op, outer, last),
                         elementType(i));
      }
    });
    goOver(op, outer, begin, end, [&](Value last, const Coordinates &source) {
      Value offset = offsetInResult(op, outer, last);
      SmallVector<Value> arguments;
      for (size_t i = 0; i < op.getNumResults(); ++i)
        arguments.push_back(elemental->load(memory[i], offset, elementType(i)));
      for (auto [i, input] : llvm::enumerate(op.getInputs()))
        arguments.push_back(emitConvert(e, elemental->at(input, source),
                                        tensorOf(input).getElementType(),
                                        elementType(i)));
      SmallVector<Value> results =
          elemental->inlineRegion(op.getBody(), arguments);
      for (auto [i, value] : llvm::enumerate(results))
        elemental->store(value, memory[i], offset, elementType(i));
    });
  }

  /// The same with the row in f32, a piece of it at a time.
  void accumulateWideRow(stablehlo::ReduceOp op, StringRef operation,
                         ArrayRef<Value> outer, Value begin, Value end) {
    constexpr int64_t piece = 1024;
    KernelBuilder &e = elemental->code;
    Type f32 = e.builder.getF32Type();
    Type element = tensorOf(op.getResults()[0]).getElementType();
    Value sums = createScratch(e.builder, e.loc, MemRefType::get({piece}, f32));
    e.loop(begin, end, piece, [&](Value first) {
      Value here = e.min(e.add(first, piece), end);
      Value init = op.getInitValues()[0];
      e.loop(first, here, 1, [&](Value last) {
        Value start = elemental->at(init, ArrayRef<Coordinate>());
        elemental->store(emitConvert(e, start, elementOf(init), f32), sums,
                         e.sub(last, first), f32);
      });
      goOver(
          op, outer, first, here, [&](Value last, const Coordinates &source) {
            Value input = op.getInputs()[0], at = e.sub(last, first);
            Value next = emitConvert(e, elemental->at(input, source),
                                     elementOf(input), f32);
            Value sum = elemental->load(sums, at, f32);
            elemental->store(emitWide(e, operation, sum, next), sums, at, f32);
          });
      e.loop(first, here, 1, [&](Value last) {
        Value sum = elemental->load(sums, e.sub(last, first), f32);
        elemental->store(emitConvert(e, sum, f32, element), memory[0],
                         offsetInResult(op, outer, last), element);
      });
    });
  }

  KernelOp kernel;
  YieldOp yield;
  Operation *root;
  double cost;
  int64_t lanesAtOnce = 1;
  RowParts parts;
  std::vector<LoopNest> nests;
  Elemental *elemental = nullptr;
  ValueRange memory;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createLoopKernel(KernelOp kernel) {
  return std::make_unique<LoopKernel>(kernel);
}
