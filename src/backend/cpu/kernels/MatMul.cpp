//===- MatMul.cpp - generator of matrix products --------------------------===//

#include "backend/cpu/kernels/MatMul.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The buffers, flat, and where the matrices of this task begin in them.
struct MatMul::Operands {
  Value a, b, c, scratch;
  MatMulNumbers numbers;
  Value aBase, bBase, cBase;
  MatMulPosition position;
  const MatMulEpilogue *epilogue;
  int64_t firstDepth, endDepth; ///< The steps of the reduction.
  Value unit;                   ///< The number of the tile's rows.
  MatMulExtents extents;        ///< What is open of its size.
};

/// A panel of columns.
struct MatMul::Panel {
  Value firstColumn;
  int64_t vectors; ///< How many vectors it has,
  int64_t valid;   ///< and how many lanes of the last one are columns of B.
  Value source;    ///< The buffer that its rows are read from,
  Value offset;    ///< where its first row is there,
  int64_t stride;  ///< and how far apart rows are.
  bool isPadded;   ///< Whole vectors can be read.
  Value numbers;   ///< Where its scales and zero points begin.
  Value left;      ///< Of one vector that may reach beyond the columns: how
                   ///< many there are from its first one on.
};

/// What is computed in registers.
struct MatMul::Tile {
  RegisterTile registers;
  const Operands &operands;
  const Panel &panel;
  Value aBase; ///< Where its first row of A begins.

  int64_t size() const { return registers.rows * registers.vectors; }
};

/// Some steps of a reduction.
struct MatMul::Range {
  Value first;
  int64_t steps;
  int64_t lastValid; ///< Products of the last one.
};

/// What columns are multiplied by as they are widened, and what is taken off
/// before, a vector each of the panel; empty where nothing is.
struct MatMul::Numbers {
  SmallVector<Value> scales, zeros;
};

void MatMul::build(OpBuilder &builder, Location location, Value task, Value a,
                   Value b, Value c, Value scratch,
                   const MatMulEpilogue &epilogue, const MatMulOrigin *origin,
                   int64_t stage, const MatMulNumbers &numbers,
                   const MatMulExtents &extents) const {
  VectorBuilder code(builder, location);
  Operands operands{code.flatten(a),
                    code.flatten(b),
                    code.flatten(c),
                    scratch ? code.flatten(scratch) : Value(),
                    {},
                    code.index(0),
                    code.index(0),
                    code.index(0),
                    {},
                    &epilogue,
                    firstStep(stage),
                    firstStep(stage + 1),
                    {},
                    extents};
  if (numbers.scales)
    operands.numbers.scales = code.flatten(numbers.scales);
  if (numbers.zeros)
    operands.numbers.zeros = code.flatten(numbers.zeros);
  if (origin) {
    operands.aBase = origin->a;
    operands.bBase = origin->b;
    operands.cBase = origin->c;
  }
  if (!shape.openRows.empty()) {
    operands.extents.rows = code.index(1);
    for (int64_t size : shape.openRows)
      operands.extents.rows = code.mul(operands.extents.rows, size);
  }
  // In as many parts as hold the rows that there are.
  auto openUnits = [&] {
    Value tiles = openTiles(code, operands);
    return copiesPanels() ? code.div(code.add(tiles, rowBlocks.size - 1),
                                     rowBlocks.size)
                          : tiles;
  };
  TaskOrder::Task place =
      hasOpenRows() && (!copiesPanels() || widensPanels())
          ? order.decode(code, task, openUnits())
          : order.decode(code, task);

  if (widensPanels() && !shape.openRows.empty()) {
    // Of few rows there is one task a panel, which takes one tile after the
    // other.
    MatMulShape inTiles = shape;
    inTiles.widensInTiles = true;
    const MatMul few(inTiles, target, packing);
    auto buildFew = [&] {
      Value tiles = few.openTiles(code, operands);
      code.loop(code.index(0), tiles, 1, [&](Value tile) {
        Value part = code.add(code.mul(tile, order.panels), place.panel);
        few.build(builder, location, part, a, b, c, Value(), epilogue, nullptr,
                  0, numbers);
      });
    };
    auto buildMany = [&] { buildPanels(code, operands, place); };
    Value isFew = code.less(operands.extents.rows,
                            code.index(leastWidenedRows(packing)));
    return code.when(isFew, buildFew, buildMany);
  }
  buildPanels(code, operands, place);
}

