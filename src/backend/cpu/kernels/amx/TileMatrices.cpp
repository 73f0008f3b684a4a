//===- TileMatrices.cpp - AMX matmuls of two activations ------------------===//

#include "backend/cpu/kernels/amx/TileMatrices.h"

#include "backend/cpu/kernels/amx/TileMatrixTask.h"
#include "backend/cpu/kernels/amx/TileProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool TileMatrices::supports(const MatMulShape &shape, const Target &target) {
  return target.hasMatrixUnits && target.f32Lanes == 16 &&
         shape.bLayout != MatMulShape::BLayout::Packed &&
         shape.dynamicRows.empty() && !shape.givenRows && !shape.givenColumns &&
         !shape.givenDepth;
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
      tileRows(shape.dynamic ? mostTileRows : tileRowsFor(shape.m)) {
  assert(supports(shape, target));
  rows.parts = arithmetic.lhsTerms;
  columns.parts = arithmetic.rhsTerms;
  if (shape.dynamic)
    planBlocks(target);
  else
    planTasks(target);
  spare = reserve(TileOperands::spareLines(arithmetic));
}

void TileMatrices::planTasks(const Target &target) {
  tiles = llvm::divideCeil(shape.m, tileRows);
  columns.blocks = rows.blocks =
      llvm::divideCeil(shape.k, arithmetic.blockElements());
  cut = cutFor(target);
  rows.positions = llvm::alignTo(
      std::min(groupTiles * cut.units.sizeOf(0), tiles) * tileRows,
      mostTileRows);
  rows.at = reserve(rows.lines());
  rows.notes = reserve(rows.noteLines());
  columns.at = reserve(columns.panelLines());
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

void TileMatrices::build(VectorBuilder &code, TileRegisters &registers,
                         Value task, const MatMulRequest &request) const {
  Value scratch = code.flatten(request.scratch);
  TileMatrixTask e{code,    registers, {code, arithmetic, scratch, spare},
                   request, scratch,   code.flatten(request.c)};
  if (shape.dynamic)
    buildBlocks(e, task);
  else
    buildTask(e, task);
}

void TileMatrices::buildTask(TileMatrixTask &e, Value task) const {
  VectorBuilder &code = e.code;
  Value matrix = code.div(task, cut.tasks());
  e.origin = {code.index(0), code.index(0), code.index(0)};
  e.batch = shape.toMatrix(code, matrix, e.origin);
  Value ofMatrix = code.rem(task, cut.tasks());
  Value unit = code.div(ofMatrix, cut.panels.count),
        chunk = code.rem(ofMatrix, cut.panels.count);
  e.firstRow = code.mul(cut.units.start(code, unit), groupTiles * tileRows);
  Value endRow = code.min(
      code.mul(cut.units.start(code, code.add(unit, 1)), groupTiles * tileRows),
      code.index(shape.m));
  e.factors = {{}, {},       rows,  columns,
               {}, tileRows, tiles, tiles % groupTiles == 0};
  e.setMatrices(shape, code.index(shape.n), code.index(shape.k),
                /*depthUnit=*/1);
  e.factors.a.count = code.sub(endRow, e.firstRow);
  e.factors.anyRow = e.operands.stageRows(e.factors.a, rows);
  if (e.request.zeros.rhs)
    e.operands.sumRows(e.factors.a, rows, e.request.zeros.rhs, dot);

  const int64_t tilesOfLast =
      llvm::divideCeil(shape.n - (panels() - 1) * panelColumns, int64_t(16));
  const int64_t valid = shape.n - llvm::alignDown(shape.n - 1, 16);
  code.loop(cut.panels.start(code, chunk),
            cut.panels.start(code, code.add(chunk, 1)), 1, [&](Value number) {
              TilePanel panel{code.index(0),
                              code.mul(number, panelColumns),
                              tilesOfLast,
                              {}};
              Value left = code.sub(code.index(shape.n), panel.column);
              Value count = code.min(code.index(TileRegisters::panelTiles),
                                     code.div(code.add(left, 15), 16));
              panel.areUnusual = e.operands.isUnusual(e.operands.packColumns(
                  e.factors.b, panel.column, count, columns, panel.number));
              if (panels() == 1 ||
                  (tilesOfLast == TileRegisters::panelTiles && valid == 16))
                return buildPanel(e, panel, valid);
              TilePanel whole = panel;
              whole.tiles = TileRegisters::panelTiles;
              code.when(
                  code.less(number, code.index(panels() - 1)),
                  [&] { buildPanel(e, whole, 16); },
                  [&] { buildPanel(e, panel, valid); });
            });
}

/// For int8, zeroA (k zeroB - sum b) of the columns of each tile; nothing where
/// zeroA is 0.
SmallVector<Value> TileMatrices::columnSums(TileMatrixTask &e,
                                            const TilePanel &panel) const {
  VectorBuilder &code = e.code;
  SmallVector<Value> all;
  if (!e.request.zeros.lhs)
    return all;
  auto splat = [&](Value number) {
    return code.create<vector::SplatOp>(
        VectorType::get({16}, code.builder.getI32Type()), number);
  };
  Value factor = splat(e.request.zeros.lhs);
  for (int64_t tile = 0; tile < panel.tiles; ++tile) {
    Value sums = code.create<arith::MulIOp>(
        e.operands.sumColumns(e.factors.b, columns, panel.number, tile, dot),
        factor);
    Value whole =
        code.create<arith::ConstantOp>(code.builder.getI32IntegerAttr(0));
    if (e.request.zeros.rhs)
      whole = code.create<arith::MulIOp>(
          code.create<arith::MulIOp>(e.request.zeros.lhs, e.request.zeros.rhs),
          code.create<arith::ConstantOp>(
              code.builder.getI32IntegerAttr(int32_t(shape.k))));
    all.push_back(code.subVectors(splat(whole), sums));
  }
  return all;
}

/// The last tile has \p valid columns.
void TileMatrices::buildPanel(TileMatrixTask &e, const TilePanel &panel,
                              int64_t valid) const {
  VectorBuilder &code = e.code;
  const SmallVector<Value> ofColumns = columnSums(e, panel);
  e.operands.multiply(
      e.registers, e.factors, panel,
      [&](Value inTask, int64_t columnTile, Value sums) {
        Value row = code.add(e.firstRow, inTask);
        Value column = code.add(panel.column, columnTile * 16);
        Value offset = code.add(
            code.add(e.origin.c, code.mul(row, shape.cRowStride)), column);
        if (e.request.zeros.rhs)
          sums = code.addVectors(sums, e.operands.sumOfRow(rows, inTask));
        if (!ofColumns.empty())
          sums = code.addVectors(sums, ofColumns[columnTile]);
        e.store(row, column, offset,
                code.first(sums, columnTile + 1 == panel.tiles ? valid : 16));
      });
}
