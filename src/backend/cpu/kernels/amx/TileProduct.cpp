//===- TileProduct.cpp - generator of AMX matmuls and convolutions --------===//

#include "backend/cpu/kernels/amx/TileProduct.h"

#include "backend/cpu/kernels/common/Arithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

#include <bit>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Tiles of rows that are accumulated at once.
static constexpr int64_t groupTiles = TileRegisters::groupTiles;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TileProduct::TileProduct(const TileProductShape &shape,
                         const TileArithmetic &arithmetic)
    : shape(shape), arithmetic(arithmetic) {
  assert(shape.tileRows >= 1 && shape.tileRows <= mostTileRows);
  assert(!shape.hasZeroPoint || arithmetic.isOfBytes());
}

int64_t TileProduct::firstBlock(int64_t number) const {
  const int64_t group = shape.group, first = number * panelColumns;
  return group ? first / group * group / arithmetic.blockElements() : 0;
}

int64_t TileProduct::planeBytes() const {
  return depthBlocks() * shape.positions * tileRowBytes;
}

int64_t TileProduct::stagedBytes(int64_t positions) const {
  return depthBlocks() * positions * tileRowBytes * arithmetic.lhsTerms;
}

int64_t TileProduct::scratchBytes() const {
  const int64_t lines =
      isShared() ? llvm::divideCeil(shape.positions, shape.cutPositions) : 0;
  return stagedBytes(shape.positions) + lines * tileRowBytes;
}

int64_t TileProduct::packedBytes() const {
  if (hasInitialSums())
    return weightBytes() + columnTiles() * tileRowBytes;
  return weightBytes() + (arithmetic.isOfBytes() ? 0 : tileRowBytes);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

struct TileProduct::Emission {
  VectorBuilder &code;
  TileRegisters tiles;
  const Task &task;
  AllNumbers numbers;
  llvm::function_ref<TilePlace(Value tile)> placeTile;
  const Results &results;
  Value scratchAddress, weightsAddress;
  Value sums; ///< The accumulators on the stack.
  /// Whether values are too large to be scaled, and the factor that undoes the
  /// scaling of accumulators; null for integers.
  Value isUnusual = {}, unscaleSums = {};
  Value panel = {};
  Value panelStart = {};   ///< The offset of its weights in bytes,
  Value firstBlock = {};   ///< and its first block of k.
  Value group = {};        ///< The index of the pair of tiles of rows.
  int64_t columnTiles = 0; ///< The tiles of this panel,
  int64_t valid = 0;       ///< and the columns of the last one.

  Type sumType() { return cast<MemRefType>(sums.getType()).getElementType(); }
  Value wordsAt(Value line) const {
    return tileWordsAt(code, task.weights, line);
  }
};

void TileProduct::build(VectorBuilder &code, const Task &task, Source source,
                        AllNumbers numbers,
                        llvm::function_ref<TilePlace(Value tile)> placeTile,
                        const Results &results) const {
  TileRegisters tiles(code, shape.tileRows, arithmetic, task.tileRows);
  Emission e{code,
             tiles,
             task,
             numbers,
             placeTile,
             results,
             tiles.addressOf(task.staged.memory),
             tiles.addressOf(task.weights),
             tiles.sums()};
  Value most = largest(code, task, source);
  if (!arithmetic.isOfBytes())
    judge(e, most);
  const int64_t last = columnTiles() - (panels() - 1) * panelTiles;
  const int64_t lastValid = shape.fillsColumns && !results.parts
                                ? 16
                                : shape.n - (columnTiles() - 1) * 16;
  code.loop(task.firstPanel, task.endPanel, 1, [&](Value panel) {
    if (panels() == 1 || (last == panelTiles && lastValid == 16))
      return buildPanel(e, panel, last, lastValid);
    code.when(
        code.less(panel, code.index(panels() - 1)),
        [&] { buildPanel(e, panel, panelTiles, 16); },
        [&] { buildPanel(e, panel, last, lastValid); });
  });
}

/// Sets isUnusual and unscaleSums from the largest magnitude of a task and that
/// after the weights.
void TileProduct::judge(Emission &e, Value largest) const {
  VectorBuilder &code = e.code;
  OpBuilder &b = code.builder;
  auto floats = VectorType::get({16}, b.getF32Type());
  auto constant = [&](float number) -> Value {
    return b.create<arith::ConstantOp>(code.loc, b.getF32FloatAttr(number));
  };
  Value unscale = tileUnscaleAt(code, e.task.weights,
                                code.index(weightBytes() / tileRowBytes));
  Value areLarge = b.create<arith::CmpFOp>(code.loc, arith::CmpFPredicate::OEQ,
                                           unscale, constant(1));
  Value limit = b.create<arith::ConstantOp>(
      code.loc,
      b.getI32IntegerAttr(std::bit_cast<int32_t>(mostUsualMagnitude)));
  Value isLarge = b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::ugt,
                                          largest, limit);
  e.isUnusual = b.create<arith::OrIOp>(code.loc, isLarge, areLarge);
  Value ofSums =
      b.create<arith::SelectOp>(code.loc, e.isUnusual, constant(1),
                                constant(1 / (tileScale * tileScale)));
  e.unscaleSums = b.create<vector::SplatOp>(code.loc, floats, ofSums);
}