void MatMul::buildPanels(VectorBuilder &code, Operands &operands,
                         const TaskOrder::Task &place) const {
  Value rest = place.outer;
  operands.position.batch.resize(shape.batch.size());
  for (size_t d = shape.batch.size(); d-- > 0;) {
    const MatMulShape::BatchDim &dim = shape.batch[d];
    Value i = d == 0 ? rest : code.rem(rest, dim.size);
    rest = code.div(rest, dim.size);
    operands.position.batch[d] = i;
    auto advance = [&](Value &base, int64_t stride) {
      base = code.add(base, code.mul(i, stride));
    };
    advance(operands.aBase, dim.aStride);
    advance(operands.bBase, dim.bStride);
    advance(operands.cBase, dim.cStride);
  }

  auto emitPanel = [&](int64_t vectors, int64_t valid) {
    Panel panel{
        code.mul(place.panel, panelVectors * lanes),
        vectors,
        valid,
        operands.b,
        Value(),
        vectors * vectorElements(),
        true,
        code.mul(place.panel, shape.blockCount() * panelVectors * lanes),
        Value()};
    switch (shape.bLayout) {
    case MatMulShape::BLayout::Packed:
      panel.offset = code.mul(place.panel, panelElements());
      if (!widensPanels())
        break;
      panel.source = operands.scratch;
      widenPanel(code, operands, panel,
                 std::exchange(panel.offset, code.index(-operands.firstDepth *
                                                        panel.stride)));
      break;
    case MatMulShape::BLayout::Rows:
      panel.offset = code.add(operands.bBase, panel.firstColumn);
      panel.stride = shape.bStride;
      panel.isPadded = false;
      break;
    case MatMulShape::BLayout::CopiedRows:
      panel.source = operands.scratch;
      panel.offset = code.index(0);
      copyRows(code, operands, panel);
      break;
    case MatMulShape::BLayout::Transposed:
      panel.source = operands.scratch;
      panel.offset = code.index(0);
      packTransposed(code, operands, panel);
      break;
    }
    buildPanel(code, operands, panel, place.unit);
  };

  if (shape.clipsColumns) {
    Value firstColumn = code.mul(place.panel, panelVectors * lanes);
    Value left = code.sub(operands.extents.columns, firstColumn);
    code.when(
        code.less(left, code.index(panelVectors * lanes)),
        [&] { buildClipped(code, operands, firstColumn, left, place.unit); },
        [&] { emitPanel(panelVectors, lanes); });
    return;
  }

  // Only the last panel can differ from the others.
  int64_t lastVectors = allVectors - (order.panels - 1) * panelVectors;
  int64_t lastValid = shape.n - (allVectors - 1) * lanes;
  bool lastDiffers = lastVectors != panelVectors || lastValid != lanes;
  if (!lastDiffers || order.panels == 1)
    return emitPanel(lastVectors, lastValid);
  code.when(
      code.less(place.panel, code.index(order.panels - 1)),
      [&] { emitPanel(panelVectors, lanes); },
      [&] { emitPanel(lastVectors, lastValid); });
}

void MatMul::buildClipped(VectorBuilder &code, Operands &operands,
                          Value firstColumn, Value left, Value unit) const {
  Value vectors =
      code.div(code.add(code.max(left, code.index(0)), lanes - 1), lanes);
  code.loop(code.index(0), vectors, 1, [&](Value vector) {
    Value column = code.mul(vector, lanes);
    Panel panel{code.add(firstColumn, column),
                1,
                lanes,
                operands.b,
                Value(),
                shape.bStride,
                false,
                Value(),
                code.sub(left, column)};
    if (shape.bLayout == MatMulShape::BLayout::Transposed) {
      panel.source = operands.scratch;
      panel.offset = code.index(0);
      panel.stride = lanes;
      panel.isPadded = true;
      packTransposed(code, operands, panel);
    } else {
      panel.offset = code.add(operands.bBase, panel.firstColumn);
    }
    buildPanel(code, operands, panel, unit);
  });
}

