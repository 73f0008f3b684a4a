// Axes of operations on strings that are not element-wise.

#include "graph/axes/Axes.h"

#include "graph/text/TextOps.h"

using namespace mlir;

namespace sinter::axes {

/// A rank depends on all texts.
static Axes ranked(text::RankOp op) {
  Builder builder(op);
  builder.alike(builder.resultRank(), AxisKind::Mixed,
                [](int64_t) { return true; });
  return builder.take();
}

static Axes found(text::FindOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    builder.keep({operand(0, i), result(i)});
  return builder.take();
}

static Axes split(text::SplitOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.rankOf(0); ++i)
    builder.keep({operand(0, i), result(0, i), result(1, i)});
  return builder.take();
}

void attachText(MLIRContext *c) {
  attach<text::RankOp, ranked>(c);
  attach<text::FindOp, found>(c);
  attach<text::SplitOp, split>(c);
}

} // namespace sinter::axes