void TileProduct::buildPanel(Emission &e, Value panel, int64_t tiles,
                             int64_t valid) const {
  VectorBuilder &code = e.code;
  e.panel = panel;
  e.panelStart = code.mul(panel, panelBytes());
  e.firstBlock = code.index(0);
  if (const int64_t group = shape.group) {
    Value first = code.mul(panel, panelColumns);
    if (group > panelColumns)
      first = code.mul(code.div(first, group), group);
    e.firstBlock = code.div(first, arithmetic.blockElements());
  }
  e.columnTiles = tiles;
  e.valid = valid;
  Value groups = code.div(code.add(e.task.tiles, groupTiles - 1), groupTiles);
  code.loop(code.index(0), groups, 1, [&](Value group) {
    e.group = group;
    buildGroup(e, code.mul(group, groupTiles));
  });
}

/// One and two tiles share the code after the products.
void TileProduct::buildGroup(Emission &e, Value firstTile) const {
  VectorBuilder &code = e.code;
  Value count =
      code.min(code.index(groupTiles), code.sub(e.task.tiles, firstTile));
  auto forTiles = [&](llvm::function_ref<void(Value, const TilePlace &)> body) {
    code.loop(code.index(0), count, 1,
              [&](Value r) { body(r, e.placeTile(code.add(firstTile, r))); });
  };
  auto ofTiles = [&](int64_t rowTiles) {
    SmallVector<TilePlace> places;
    for (int64_t i = 0; i < rowTiles; ++i)
      places.push_back(e.placeTile(code.add(firstTile, i)));
    multiplyTiles(e, places);
  };
  auto onTiles = [&] {
    if (e.task.areEven || e.task.mostTiles < groupTiles)
      return ofTiles(e.task.areEven ? groupTiles : 1);
    code.when(
        code.less(code.index(1), count), [&] { ofTiles(groupTiles); },
        [&] { ofTiles(1); });
  };
  if (e.isUnusual)
    code.when(
        e.isUnusual,
        [&] {
          forTiles([&](Value r, const TilePlace &place) {
            multiplyVectors(e, r, place);
          });
        },
        onTiles);
  else
    onTiles();
  forTiles([&](Value r, const TilePlace &place) { storeResults(e, r, place); });
}

/// Emits one loop: in a nest of three, LLVM would analyse each address for each
/// loop.
IndexBuilder::Carried TileProduct::forSteps(
    Emission &e, ValueRange carried,
    llvm::function_ref<IndexBuilder::Carried(const Step &, ValueRange)> body)
    const {
  VectorBuilder &code = e.code;
  Value none = code.index(0);
  if (shape.taps() == 1)
    return code.loop(none, code.index(steps()), 1, carried,
                     [&](Value step, ValueRange inner) {
                       return body({step, none, code.add(e.firstBlock, step)},
                                   inner);
                     });
  IndexBuilder::Carried all = {e.firstBlock, none, none};
  Value rowStep =
      e.task.tapRowStep ? e.task.tapRowStep : code.index(shape.tapRowStep);
  llvm::append_range(all, carried);
  all = code.loop(
      none, code.index(steps()), 1, all, [&](Value step, ValueRange inner) {
        Value block = inner[0], row = inner[1], column = inner[2];
        Value position = code.add(code.mul(row, rowStep),
                                  code.mul(column, shape.tapColumnStep));
        const IndexBuilder::Carried own =
            body({step, position, block}, inner.drop_front(3));
        Value nextColumn = code.add(column, 1);
        Value endsRow = code.equal(nextColumn, code.index(shape.tapColumns));
        Value nextRow = code.select(endsRow, code.add(row, 1), row);
        Value endsBlock = code.equal(nextRow, code.index(shape.tapRows));
        IndexBuilder::Carried next = {
            code.select(endsBlock, code.add(block, 1), block),
            code.select(endsBlock, code.index(0), nextRow),
            code.select(endsRow, code.index(0), nextColumn)};
        llvm::append_range(next, own);
        return next;
      });
  return {all.begin() + 3, all.end()};
}