void MatMul::storeClipped(VectorBuilder &code, Operands &operands,
                          const Panel &panel, Value firstRow,
                          ValueRange sums) const {
  auto type = cast<VectorType>(sums[0].getType());
  Value kept = createScratch(code.builder, code.loc,
                             MemRefType::get({lanes}, type.getElementType()));
  MatMulPosition &position = operands.position;
  auto store = [&](Value vector, Value column) {
    position.column = code.add(panel.firstColumn, column);
    position.offset = code.add(
        code.add(operands.cBase, code.mul(position.row, shape.cRowStride)),
        position.column);
    if (*operands.epilogue)
      vector = (*operands.epilogue)(code.builder, code.loc, vector, position);
    code.store(vector, operands.c, position.offset);
  };
  forRows(code, sums, 1, [&](Value row, ValueRange results) {
    position.row = code.add(firstRow, row);
    code.when(
        code.less(panel.left, code.index(lanes)),
        [&] {
          code.store(results[0], kept, code.index(0));
          // Halves, quarters, and so on.
          for (int64_t count = lanes / 2; count > 0; count /= 2) {
            Value done = code.mul(code.div(panel.left, 2 * count), 2 * count);
            Value isLeft =
                code.less(code.index(count - 1), code.sub(panel.left, done));
            code.when(isLeft, [&] {
              store(code.load(kept, done,
                              VectorType::get({count}, type.getElementType())),
                    done);
            });
          }
        },
        [&] { store(results[0], code.index(0)); });
  });
}

void MatMul::buildPanel(VectorBuilder &code, Operands &operands,
                        const Panel &panel, Value unit) const {
  auto emitUnit = [&](Value unit) {
    operands.unit = unit;
    Value firstRow = rowTiles.start(code, unit);
    if (hasOpenRows())
      return buildOpenTile(code, operands, panel, firstRow);
    rowTiles.dispatch(code, unit, [&](int64_t rows) {
      buildTile(code, operands, panel, firstRow, rows);
    });
  };
  if (!copiesPanels())
    return emitUnit(unit);
  Value end = rowBlocks.start(code, code.add(unit, 1));
  if (hasOpenRows())
    end = code.min(end, openTiles(code, operands));
  code.loop(rowBlocks.start(code, unit), end, 1,
            [&](Value tile) { emitUnit(tile); });
}

/// How many tiles hold the rows that there are.
Value MatMul::openTiles(VectorBuilder &code, const Operands &operands) const {
  return code.div(code.add(operands.extents.rows, rowTiles.size - 1),
                  rowTiles.size);
}

Value MatMul::tasksFor(VectorBuilder &code, Value rows) const {
  return code.mul(code.div(code.add(rows, rowTiles.size - 1), rowTiles.size),
                  order.panels);
}

/// A whole tile, or what is left of the rows: tiles of half as many, and so on.
void MatMul::buildOpenTile(VectorBuilder &code, Operands &operands,
                           const Panel &panel, Value firstRow) const {
  const int64_t whole = rowTiles.size;
  Value left = code.sub(operands.extents.rows, firstRow);
  auto emitRest = [&] {
    int64_t rows = llvm::bit_floor(static_cast<uint64_t>(whole));
    if (rows == whole)
      rows /= 2;
    for (; rows > 0; rows /= 2) {
      // The larger ones have taken all but what is left by twice as many rows.
      Value done = code.mul(code.div(left, 2 * rows), 2 * rows);
      Value isLeft = code.less(code.index(rows - 1), code.sub(left, done));
      code.when(isLeft, [&] {
        buildTile(code, operands, panel, code.add(firstRow, done), rows);
      });
    }
  };
  code.when(code.less(left, code.index(whole)), emitRest,
            [&] { buildTile(code, operands, panel, firstRow, whole); });
}

