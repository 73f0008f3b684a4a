#include "passes/WidenedWeights.h"

#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/stablehlo/Sums.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Smaller weights are not worth keeping low-bit.
static constexpr int64_t leastElements = 4096;

static bool isNarrow(Type element) {
  return isa<quant::QuantizedType>(element) || isNarrowInteger(element) ||
         isNarrowFloat(element);
}

/// Whether \p op converts many narrow elements to wider floats.
static bool isWidening(Operation *op) {
  if (!isa<ConvertOp, UniformDequantizeOp>(op))
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType()),
       to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!from || !to || !from.hasStaticShape() ||
      from.getNumElements() < leastElements ||
      !isa<FloatType>(to.getElementType()) || !isNarrow(from.getElementType()))
    return false;
  return isa<quant::QuantizedType>(from.getElementType()) ||
         from.getElementTypeBitWidth() < to.getElementTypeBitWidth();
}

/// Whether \p op may stand between a widened weight and a product.
static bool isBetween(Operation *op) {
  return isa<ConvertOp, SubtractOp, MulOp, ReshapeOp, TransposeOp, SliceOp>(op);
}

/// Whether \p op gathers from \p value.
static bool isTableOf(Operation *op, Value value) {
  return isa<GatherOp, nn::TakeOp>(op) && op->getOperand(0) == value;
}

/// Whether the result of \p op is used by a product, or as the table of a
/// gather where \p countsTables.
static bool leadsToProduct(Operation *op, bool countsTables) {
  constexpr unsigned mostUsers = 16;
  SmallVector<Value> open = {op->getResult(0)};
  for (unsigned i = 0; i < open.size() && i < mostUsers; ++i)
    for (Operation *user : open[i].getUsers()) {
      if (isa<DotGeneralOp>(user) || (countsTables && isTableOf(user, open[i])))
        return true;
      if (isBetween(user))
        open.push_back(user->getResult(0));
    }
  return false;
}

bool widensWeight(Operation *op) {
  return isWidening(op) && leadsToProduct(op, /*countsTables=*/true);
}

bool widensByteWeight(Operation *op) {
  if (!isa<ConvertOp>(op))
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType()),
       to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return from && to && from.hasStaticShape() &&
         from.getNumElements() >= leastElements &&
         from.getElementType().isInteger(8) &&
         to.getElementType().isInteger(32) &&
         leadsToProduct(op, /*countsTables=*/false);
}

bool isWidenedWeight(Value value) {
  constexpr unsigned mostOperations = 16;
  SmallVector<Value> open = {value};
  for (unsigned i = 0; i < open.size() && i < mostOperations; ++i) {
    Operation *op = open[i].getDefiningOp();
    if (!op)
      continue;
    if (isWidening(op))
      return true;
    if (isBetween(op))
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

} // namespace sinter
