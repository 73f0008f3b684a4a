//===- MatMulCalls.cpp - accumulation of tiles in a subroutine ------------===//
//
// Products differ in what follows them, and their reductions in the numbers of
// steps and where rows are. So tiles of dynamic rows, which have code for each
// of several heights, have their sums from a subroutine, which is told these
// numbers and leaves the sums in memory. Where tiles are small, products of any
// depth have one. In larger ones each row that is not at a known distance would
// want a register: there products have one whose rows are as far apart.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/codegen/Subroutine.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// For this many steps, the cost of accumulators in memory is negligible.
static constexpr int64_t leastSteps = 48;

/// Whether a subroutine computes the accumulators of \p panel.
bool MatMul::callsSums(const Panel &panel) const {
  return hasDynamicRows() && shape.bLayout == MatMulShape::BLayout::Packed &&
         !widensPanels() && shape.blocks.size == 0 && !panel.left &&
         shape.aColumnStride.isStatic() &&
         arithmetic.steps(shape.k) >= leastSteps;
}

/// Stores the accumulators of \p tile to \p waiting, for \p panels panels from
/// \p panel on.
void MatMul::callSums(VectorBuilder &code, const Operands &operands,
                      const Panel &panel, const DynamicRowTiles &tiles,
                      const DynamicRowTiles::Tile &tile,
                      ArrayRef<Grouping> groupings, Value panels,
                      const WaitingRows &waiting) const {
  SmallVector<Value> arguments = {
      operands.a,
      panel.source,
      waiting.memory(),
      code.add(operands.aBase, rowOfA(code, operands, tile.first)),
      panel.offset,
      tile.rows};
  if (!groupings.empty())
    arguments.push_back(panels);
  if (fetchesNext(panel))
    arguments.push_back(firstFetched(code, operands, panel));
  if (mayTellDistances())
    arguments.push_back(code.index(shape.aRowStride));
  arguments.push_back(code.index(arithmetic.steps(shape.k)));
  auto write = [&](OpBuilder &builder, ValueRange given) {
    VectorBuilder inner(builder, code.loc);
    auto next = [&] {
      Value value = given.front();
      given = given.drop_front();
      return value;
    };
    Operands own = operands;
    Panel ownPanel = panel;
    own.a = next();
    own.b = ownPanel.source = next();
    const WaitingRows kept(
        next(), arithmetic.sumType(builder.getContext(), lanes), panel.vectors);
    own.aBase = next();
    ownPanel.offset = next();
    const DynamicRowTiles::Tile rows{inner.index(0), next()};
    SmallVector<Grouping> ofPanels(groupings);
    Value wanted = groupings.empty() ? Value() : next();
    for (Grouping &each : ofPanels) {
      each.isGrouped =
          inner.both(inner.less(rows.rows, inner.index(each.group.rows + 1)),
                     inner.equal(wanted, inner.index(each.group.panels)));
      each.isFirst = inner.boolean(true);
    }
    if (fetchesNext(panel))
      own.fetched = next();
    if (mayTellDistances())
      own.rowStride = next();
    // There is at least one step, without a check.
    ownPanel.steps = inner.max(next(), inner.index(leastSteps));
    forPieces(inner, tiles, rows, ownPanel, ofPanels,
              [&](const DynamicRowTiles::Piece &piece, const Panel &panel) {
                own.lastRow = piece.last;
                own.sureRows = piece.sure;
                kept.keep(inner, piece.start,
                          reduce(inner, own, panel, piece.start, piece.height));
              });
  };
  callSubroutine(code.builder, code.loc, arguments, {waiting.memory()}, write);
}