void MatMul::buildTile(VectorBuilder &code, Operands &operands,
                       const Panel &panel, Value firstRow, int64_t rows) const {
  SmallVector<Value> sums = reduce(code, operands, panel, firstRow, rows);
  if (panel.left)
    return storeClipped(code, operands, panel, firstRow, sums);
  const bool isLast = operands.endDepth == arithmetic.steps(shape.k);
  auto store = [&](Value sum, int64_t valid) {
    Value result = code.first(sum, valid);
    if (isLast && *operands.epilogue)
      result = (*operands.epilogue)(code.builder, code.loc, result,
                                    operands.position);
    code.store(result, operands.c, operands.position.offset);
  };
  if (!isLast || !operands.epilogue->isLong)
    return forTile(code, operands, panel, firstRow, rows,
                   [&](size_t i, int64_t valid) { store(sums[i], valid); });
  forRows(code, sums, panel.vectors, [&](Value row, ValueRange results) {
    forRow(code, operands, panel, code.add(firstRow, row),
           [&](size_t i, int64_t valid) { store(results[i], valid); });
  });
}

void MatMul::forRow(
    VectorBuilder &code, Operands &operands, const Panel &panel, Value row,
    llvm::function_ref<void(size_t i, int64_t valid)> body) const {
  MatMulPosition &position = operands.position;
  position.row = row;
  Value rowOffset = code.add(operands.cBase, code.mul(row, shape.cRowStride));
  for (int64_t v = 0; v < panel.vectors; ++v) {
    position.column = code.add(panel.firstColumn, v * lanes);
    position.offset = code.add(rowOffset, position.column);
    body(v, v + 1 == panel.vectors ? panel.valid : lanes);
  }
}

void MatMul::forTile(
    VectorBuilder &code, Operands &operands, const Panel &panel, Value firstRow,
    int64_t rows,
    llvm::function_ref<void(size_t i, int64_t valid)> body) const {
  for (int64_t row = 0; row < rows; ++row)
    forRow(
        code, operands, panel, code.add(firstRow, row),
        [&](size_t i, int64_t valid) { body(row * panel.vectors + i, valid); });
}

MatMul::Numbers MatMul::numbersOf(VectorBuilder &code, const Operands &operands,
                                  const Panel &panel, Value block) const {
  const int64_t vectors = panel.vectors;
  Value row = code.add(panel.numbers, code.mul(block, vectors * lanes));
  auto load = [&](Value from, std::optional<ElementType> element) {
    SmallVector<Value> loaded;
    for (int64_t v = 0; element && v < vectors; ++v) {
      auto type = VectorType::get(
          {lanes}, storedType(*element, code.builder.getContext()));
      loaded.push_back(
          converted(code, code.load(from, code.add(row, v * lanes), type),
                    *element, multiplied.rhs));
    }
    return loaded;
  };
  return {load(operands.numbers.scales, shape.blocks.scale),
          load(operands.numbers.zeros, shape.blocks.zero)};
}

SmallVector<SmallVector<Value>>
MatMul::loadColumns(VectorBuilder &code, const Arithmetic &stored,
                    const Panel &panel, Value source, Value row,
                    bool prefetches, const Numbers &numbers) const {
  const bool widens = stored.widensRhs();
  VectorType type = stored.rhsType(code.builder.getContext(), lanes);
  const int64_t elements = type.getNumElements();
  SmallVector<SmallVector<Value>> columns(widens ? stored.kGroup : 1);
  for (int64_t v = 0; v < panel.vectors; ++v) {
    bool isWhole = panel.isPadded || v + 1 < panel.vectors;
    Value at = code.add(row, v * elements);
    Value loaded = panel.left && !isWhole
                       ? code.loadSome(source, at, type, panel.left)
                       : code.loadFirst(source, at, type,
                                        isWhole ? elements : panel.valid);
    const bool beginsLine =
        v * elements * stored.rhsBytes() % cacheLineBytes == 0;
    if (prefetches && beginsLine)
      code.prefetch(source,
                    code.add(at, weightPrefetchBytes / stored.rhsBytes()));
    if (!widens) {
      columns[0].push_back(loaded);
      continue;
    }
    for (auto [column, element] :
         llvm::zip_equal(columns, stored.widened(code, loaded))) {
      if (!numbers.zeros.empty())
        element = code.subVectors(element, numbers.zeros[v]);
      if (!numbers.scales.empty())
        element = code.mulVectors(element, numbers.scales[v]);
      column.push_back(element);
    }
  }
  return columns;
}

