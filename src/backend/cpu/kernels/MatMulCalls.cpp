//===- MatMulCalls.cpp - sums of a product's tiles as a subroutine --------===//
//
// Products differ in what follows them, and their reductions in the numbers of
// steps and where rows are. So tiles of open rows, which have code for each of
// several heights, have their sums from a subroutine, which is told these
// numbers and leaves the sums in memory. Where tiles are small, products of any
// depth have one. In larger ones each row that is not at a known distance would
// want a register: there products have one whose rows are as far apart.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/codegen/Subroutine.h"
#include "backend/cpu/kernels/MatMul.h"
#include "graph/NamedSizes.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Leaving sums in memory does not count beside so many steps.
static constexpr int64_t leastSteps = 48;

/// Whether a subroutine has the sums of \p panel.
bool MatMul::callsSums(const Panel &panel) const {
  return hasOpenRows() && shape.bLayout == MatMulShape::BLayout::Packed &&
         !widensPanels() && shape.blocks.size == 0 && !panel.left &&
         !isNamed(shape.aColumnStride) &&
         arithmetic.steps(shape.k) >= leastSteps;
}

/// Leaves the sums of \p tile in \p waiting, of so many \p panels from \p panel
/// on.
void MatMul::callSums(VectorBuilder &code, const Operands &operands,
                      const Panel &panel, const OpenRowTiles &tiles,
                      const OpenRowTiles::Tile &tile,
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
    const OpenRowTiles::Tile rows{inner.index(0), next()};
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
    // Nobody has to ask whether there is a step.
    ownPanel.steps = inner.max(next(), inner.index(leastSteps));
    forPieces(inner, tiles, rows, ownPanel, ofPanels,
              [&](const OpenRowTiles::Piece &piece, const Panel &panel) {
                own.lastRow = piece.last;
                own.sureRows = piece.sure;
                kept.keep(inner, piece.start,
                          reduce(inner, own, panel, piece.start, piece.height));
              });
  };
  callSubroutine(code.builder, code.loc, arguments, {waiting.memory()}, write);
}