/// Prefetches this step's weights of the next panel into the second-level
/// cache, or this group's share of them.
void TileProduct::fetchNext(Emission &e, Value step) const {
  constexpr int64_t mostLines = 16;
  const int64_t lines = stepBytes(panelTiles) / cacheLineBytes;
  const int64_t groups = llvm::divideCeil(e.task.mostTiles, groupTiles);
  // Where no group takes long enough, rely on the hardware prefetcher.
  if (panels() == 1 || lines > groups * mostLines)
    return;
  VectorBuilder &code = e.code;
  const int64_t share = llvm::divideCeil(lines, groups);
  Value next = code.add(e.panelStart, panelBytes());
  Value first = code.add(code.add(next, code.mul(step, lines * cacheLineBytes)),
                         code.mul(e.group, share * cacheLineBytes));
  Type element = cast<MemRefType>(e.task.weights.getType()).getElementType();
  const int64_t bytes = int64_t(element.getIntOrFloatBitWidth() / 8);
  Value place = code.div(first, bytes);
  for (int64_t line = 0; line < share; ++line)
    code.prefetch(e.task.weights,
                  code.add(place, line * cacheLineBytes / bytes));
}

void TileProduct::multiplyTiles(Emission &e, ArrayRef<TilePlace> places) const {
  VectorBuilder &code = e.code;
  const auto rowTiles = int64_t(places.size());
  e.tiles.clear(rowTiles, e.columnTiles);
  forSteps(e, {}, [&](const Step &step, ValueRange) {
    TileStep what;
    what.rowsAddress = e.scratchAddress;
    what.rowStride = shape.rowStep * tileRowBytes;
    const TileTerms *parts = e.task.parts;
    what.rowPart = parts ? parts->planeBytes(code) : code.index(planeBytes());
    for (const TilePlace &place : places) {
      Value position = code.add(step.position, place.position);
      what.rows.push_back(
          parts ? parts->linePlace(code, e.task.staged, step.block, position)
                : stagedOffset(code, e.task.staged, step.block, position));
    }
    what.columnsAddress = e.weightsAddress;
    what.columns =
        code.add(e.panelStart, code.mul(step.number, stepBytes(e.columnTiles)));
    what.columnTiles = e.columnTiles;
    what.columnPart = e.columnTiles * tileBytes;
    e.tiles.multiply(arithmetic, what);
    fetchNext(e, step.number);
    return IndexBuilder::Carried();
  });
  e.tiles.store(rowTiles, e.columnTiles);
}

/// Multiplies in f32, on vectors of columns.
void TileProduct::multiplyVectors(Emission &e, Value rowTile,
                                  const TilePlace &place) const {
  VectorBuilder &code = e.code;
  TileVectorTile tile;
  tile.weights = e.task.weights;
  tile.sums = e.sums;
  tile.rows = place.rows;
  tile.position = place.position;
  tile.rowStep = code.index(shape.rowStep);
  tile.firstBlock = e.firstBlock;
  tile.blocks = code.index(panelBlocks());
  tile.tapRows = code.index(shape.tapRows);
  tile.tapColumns = code.index(shape.tapColumns);
  tile.tapRowStep =
      e.task.tapRowStep ? e.task.tapRowStep : code.index(shape.tapRowStep);
  tile.tapColumnStep = code.index(shape.tapColumnStep);
  tile.panel = e.panel;
  tile.line = code.div(e.panelStart, tileRowBytes);
  tile.columnTiles = code.index(e.columnTiles);
  tile.unscaleLine = code.index(weightBytes() / tileRowBytes);
  tile.firstSum = e.tiles.sumsAt(rowTile, code.index(0));
  multiplyOnVectors(code, arithmetic, shape.group,
                    e.task.parts ? e.task.parts->numbers(code, e.task.staged)
                                 : e.numbers(),
                    tile);
}

/// The results of register \p c of the panel's columns, in row \p i of a tile;
/// \p valid of them exist.
Value TileProduct::resultsAt(Emission &e, Value rowTile, const TilePlace &place,
                             Value i, Value c, int64_t valid) const {
  VectorBuilder &code = e.code;
  OpBuilder &b = code.builder;
  Value number = code.add(code.mul(e.panel, panelTiles), c);
  Value at = code.add(e.tiles.sumsAt(rowTile, i), code.mul(c, 16));
  Value sums = code.load(e.sums, at, VectorType::get({16}, e.sumType()));
  if (hasInitialSums()) {
    Value line = code.add(number, weightBytes() / tileRowBytes);
    Value initial =
        b.create<arith::MulIOp>(code.loc, e.wordsAt(line), e.task.zero);
    sums = b.create<arith::AddIOp>(code.loc, sums, initial);
  }
  if (e.unscaleSums)
    sums = code.mulVectors(sums, e.unscaleSums);
  Value row = code.add(place.first, i), column = code.mul(number, 16);
  return e.results.finish(row, column, e.results.offset(row, column),
                          code.first(sums, valid));
}