void MatMul::emitStep(VectorBuilder &code, const Tile &tile, Value k,
                      int64_t valid, MutableArrayRef<Value> sums, int64_t set,
                      const Numbers &numbers) const {
  const Panel &panel = tile.panel;
  const auto columns =
      loadColumns(code, arithmetic, panel, panel.source,
                  code.add(panel.offset, code.mul(k, panel.stride)),
                  streamsWeights && !fetchesNext() && !widensPanels(), numbers);
  const auto sets = static_cast<int64_t>(sums.size()) / tile.size();
  Value first = code.add(tile.aBase,
                         code.mul(k, arithmetic.kGroup * shape.aColumnStride));
  auto step = [&](ArrayRef<Value> b, int64_t i, int64_t count) {
    Value column = code.add(first, i * shape.aColumnStride);
    tile.registers.step(
        code, sums.slice((set + i) % sets * tile.size(), tile.size()), b,
        [&](int64_t row) {
          // The stride may be named.
          Value at =
              code.add(column, code.mul(code.index(row), shape.aRowStride));
          return multiplied.loadSplat(code, tile.operands.a, at, lanes, count);
        });
  };
  if (!arithmetic.widensRhs())
    return step(columns[0], 0, valid);
  for (int64_t i = 0; i < valid; ++i)
    step(columns[i], i, 1);
}

/// Brings what a stage reads of the panel at \p packed into the scratch buffer.
void MatMul::widenPanel(VectorBuilder &code, const Operands &operands,
                        const Panel &panel, Value packed) const {
  const int64_t group = packing.kGroup;
  const int64_t stride = panel.vectors * lanes * packing.rhsGroup();
  auto widen = [&](Value first, int64_t steps, const Numbers &numbers) {
    code.loop(code.index(0), code.index(steps), 1, [&](Value i) {
      Value step = code.add(first, i);
      const auto columns = loadColumns(code, packing, panel, operands.b,
                                       code.add(packed, code.mul(step, stride)),
                                       streamsWeights, numbers);
      Value to = code.mul(code.sub(code.mul(step, group), operands.firstDepth),
                          panel.stride);
      for (const auto &[k, column] : llvm::enumerate(columns))
        for (const auto &[v, vector] : llvm::enumerate(column))
          code.store(
              vector, operands.scratch,
              code.add(to, int64_t(k) * panel.stride + int64_t(v) * lanes));
    });
  };
  const int64_t size = shape.blocks.size, begin = operands.firstDepth,
                end = operands.endDepth;
  if (size == 0)
    return widen(code.index(begin / group), packing.steps(end - begin), {});
  code.loop(code.index(begin / size), code.index(end / size), 1,
            [&](Value block) {
              widen(code.mul(block, size / group), size / group,
                    numbersOf(code, operands, panel, block));
            });
  Value last = code.index(end / size);
  if (const int64_t rest = end % size)
    widen(code.mul(last, size / group), packing.steps(rest),
          numbersOf(code, operands, panel, last));
}

