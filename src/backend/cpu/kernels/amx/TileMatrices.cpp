//===- TileMatrices.cpp - AMX matmuls of two activations ------------------===//

#include "backend/cpu/kernels/amx/TileMatrices.h"

#include "backend/cpu/kernels/amx/TileMatMul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool TileMatrices::supports(const MatMulShape &shape, const Target &target) {
  return target.hasMatrixUnits && target.f32Lanes == 16 &&
         shape.bLayout != MatMulShape::BLayout::Packed &&
         shape.dynamicRows.empty() && !shape.dynamic && !shape.givenRows &&
         !shape.givenColumns && !shape.givenDepth;
}

int64_t TileMatrices::matrices() const {
  int64_t all = 1;
  for (const MatMulShape::BatchDim &dim : shape.batch)
    all *= dim.size.value();
  return all;
}

int64_t TileMatrices::panels() const {
  return llvm::divideCeil(shape.n, panelColumns);
}

TileMatrices::TileMatrices(const MatMulShape &shape, const Target &target,
                           const TileArithmetic &arithmetic)
    : shape(shape), arithmetic(arithmetic),
      dot{ElementType::UI8, ElementType::I8, ElementType::I32, 4,
          target.hasVnni ? StepInstruction::ByteDotProduct
                         : StepInstruction::MultiplyAdd},
      tileRows(tileRowsFor(shape.m)),
      tiles(llvm::divideCeil(shape.m, tileRows)) {
  assert(supports(shape, target));
  columns.blocks = rows.blocks =
      llvm::divideCeil(shape.k, arithmetic.blockElements());
  rows.parts = arithmetic.lhsTerms;
  columns.parts = arithmetic.rhsTerms;
  cut = cutFor(target);
  rows.positions = llvm::alignTo(
      std::min(groupTiles * cut.units.sizeOf(0), tiles) * tileRows,
      mostTileRows);
  rows.notes = rows.lines();
  columns.at = rows.notes + rows.noteLines();
  spare = columns.at + columns.panelLines();
  lines = spare + TileOperands::spareLines(arithmetic);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// As TileProduct::productSeconds, for one matrix.
double TileMatrices::productSeconds(const Target &target) const {
  TileProductShape of;
  of.n = shape.n;
  of.k = shape.k;
  of.tileRows = tileRows;
  return TileProduct(of, arithmetic).productSeconds(tiles, target);
}

/// Transposed operands go through memory twice more.
double TileMatrices::movedBytes(int64_t parts, bool isTransposed) const {
  return double(byteSize(arithmetic.rhs)) +
         double(byteSize(arithmetic.rhsPart())) * double(parts) *
             (isTransposed ? 3 : 1);
}

double TileMatrices::stageSeconds(int64_t units, const Target &target) const {
  const double elements = double(units * groupTiles * tileRows) *
                          double(rows.blocks) *
                          double(arithmetic.blockElements());
  return elements * movedBytes(rows.parts, shape.aColumnStride != 1) /
         target.rates.cache;
}

/// The time to pack all columns of a matrix.
double TileMatrices::packSeconds(const Target &target) const {
  const bool isTransposed = shape.isTransposed();
  const double elements = double(llvm::alignTo(shape.n, 16)) *
                          double(columns.blocks) *
                          double(arithmetic.blockElements());
  return elements * movedBytes(columns.parts, isTransposed) /
         target.rates.cache;
}

TileTasks TileMatrices::cutFor(const Target &target) const {
  const int64_t rowLines = rows.parts * rows.blocks * tileRows;
  TileTasks::Costs costs;
  costs.stage = [&](int64_t units) { return stageSeconds(units, target); };
  costs.weights = packSeconds(target);
  costs.products = productSeconds(target);
  costs.mostUnits = target.l2Bytes / 2 / (groupTiles * rowLines * tileRowBytes);
  return TileTasks::choose(matrices(), llvm::divideCeil(tiles, groupTiles),
                           panels(), costs);
}

double TileMatrices::seconds(const Target &target) const {
  return double(matrices()) *
         (productSeconds(target) +
          double(cut.panels.count) *
              stageSeconds(llvm::divideCeil(tiles, groupTiles), target) +
          double(cut.units.count) * packSeconds(target));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

struct TileMatrices::Emission {
  VectorBuilder &code;
  TileOperands operands;
  TileRegisters registers;
  TileFactors factors;
  Value c, cBase;
  MatMulPosition position; ///< The position in the batch.
  const MatMulEpilogue &epilogue;
  Value firstRow;
  MatMulZeros zeros;
};

/// Sets the start of the matrices of \p task, and returns the task's index
/// within its matrix.
Value TileMatrices::originsOf(Emission &e, Value task) const {
  VectorBuilder &code = e.code;
  Value matrix = code.div(task, cut.tasks());
  MatMulOrigin origin{code.index(0), code.index(0), code.index(0)};
  e.position.batch = shape.toMatrix(code, matrix, origin);
  e.factors.a.start = origin.a;
  e.factors.b.start = origin.b;
  e.cBase = origin.c;
  return code.rem(task, cut.tasks());
}

void TileMatrices::build(OpBuilder &builder, Location location, Value task,
                         Value a, Value b, Value c, Value scratch,
                         const MatMulEpilogue &epilogue,
                         const MatMulZeros &zeros) const {
  VectorBuilder code(builder, location);
  const bool isTransposed = shape.isTransposed();
  const TileMatrix ofA{code.flatten(a),     {}, shape.aRowStride,
                       shape.aColumnStride, {}, code.index(shape.k)},
      ofB{code.flatten(b),
          {},
          isTransposed ? shape.bStride : 1,
          isTransposed ? 1 : shape.bStride,
          code.index(shape.n),
          code.index(shape.k)};
  Emission e{code,
             {code, arithmetic, code.flatten(scratch), spare},
             {code, tileRows, arithmetic},
             {ofA,
              ofB,
              rows,
              columns,
              {},
              tileRows,
              tiles,
              tiles % TileRegisters::groupTiles == 0},
             code.flatten(c),
             {},
             {},
             epilogue,
             {},
             zeros};
  Value ofMatrix = originsOf(e, task);
  Value unit = code.div(ofMatrix, cut.panels.count),
        chunk = code.rem(ofMatrix, cut.panels.count);
  TileMatrix &own = e.factors.a;
  e.firstRow = code.mul(cut.units.start(code, unit), groupTiles * tileRows);
  Value endRow = code.min(
      code.mul(cut.units.start(code, code.add(unit, 1)), groupTiles * tileRows),
      code.index(shape.m));
  own.start = code.add(own.start, code.mul(e.firstRow, own.stride));
  own.count = code.sub(endRow, e.firstRow);
  e.factors.anyRow = e.operands.stageRows(own, rows);
  if (zeros.rhs)
    e.operands.sumRows(own, rows, zeros.rhs, dot);

  const int64_t tilesOfLast =
      llvm::divideCeil(shape.n - (panels() - 1) * panelColumns, int64_t(16));
  const int64_t valid = shape.n - llvm::alignDown(shape.n - 1, 16);
  code.loop(
      cut.panels.start(code, chunk), cut.panels.start(code, code.add(chunk, 1)),
      1, [&](Value number) {
        TilePanel panel{
            code.index(0), code.mul(number, panelColumns), tilesOfLast, {}};
        Value left = code.sub(code.index(shape.n), panel.column);
        Value count =
            code.min(code.index(panelTiles), code.div(code.add(left, 15), 16));
        panel.areUnusual = e.operands.isUnusual(e.operands.packColumns(
            e.factors.b, panel.column, count, columns, panel.number));
        if (panels() == 1 || (tilesOfLast == panelTiles && valid == 16))
          return buildPanel(e, panel, valid);
        TilePanel whole = panel;
        whole.tiles = panelTiles;
        code.when(
            code.less(number, code.index(panels() - 1)),
            [&] { buildPanel(e, whole, 16); },
            [&] { buildPanel(e, panel, valid); });
      });
}

/// For int8, zeroA (k zeroB - sum b) of the columns of each tile; nothing where
/// zeroA is 0.
SmallVector<Value> TileMatrices::columnSums(Emission &e,
                                            const TilePanel &panel) const {
  VectorBuilder &code = e.code;
  SmallVector<Value> all;
  if (!e.zeros.lhs)
    return all;
  auto splat = [&](Value number) {
    return code.create<vector::SplatOp>(
        VectorType::get({16}, code.builder.getI32Type()), number);
  };
  Value factor = splat(e.zeros.lhs);
  for (int64_t tile = 0; tile < panel.tiles; ++tile) {
    Value sums = code.create<arith::MulIOp>(
        e.operands.sumColumns(e.factors.b, columns, panel.number, tile, dot),
        factor);
    Value whole =
        code.create<arith::ConstantOp>(code.builder.getI32IntegerAttr(0));
    if (e.zeros.rhs)
      whole = code.create<arith::MulIOp>(
          code.create<arith::MulIOp>(e.zeros.lhs, e.zeros.rhs),
          code.create<arith::ConstantOp>(
              code.builder.getI32IntegerAttr(int32_t(shape.k))));
    all.push_back(code.subVectors(splat(whole), sums));
  }
  return all;
}

/// The last tile has \p valid columns.
void TileMatrices::buildPanel(Emission &e, const TilePanel &panel,
                              int64_t valid) const {
  VectorBuilder &code = e.code;
  const SmallVector<Value> ofColumns = columnSums(e, panel);
  e.operands.multiply(
      e.registers, e.factors, panel,
      [&](Value row, int64_t columnTile, Value sums) {
        MatMulPosition at = e.position;
        at.row = code.add(e.firstRow, row);
        at.column = code.add(panel.column, columnTile * 16);
        at.offset = code.add(
            code.add(e.cBase, code.mul(at.row, shape.cRowStride)), at.column);
        if (e.zeros.rhs)
          sums = code.addVectors(sums, e.operands.sumOfRow(rows, row));
        if (!ofColumns.empty())
          sums = code.addVectors(sums, ofColumns[columnTile]);
        sums = code.first(sums, columnTile + 1 == panel.tiles ? valid : 16);
        if (e.epilogue)
          sums = e.epilogue(code.builder, code.loc, sums, at);
        code.store(sums, e.c, at.offset);
      });
}
