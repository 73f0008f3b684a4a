// Axes of collective operations: a slice is the same one in all processes.

#include "graph/axes/Axes.h"

#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {
namespace {

/// How processes exchange elements: each gets a slice of an operand's dimension
/// `split`; a result's dimension `join` concatenates slices of all of them.
struct Exchange {
  std::optional<int64_t> split, join;
  /// How many processes are in a group; `?` if only the types tell.
  int64_t parts = ShapedType::kDynamic;
};

} // namespace

/// Adds the axes of a dimension that is split, concatenated or both.
static void addParts(Builder &builder, const Exchange &exchange, Place from,
                     Place to) {
  const bool isSplit = exchange.split == from.dimension,
             isJoined = exchange.join == to.dimension;
  int64_t whole = builder.sizeAt(isSplit ? from : to);
  if (isSplit && isJoined && ShapedType::isDynamic(whole))
    whole = builder.sizeAt(to);
  int64_t own = isSplit && isJoined ? ShapedType::kDynamic
                                    : builder.sizeAt(isSplit ? to : from),
          parts = exchange.parts;
  const bool isWholeKnown = !ShapedType::isDynamic(whole);
  if (ShapedType::isDynamic(parts) && isWholeKnown &&
      !ShapedType::isDynamic(own) && own > 0)
    parts = whole / own;
  else if (ShapedType::isDynamic(own) && isWholeKnown &&
           !ShapedType::isDynamic(parts))
    own = whole / parts;
  SmallVector<Place, 2> places;
  if (isSplit)
    places.push_back(from);
  if (isJoined)
    places.push_back(to);
  // A single process has all elements.
  if (parts != 1)
    builder.add(AxisKind::Mixed, places, parts);
  builder.add(AxisKind::Kept, {from, to}, own);
}

/// The axes where result i is made of the processes' operands i.
static Axes exchanged(Operation *op, const Exchange &exchange) {
  Builder builder(op);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    for (int64_t j = 0; j < builder.resultRank(i); ++j)
      if (exchange.split == j || exchange.join == j)
        addParts(builder, exchange, operand(i, j), result(i, j));
      else
        builder.keep({operand(i, j), result(i, j)});
  return builder.take();
}

static Axes gathered(AllGatherOp op) {
  return exchanged(op, {std::nullopt, op.getAllGatherDim()});
}
static Axes reducedAndScattered(ReduceScatterOp op) {
  return exchanged(op, {op.getScatterDimension(), std::nullopt});
}
static Axes passedRound(AllToAllOp op) {
  return exchanged(op, {static_cast<int64_t>(op.getSplitDimension()),
                        static_cast<int64_t>(op.getConcatDimension()),
                        static_cast<int64_t>(op.getSplitCount())});
}

void attachDistribution(MLIRContext *c) {
  attach<AllGatherOp, gathered>(c);
  attach<ReduceScatterOp, reducedAndScattered>(c);
  attach<AllToAllOp, passedRound>(c);
  attach<AllReduceOp, passedOn>(c);
  attach<CrossReplicaSumOp, passedOn>(c);
  attach<CollectiveBroadcastOp, passedOn>(c);
  attach<CollectiveReduceOp, passedOn>(c);
  attach<CollectivePermuteOp, passedOn>(c);
}

} // namespace sinter::axes