/// Stores the rows of a tile, one register of columns after the other.
void TileProduct::storeResults(Emission &e, Value rowTile,
                               const TilePlace &place) const {
  if (e.results.parts)
    return storeTerms(e, rowTile, place);
  VectorBuilder &code = e.code;
  auto storeTile = [&](Value c, int64_t valid) {
    code.loop(code.index(0), place.rows, 1, [&](Value i) {
      Value results = resultsAt(e, rowTile, place, i, c, valid);
      Value number = code.add(code.mul(e.panel, panelTiles), c);
      code.store(
          results, e.results.memory,
          e.results.offset(code.add(place.first, i), code.mul(number, 16)));
    });
  };
  const int64_t whole = e.columnTiles - (e.valid == 16 ? 0 : 1);
  code.loop(code.index(0), code.index(whole), 1,
            [&](Value c) { storeTile(c, 16); });
  if (whole < e.columnTiles)
    storeTile(code.index(whole), e.valid);
}

/// The same, split: a panel is a block of the users' operand.
void TileProduct::storeTerms(Emission &e, Value rowTile,
                             const TilePlace &place) const {
  static_assert(panelColumns == TileTerms::blockColumns);
  VectorBuilder &code = e.code;
  auto floats = VectorType::get({16}, code.builder.getF32Type());
  e.results.parts->store(
      code, {e.results.memory, e.results.start}, e.panel, place.first,
      place.rows, e.results.areInRows, [&](Value i) {
        std::array<Value, 2> both = {code.zero(floats), code.zero(floats)};
        for (int64_t c = 0; c < e.columnTiles; ++c) {
          const int64_t valid = c + 1 < e.columnTiles ? 16 : e.valid;
          Value results = resultsAt(e, rowTile, place, i, code.index(c), valid);
          both[size_t(c)] =
              valid == 16 ? results
                          : code.create<vector::InsertStridedSliceOp>(
                                results, both[size_t(c)], ArrayRef<int64_t>{0},
                                ArrayRef<int64_t>{1});
        }
        return both;
      });
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

double TileProduct::productSeconds(int64_t tiles, const Target &target) const {
  // Operations of a bf16 tile multiplication; int8 has twice as many in the
  // same time.
  constexpr double ofRegisters = 2.0 * 16 * 16 * 32;
  const double height = double(shape.tileRows) / mostTileRows;
  const double product = ofRegisters / target.rates.tiles,
               load = tileBytes / target.rates.tileLoads;
  int64_t loadsOfRows = 0, loadsOfColumns = 0;
  PartPair last(-1, -1);
  const SmallVector<PartPair> pairs = arithmetic.products();
  for (const PartPair &pair : pairs) {
    loadsOfRows += pair.first != last.first;
    loadsOfColumns += pair.second != last.second;
    last = pair;
  }
  const auto groups = double(llvm::divideCeil(tiles, groupTiles));
  return double(steps()) *
         (double(tiles) * double(columnTiles()) * double(pairs.size()) *
              product * height +
          double(tiles) * double(panels()) * double(loadsOfRows) * load *
              height +
          groups * double(columnTiles()) * double(loadsOfColumns) * load);
}

double TileProduct::stageSeconds(int64_t positions,
                                 const Target &target) const {
  const double elements = double(positions) * double(depthBlocks()) *
                          double(arithmetic.blockElements());
  const double bytes =
      arithmetic.isOfBytes() ? 2 : 4.0 + 2.0 * double(arithmetic.lhsTerms);
  return elements * bytes / target.rates.cache;
}

double TileProduct::sharedStageSeconds(int64_t positions,
                                       const Target &target) const {
  // Threads synchronise, and read memory that others wrote.
  constexpr double ofStep = 5e-6;
  return ofStep + stageSeconds(positions, target) +
         double(stagedBytes(positions)) / target.rates.cache;
}

int64_t TileProduct::cutPositionsFor(int64_t positions, int64_t units,
                                     const Target &target) const {
  constexpr double worthATask = 5e-6;
  constexpr int64_t enoughTasks = 8;
  const int64_t all = positions / units,
                tasks = std::clamp<int64_t>(
                    int64_t(stageSeconds(positions, target) / worthATask), 1,
                    std::min(all, enoughTasks));
  return llvm::divideCeil(all, tasks) * units;
}