SmallVector<Value> MatMul::reduce(VectorBuilder &code, Operands &operands,
                                  const Panel &panel, Value firstRow,
                                  int64_t rows) const {
  const Tile tile{
      RegisterTile(rows, panel.vectors, multiplied, lanes), operands, panel,
      code.add(operands.aBase, code.mul(firstRow, shape.aRowStride))};
  SmallVector<Value> sums = tile.registers.zeros(code);
  if (operands.firstDepth > 0)
    forTile(code, operands, panel, firstRow, rows,
            [&](size_t i, int64_t valid) {
              sums[i] = code.loadFirst(
                  operands.c, operands.position.offset,
                  arithmetic.sumType(code.builder.getContext(), lanes), valid);
            });
  if (shape.blocks.size != 0 && !widensPanels())
    return reduceBlocks(code, tile, sums);
  const int64_t end = operands.endDepth, group = arithmetic.kGroup;
  return reduceRange(code, tile,
                     {code.index(operands.firstDepth),
                      end - operands.firstDepth,
                      std::min(group, shape.k - (end - 1) * group)},
                     sums, {});
}

SmallVector<Value> MatMul::reduceBlocks(VectorBuilder &code, const Tile &tile,
                                        ValueRange sums) const {
  const int64_t group = arithmetic.kGroup;
  // Sums of a block and of all of them at once, for which there must be
  // registers.
  const bool sumsApart = !hasOpenRows() &&
                         tile.size() <= target.vectorRegisters / 4 &&
                         shape.blocks.scale && shape.blockCount() > 1;
  auto block = [&](Value number, ValueRange sums, int64_t products) {
    const int64_t steps = arithmetic.steps(products);
    const Range range{code.mul(number, shape.blocks.size / group), steps,
                      products - (steps - 1) * group};
    Numbers numbers = numbersOf(code, tile.operands, tile.panel, number);
    if (!sumsApart)
      return reduceRange(code, tile, range, sums, numbers);
    SmallVector<Value> scales;
    std::swap(scales, numbers.scales);
    SmallVector<Value> result =
        reduceRange(code, tile, range, tile.registers.zeros(code), numbers);
    for (int64_t i = 0; i < tile.size(); ++i)
      result[i] = code.fma(result[i], scales[i % tile.panel.vectors], sums[i]);
    return result;
  };
  const int64_t whole = shape.k / shape.blocks.size,
                rest = shape.k % shape.blocks.size;
  SmallVector<Value> result =
      code.loop(code.index(0), code.index(whole), 1, sums,
                [&](Value number, ValueRange carried) {
                  return block(number, carried, shape.blocks.size);
                });
  return rest ? block(code.index(whole), result, rest) : result;
}

SmallVector<Value> MatMul::reduceRange(VectorBuilder &code, const Tile &tile,
                                       const Range &range, ValueRange initial,
                                       const Numbers &numbers) const {
  const Operands &operands = tile.operands;
  const int64_t size = tile.size();
  const int64_t turns = arithmetic.widensRhs() ? arithmetic.kGroup : 1;
  const int64_t sets = setsOfSums(size, range.steps);
  SmallVector<Value> sums(initial);
  for (int64_t set = 1; set < sets; ++set)
    llvm::append_range(sums, tile.registers.zeros(code));

  // A line of the next panel every so many steps; the same one may be fetched
  // more than once, lest the loop's body grow long.
  const int64_t mostApart = std::max<int64_t>(1, 4 / turns);
  const int64_t lineElements = cacheLineBytes / arithmetic.rhsBytes();
  const int64_t rowElements = panelVectors * vectorElements();
  const int64_t apart =
      fetchesNext()
          ? std::max<int64_t>(1, order.chunk * lineElements / rowElements)
          : 1;
  const int64_t unrolled = std::min(apart, mostApart);
  Value fetched;
  if (fetchesNext()) {
    Value part = code.mul(code.rem(operands.unit, order.chunk),
                          range.steps / apart * lineElements);
    fetched = code.add(code.add(tile.panel.offset, part),
                       panelElements() + operands.firstDepth * rowElements);
  }

  auto step = [&](SmallVector<Value> &sums, int64_t number, Value k,
                  int64_t valid) {
    emitStep(code, tile, k, valid, sums, number * turns, numbers);
  };
  if (shape.givenDepth)
    return code.loop(code.index(0), operands.extents.depth, 1, sums,
                     [&](Value k, ValueRange carried) {
                       SmallVector<Value> next(carried);
                       step(next, 0, k, 1);
                       return next;
                     });
  // The last group may have fewer products.
  const int64_t whole =
      range.steps - (range.lastValid < arithmetic.kGroup ? 1 : 0);
  const int64_t group = llvm::divideCeil(sets, turns) * unrolled,
                groups = whole / group;
  sums = code.loop(
      code.index(0), code.index(groups), 1, sums,
      [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        Value first = code.add(code.mul(i, group), range.first);
        for (int64_t k = 0; k < group; ++k)
          step(next, k, code.add(first, k), arithmetic.kGroup);
        if (fetchesNext())
          code.prefetch(
              tile.panel.source,
              code.add(fetched, code.mul(i, lineElements * unrolled / apart)));
        return next;
      });
  for (int64_t k = groups * group; k < range.steps; ++k)
    step(sums, k, code.add(range.first, k),
         k < whole ? arithmetic.kGroup : range.lastValid);
  for (int64_t set = sets - 1; set > 0; --set)
    for (int64_t i = 0; i < size; ++i) {
      Value &sum = sums[(set - 1) * size + i];
      sum = arithmetic.add(code, sum, sums[set * size + i]);
    }
  sums.resize(size);
  return sums;
}

