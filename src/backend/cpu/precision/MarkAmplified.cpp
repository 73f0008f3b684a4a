//===- MarkAmplified.cpp - mark layers whose error is amplified -----------===//

#include "backend/cpu/precision/MarkAmplified.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/precision/SetPrecisions.h"
#include "graph/ProductPrecision.h"
#include "graph/stablehlo/StablehloOps.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool isConvolution(Operation *op) {
  return isa<sinter::stablehlo::ConvolutionOp, cpu::ConvolutionOp>(op) &&
         multipliesFloats(op);
}

/// The most products on a path from each operation of \p body to a result,
/// including itself; an operation with products in its regions counts as one.
static llvm::DenseMap<Operation *, int64_t> productsFrom(Block &body) {
  llvm::DenseMap<Operation *, int64_t> products;
  for (Operation &op : llvm::reverse(body)) {
    int64_t behind = 0;
    for (Operation *user : op.getUsers())
      behind =
          std::max(behind, products.lookup(body.findAncestorOpInBlock(*user)));
    bool multiplies = false;
    op.walk([&](Operation *each) { multiplies |= multipliesFloats(each); });
    products[&op] = behind + (multiplies ? 1 : 0);
  }
  return products;
}

/// The number of constant elements that \p op multiplies by, directly or
/// through unary operations; 0 for products of activations.
static int64_t weightsOf(Operation *op) {
  if (!multipliesFloats(op) || op->getNumOperands() < 2)
    return 0;
  Value weights = op->getOperand(1);
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  Operation *made = weights.getDefiningOp();
  while (made && made->getNumOperands() == 1 && made->getNumRegions() == 0)
    made = made->getOperand(0).getDefiningOp();
  if (!isConstant(made) || !type || !type.hasStaticShape())
    return 0;
  return type.getNumElements();
}

static void setFlag(Operation &op, StringRef attribute) {
  op.setDiscardableAttr(attribute, UnitAttr::get(op.getContext()));
}

void cpu::markAmplified(func::FuncOp function) {
  // Shorter chains accumulate little error.
  constexpr int64_t longChain = 12;
  // f32 accuracy doubles the work.
  constexpr int64_t smallShare = 50;
  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, int64_t> products = productsFrom(body);
  int64_t longest = 0, weights = 0;
  for (const auto &[op, count] : products)
    longest = std::max(longest, count);
  function.walk([&](Operation *op) { weights += weightsOf(op); });
  for (Operation &op : body) {
    if (longest >= longChain && isConvolution(&op) &&
        3 * (products[&op] - 1) >= 2 * longest)
      setFlag(op, amplifiedAttribute);
    const int64_t own = isConvolution(&op) ? 0 : weightsOf(&op);
    if (own > 0 && products[&op] == 1 && smallShare * own <= weights)
      setFlag(op, lastAttribute);
  }
}

sinter::Precision cpu::termsPrecisionOf(Operation *op) {
  const sinter::Precision precision = precisionOf(op);
  return precision == sinter::Precision::Default &&
                 (op->hasAttr(amplifiedAttribute) || op->hasAttr(lastAttribute))
             ? sinter::Precision::Exact
             : precision;
}
