//===- TileAttention.cpp - AMX attention ----------------------------------===//

#include "backend/cpu/kernels/attention/TileAttention.h"

#include "backend/cpu/kernels/amx/TileMatMul.h"
#include "backend/cpu/kernels/attention/AttentionPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Keys and values are packed for each task, which needs many rows to amortise
/// that: as many as fit half of the second-level cache, with enough tasks left.
static constexpr int64_t leastTaskRowsOfTiles = 32;
static constexpr int64_t tasksOfTiles = 8;
static constexpr int64_t panelOfTiles = TileRegisters::panelColumns;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

std::vector<AttentionTiles> AttentionTiles::allOf(Precision precision,
                                                  const Numbers &numbers) {
  const ElementType f32 = ElementType::F32;
  std::vector<AttentionTiles> all;
  for (Precision each : {precision, Precision::Exact}) {
    if (!all.empty() && all.back().precision == each)
      continue;
    all.push_back(
        {*TileArithmetic::of(f32, f32, f32, each, {numbers.query, numbers.key}),
         *TileArithmetic::of(f32, f32, f32, each, {{}, numbers.value}), each});
  }
  return all;
}

StringRef AttentionTiles::name() const {
  constexpr StringRef names[] = {
      "tiles-attention-bf16",   "tiles-attention-split2",
      "tiles-attention-split3", "tiles-attention-split4",
      "tiles-attention-split5", "tiles-attention-split6"};
  return names[sums.products().size() - 1];
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool TileAttention::supports(const AttentionShape &shape,
                             const Target &target) {
  return target.hasMatrixUnits && target.f32Lanes == 16 &&
         (shape.queryColumn == 1 || shape.queryRow == 1) &&
         (shape.keyColumn == 1 || shape.keyRow == 1);
}

TileAttention::TileAttention(const AttentionShape &shape, const Target &target,
                             const AttentionTiles &arithmetic)
    : shape(shape), arithmetic(arithmetic),
      keyBlock(shape.keys.upTo(shape.keyBlock())) {
  assert(supports(shape, target));
  for (int64_t mostRows : {256, 128}) {
    layOut(mostRows);
    if (lines * tileRowBytes <= target.l2Bytes / 2)
      break;
  }
}

/// Splits rows into tasks of about \p mostRows, and lays out the scratch memory
/// of a task.
void TileAttention::layOut(int64_t mostRows) {
  tileRows = mostTileRows;
  taskTiles = mostRows / mostTileRows;
  if (const std::optional<int64_t> rows = shape.rows.number()) {
    tileRows = tileRowsFor(*rows);
    const Dim ofTask = ceilDivide(shape.matrices() * *rows, tasksOfTiles);
    const int64_t wanted =
        std::max(leastTaskRowsOfTiles, ofTask.upTo(mostRows));
    const int64_t parts = llvm::divideCeil(*rows, wanted);
    taskTiles = llvm::divideCeil(llvm::divideCeil(*rows, tileRows), parts);
  }
  int64_t end = 0;
  auto reserve = [&](int64_t count) {
    const int64_t begin = end;
    end += count;
    return begin;
  };
  const int64_t positions = llvm::alignTo(taskTiles * tileRows, mostTileRows);
  auto reserveRows = [&](int64_t depth, int64_t parts) {
    TileRows rows;
    rows.positions = positions;
    rows.blocks = llvm::divideCeil(depth, panelOfTiles);
    rows.parts = parts;
    rows.at = reserve(rows.lines());
    rows.notes = reserve(rows.noteLines());
    return rows;
  };
  auto reserveColumns = [&](int64_t columns, int64_t depth, int64_t parts) {
    TileColumns all;
    all.blocks = llvm::divideCeil(depth, panelOfTiles);
    all.parts = parts;
    all.at =
        reserve(llvm::divideCeil(columns, panelOfTiles) * all.panelLines());
    return all;
  };
  queries = reserveRows(shape.depth, arithmetic.scores.lhsTerms);
  keys = reserveColumns(keyBlock, shape.depth, arithmetic.scores.rhsTerms);
  weights = reserveRows(keyBlock, arithmetic.sums.lhsTerms);
  values = reserveColumns(shape.width, keyBlock, arithmetic.sums.rhsTerms);
  const int64_t numberLines = positions / 16;
  greatestAt = reserve(numberLines);
  sumAt = reserve(numberLines);
  factorAt = reserve(numberLines);
  scoresRow = 2 * llvm::divideCeil(keyBlock, panelOfTiles);
  scoresAt = reserve(positions * scoresRow);
  sumsAt = reserve(isOneBlock() ? 0 : positions * (widthPadded() / 16));
  spare = reserve(std::max(TileOperands::spareLines(arithmetic.scores),
                           TileOperands::spareLines(arithmetic.sums)));
  lines = end;
}

std::vector<TaskExtent> TileAttention::taskExtents() const {
  std::vector<TaskExtent> parts;
  for (const AttentionShape::Heads &heads : shape.heads)
    parts.push_back({{heads.size}, 1});
  parts.push_back({{shape.rows}, taskTiles * tileRows});
  return parts;
}

int64_t TileAttention::tasks() const {
  if (shape.rows.isDynamic())
    return 1;
  return shape.matrices().valueOr(1) *
         ceilDivide(shape.rows, taskTiles * tileRows).value();
}

bool TileAttention::mayEndInTile() const {
  if (shape.keys.isDynamic())
    return true;
  const int64_t rest = shape.keys.value() % keyBlock % panelOfTiles;
  const int64_t whole = keyBlock % panelOfTiles;
  auto isTile = [](int64_t columns) { return columns > 0 && columns <= 16; };
  return isTile(rest) || isTile(whole);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// The time of both matmuls, for one head. Blocks of keys that are masked for
/// all rows are skipped.
double TileAttention::productSeconds(const Target &target) const {
  const int64_t tiles = ceilDivide(shape.rows, tileRows).value();
  TileProductShape scores, sums;
  scores.tileRows = sums.tileRows = tileRows;
  scores.n = sums.k = shape.keys.value();
  scores.k = shape.depth;
  sums.n = shape.width;
  return TileProduct(scores, arithmetic.scores).productSeconds(tiles, target) +
         TileProduct(sums, arithmetic.sums).productSeconds(tiles, target);
}

double TileAttention::seconds(const Target &target) const {
  const double cycle = 4.0 * double(target.f32Lanes) / target.rates.f32;
  const auto heads = double(shape.matrices().value()),
             rows = double(shape.rows.value());
  const double perHead =
      double(ceilDivide(shape.rows, taskTiles * tileRows).value());
  const double seen = shape.isCausal && keyBlock < shape.keys ? 0.5 : 1;
  const double keysPadded =
                   double(llvm::alignTo(shape.keys.value(), panelOfTiles)),
               depthPadded = double(llvm::alignTo(shape.depth, panelOfTiles));
  // Transposed operands go through memory twice more.
  auto moved = [&](double elements, int64_t parts, bool isTransposed) {
    return elements * (4.0 + 2.0 * double(parts) * (isTransposed ? 3 : 1)) /
           target.rates.cache;
  };
  const double packed =
      moved(keysPadded * depthPadded, keys.parts, shape.keyColumn == 1) +
      moved(keysPadded * double(widthPadded()), values.parts, false);
  const double staged =
      moved(rows * depthPadded, queries.parts, shape.queryColumn != 1);
  // For a vector of scores: softmax as on vectors, the traffic through the
  // stack, and splitting weights.
  const double ofVector = 11 + 2 * double(weights.parts), ofRow = 26,
               ofTask = 150;
  const double softmax = cycle * rows * (keysPadded / 16 * ofVector + ofRow);
  return heads * (seen * (productSeconds(target) + softmax + perHead * packed) +
                  staged + perHead * ofTask * cycle);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

struct TileAttention::Emission {
  VectorBuilder &code;
  AttentionPlace place;
  TileRegisters registers;
  TileOperands ofScores, ofSums;
  Exponential exponential;
  const AttentionEpilogue &epilogue;
  Value rowCount;
  TileMatrix query;
  Value anyQuery; ///< Whether there is an unusual one.
  Value keyCount; ///< Keys of the block.

  VectorType floats() {
    return VectorType::get({16}, code.builder.getF32Type());
  }
  /// The offset of \p row's value in the array that starts at \p line.
  Value numberAt(Value row, int64_t line) { return code.add(row, line * 16); }
};

void TileAttention::build(OpBuilder &builder, Location location, Value task,
                          const AttentionOperands &operands,
                          Exponential exponential,
                          const AttentionEpilogue &epilogue) const {
  VectorBuilder code(builder, location);
  const int64_t taskRows = taskTiles * tileRows;
  Value rows = code.index(shape.rows);
  Value parts = code.div(code.add(rows, taskRows - 1), taskRows);
  AttentionPlace place(code, shape, operands, code.div(task, parts));
  place.beginAt(code, code.mul(code.rem(task, parts), taskRows));
  Value scratch = place.scratch;
  Emission e{code,
             place,
             {code, tileRows, arithmetic.scores},
             {code, arithmetic.scores, scratch, spare},
             {code, arithmetic.sums, scratch, spare},
             exponential,
             epilogue,
             code.min(code.index(taskRows), code.sub(rows, place.firstRow)),
             {},
             {},
             {}};
  e.query = {place.query,       place.queryBase, shape.queryRow,
             shape.queryColumn, e.rowCount,      code.index(shape.depth)};
  e.anyQuery = e.ofScores.stageRows(e.query, queries);
  if (isOneBlock()) {
    e.keyCount = code.index(shape.keys);
    return buildBlock(e, code.index(0));
  }
  clearRows(e);
  Value all = code.index(shape.keys);
  Value blocks = code.div(code.add(all, keyBlock - 1), keyBlock);
  // A causal block of rows uses no keys after its last row.
  if (shape.isCausal)
    blocks = code.min(
        blocks,
        code.div(code.add(code.add(place.firstRow, e.rowCount), keyBlock - 1),
                 keyBlock));
  code.loop(code.index(0), blocks, 1, [&](Value i) {
    Value first = code.mul(i, keyBlock);
    e.keyCount = code.min(code.index(keyBlock), code.sub(all, first));
    buildBlock(e, first);
  });
  divideRows(e);
}

void TileAttention::buildBlock(Emission &e, Value first) const {
  VectorBuilder &code = e.code;
  // Scores beyond the last key are computed, too, if keys do not fill panels.
  const bool fills = shape.keys % panelOfTiles == 0;
  e.place.keyCount = fills ? Value() : e.keyCount;
  buildScores(e, first);
  Value none =
      code.create<arith::ConstantOp>(code.builder.getI32IntegerAttr(0));
  Value most = code.loop(
      code.index(0), e.rowCount, 1, none,
      [&](Value row, ValueRange carried) -> IndexBuilder::Carried {
        return {code.create<arith::MaxUIOp>(carried[0], buildWeights(e, row))};
      })[0];
  buildSums(e, first, e.ofSums.isUnusual(most));
}

TileFactors TileAttention::factorsOf(const TileRows &rows,
                                     const TileColumns &columns,
                                     Value anyRow) const {
  const bool areEven =
      taskTiles % TileRegisters::groupTiles == 0 &&
      ceilDivide(shape.rows, tileRows) % TileRegisters::groupTiles == 0;
  return {{}, {}, rows, columns, anyRow, tileRows, taskTiles, areEven};
}

//===----------------------------------------------------------------------===//
// Scores and weights
//===----------------------------------------------------------------------===//

void TileAttention::buildScores(Emission &e, Value first) const {
  VectorBuilder &code = e.code;
  TileFactors factors = factorsOf(queries, keys, e.anyQuery);
  factors.a = e.query;
  factors.b = {
      e.place.key,  code.add(e.place.keyBase, code.mul(first, shape.keyRow)),
      shape.keyRow, shape.keyColumn,
      e.keyCount,   code.index(shape.depth)};
  Value areUnusual = e.ofScores.packPanels(factors.b, keys);
  Value panels = code.div(code.add(e.keyCount, panelOfTiles - 1), panelOfTiles);
  code.loop(code.index(0), panels, 1, [&](Value number) {
    TilePanel panel{number, code.mul(number, panelOfTiles),
                    TileRegisters::panelTiles, areUnusual};
    auto multiply = [&](const TilePanel &some) {
      e.ofScores.multiply(
          e.registers, factors, some,
          [&](Value row, int64_t columnTile, Value scores) {
            Value column = code.add(some.column, columnTile * 16);
            Value at = code.add(code.mul(row, scoresRow * 16), scoresAt * 16);
            scores = e.place.finishScores(code, first, scores, row, column);
            code.store(scores, e.place.scratch, code.add(at, column));
            // Softmax reads whole panels.
            if (some.tiles < TileRegisters::panelTiles)
              code.store(splatNumber(code, e.floats(),
                                     -std::numeric_limits<double>::infinity()),
                         e.place.scratch, code.add(code.add(at, column), 16));
          });
    };
    if (!mayEndInTile())
      return multiply(panel);
    TilePanel half = panel;
    half.tiles = 1;
    code.when(
        code.less(code.add(panel.column, 16), e.keyCount),
        [&] { multiply(panel); }, [&] { multiply(half); });
  });
}

/// Computes the weights of a row's scores, relative to the maximum so far.
/// Returns their note.
Value TileAttention::buildWeights(Emission &e, Value row) const {
  VectorBuilder &code = e.code;
  OpBuilder &b = code.builder;
  Type element = b.getF32Type();
  VectorType type = e.floats();
  Value scratch = e.place.scratch;
  const double infinity = std::numeric_limits<double>::infinity();
  Value base = code.add(code.mul(row, scoresRow * 16), scoresAt * 16);
  Value blocks = code.div(code.add(e.keyCount, panelOfTiles - 1), panelOfTiles);
  auto scoresOffset = [&](Value block, int64_t half) {
    return code.add(base, code.add(code.mul(block, panelOfTiles), half * 16));
  };
  auto greatest = code.loop(
      code.index(0), blocks, 1,
      SmallVector<Value>(2, splatNumber(code, type, -infinity)),
      [&](Value block, ValueRange carried) {
        IndexBuilder::Carried so(carried);
        for (int64_t half : {0, 1})
          so[half] =
              greater(code, code.load(scratch, scoresOffset(block, half), type),
                      so[half]);
        return so;
      });
  // No lane is NaN here: NaN scores propagate through the sum.
  Value most = b.create<vector::ReductionOp>(
      code.loc, vector::CombiningKind::MAXNUMF,
      greater(code, greatest[0], greatest[1]), arith::FastMathFlags::nnan);
  Value before;
  if (!isOneBlock()) {
    before = loadNumber(code, scratch, e.numberAt(row, greatestAt));
    most = greater(code, most, before);
    storeNumber(code, most, scratch, e.numberAt(row, greatestAt));
  }
  // If all keys are masked so far, weights are zero.
  Value isNothing =
      b.create<arith::CmpFOp>(code.loc, arith::CmpFPredicate::OEQ, most,
                              splatNumber(code, element, -infinity));
  most = code.select(isNothing, splatNumber(code, element, 0), most);
  Value shift = b.create<vector::SplatOp>(code.loc, type, most);
  Value sums =
      code.loop(code.index(0), blocks, 1, splatNumber(code, type, 0),
                [&](Value block, ValueRange carried) -> IndexBuilder::Carried {
                  Value so = carried[0];
                  SmallVector<Value> both;
                  for (int64_t half : {0, 1}) {
                    Value at = scoresOffset(block, half);
                    Value weight = e.exponential(
                        b, code.loc,
                        code.subVectors(code.load(scratch, at, type), shift));
                    code.store(weight, scratch, at);
                    so = code.addVectors(so, weight);
                    both.push_back(weight);
                  }
                  e.ofSums.putRow(weights, row, block, both);
                  return {so};
                })[0];
  Value sum =
      b.create<vector::ReductionOp>(code.loc, vector::CombiningKind::ADD, sums,
                                    arith::FastMathFlags::reassoc);
  storeNumber(code, sum, scratch, e.numberAt(row, weights.notes));
  Value note = code.create<arith::BitcastOp>(b.getI32Type(), sum);
  if (isOneBlock()) {
    storeNumber(code,
                code.create<arith::DivFOp>(splatNumber(code, element, 1), sum),
                scratch, e.numberAt(row, factorAt));
    return note;
  }
  Value factor =
      e.exponential(b, code.loc, code.create<arith::SubFOp>(before, most));
  storeNumber(code, factor, scratch, e.numberAt(row, factorAt));
  Value total = loadNumber(code, scratch, e.numberAt(row, sumAt));
  total = code.create<arith::AddFOp>(code.create<arith::MulFOp>(total, factor),
                                     sum);
  storeNumber(code, total, scratch, e.numberAt(row, sumAt));
  return note;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void TileAttention::buildSums(Emission &e, Value first, Value anyRow) const {
  VectorBuilder &code = e.code;
  TileFactors factors = factorsOf(weights, values, anyRow);
  factors.a = {e.place.scratch, code.index(scoresAt * 16),
               scoresRow * 16,  1,
               e.rowCount,      e.keyCount};
  factors.b = {e.place.value,
               code.add(e.place.valueBase, code.mul(first, shape.valueRow)),
               1,
               shape.valueRow,
               code.index(shape.width),
               e.keyCount};
  Value areUnusual = e.ofSums.packPanels(factors.b, values);
  const int64_t panels = llvm::divideCeil(shape.width, panelOfTiles);
  const int64_t tilesOfLast =
      llvm::divideCeil(shape.width - (panels - 1) * panelOfTiles, int64_t(16));
  const int64_t valid = shape.width - llvm::alignDown(shape.width - 1, 16);
  auto multiply = [&](Value number, int64_t tiles, int64_t columns) {
    const TilePanel panel{number, code.mul(number, panelOfTiles), tiles,
                          areUnusual};
    e.ofSums.multiply(e.registers, factors, panel,
                      [&](Value row, int64_t columnTile, Value sums) {
                        Value column = code.add(panel.column, columnTile * 16);
                        finishSums(e, row, column, sums,
                                   columnTile + 1 == tiles ? columns : 16);
                      });
  };
  const bool isWhole = tilesOfLast == TileRegisters::panelTiles && valid == 16;
  const int64_t whole = isWhole ? panels : panels - 1;
  if (whole > 0)
    code.loop(code.index(0), code.index(whole), 1, [&](Value number) {
      multiply(number, TileRegisters::panelTiles, 16);
    });
  if (!isWhole)
    multiply(code.index(panels - 1), tilesOfLast, valid);
}

/// Adds the contribution of a block of keys to a row's accumulators, or stores
/// the final result.
void TileAttention::finishSums(Emission &e, Value row, Value column, Value sums,
                               int64_t valid) const {
  VectorBuilder &code = e.code;
  Value factor =
      code.loadSplat(e.place.scratch, e.numberAt(row, factorAt), e.floats());
  if (isOneBlock())
    return storeResult(e, row, column, code.mulVectors(sums, factor), valid);
  Value at =
      code.add(code.add(code.mul(row, widthPadded()), column), sumsAt * 16);
  Value before = code.load(e.place.scratch, at, e.floats());
  code.store(code.fma(before, factor, sums), e.place.scratch, at);
}

void TileAttention::storeResult(Emission &e, Value row, Value column,
                                Value vector, int64_t valid) const {
  VectorBuilder &code = e.code;
  vector = code.first(vector, valid);
  Value offset = code.add(
      code.add(e.place.resultBase, code.mul(row, shape.resultRow)), column);
  if (e.epilogue)
    vector = e.epilogue(
        code.builder, code.loc, vector,
        {e.place.heads, code.add(e.place.firstRow, row), column, offset});
  code.store(vector, e.place.result, offset);
}

void TileAttention::clearRows(Emission &e) const {
  VectorBuilder &code = e.code;
  Type element = code.builder.getF32Type();
  code.loop(code.index(0), e.rowCount, 1, [&](Value row) {
    storeNumber(
        code,
        splatNumber(code, element, -std::numeric_limits<double>::infinity()),
        e.place.scratch, e.numberAt(row, greatestAt));
    storeNumber(code, splatNumber(code, element, 0), e.place.scratch,
                e.numberAt(row, sumAt));
    Value sums = code.add(code.mul(row, widthPadded()), sumsAt * 16);
    code.loop(code.index(0), code.index(widthPadded()), 16, [&](Value column) {
      code.store(code.zero(e.floats()), e.place.scratch,
                 code.add(sums, column));
    });
  });
}

void TileAttention::divideRows(Emission &e) const {
  VectorBuilder &code = e.code;
  VectorType type = e.floats();
  const int64_t whole = llvm::alignDown(shape.width, 16);
  code.loop(code.index(0), e.rowCount, 1, [&](Value row) {
    Value sum = code.loadSplat(e.place.scratch, e.numberAt(row, sumAt), type);
    Value factor = code.create<arith::DivFOp>(splatNumber(code, type, 1), sum);
    auto divide = [&](Value column, int64_t valid) {
      Value at =
          code.add(code.add(code.mul(row, widthPadded()), column), sumsAt * 16);
      storeResult(e, row, column,
                  code.mulVectors(code.load(e.place.scratch, at, type), factor),
                  valid);
    };
    if (whole > 0)
      code.loop(code.index(0), code.index(whole), 16,
                [&](Value column) { divide(column, 16); });
    if (whole < shape.width)
      divide(code.index(whole), shape.width - whole);
  });
}