void MatMul::copyRows(VectorBuilder &code, Operands &operands,
                      const Panel &panel) const {
  VectorType type = arithmetic.rhsType(code.builder.getContext(), lanes);
  Value first = code.add(operands.bBase, panel.firstColumn);
  code.loop(code.index(0), code.index(shape.k), 1, [&](Value k) {
    Value from = code.add(first, code.mul(k, shape.bStride));
    Value to = code.mul(k, panel.stride);
    for (int64_t v = 0; v < panel.vectors; ++v) {
      int64_t valid = v + 1 == panel.vectors ? panel.valid : lanes;
      code.store(
          code.loadFirst(operands.b, code.add(from, v * lanes), type, valid),
          operands.scratch, code.add(to, v * lanes));
    }
  });
}

/// Packs columns of the transposed B, which are contiguous, into rows of the
/// panel: square blocks of a vector's size are transposed in registers.
void MatMul::packTransposed(VectorBuilder &code, Operands &operands,
                            const Panel &panel) const {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  VectorType type = arithmetic.rhsType(builder.getContext(), lanes);
  auto square = VectorType::get({lanes, lanes}, type.getElementType());
  auto copyBlock = [&](Value k, int64_t count, int64_t v) {
    int64_t columns = v + 1 == panel.vectors ? panel.valid : lanes;
    Value block =
        builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(square));
    for (int64_t n = 0; n < columns; ++n) {
      Value column = code.add(panel.firstColumn, v * lanes + n);
      // The last one stands for those that are not there.
      if (shape.givenColumns)
        column = code.min(column, code.sub(operands.extents.columns, 1));
      Value from = code.add(
          code.add(operands.bBase, code.mul(column, shape.bStride)), k);
      Value row = code.loadFirst(operands.b, from, type, count);
      block = builder.create<vector::InsertOp>(loc, row, block,
                                               ArrayRef<int64_t>{n});
    }
    Value transposed = builder.create<vector::TransposeOp>(
        loc, block, ArrayRef<int64_t>{1, 0});
    for (int64_t i = 0; i < count; ++i) {
      Value row = builder.create<vector::ExtractOp>(loc, transposed,
                                                    ArrayRef<int64_t>{i});
      Value to = code.add(code.mul(code.add(k, i), panel.stride), v * lanes);
      code.store(row, operands.scratch, to);
    }
  };
  int64_t whole = shape.k / lanes * lanes;
  for (int64_t v = 0; v < panel.vectors; ++v) {
    if (whole > 0)
      code.loop(code.index(0), code.index(whole), lanes,
                [&](Value k) { copyBlock(k, lanes, v); });
    if (whole < shape.k)
      copyBlock(code.index(whole), shape.k - whole, v);
  }
}
