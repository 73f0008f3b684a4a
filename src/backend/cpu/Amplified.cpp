//===- Amplified.cpp - convolutions whose errors grow behind them ---------===//

#include "backend/cpu/Amplified.h"

#include "backend/cpu/SetPrecisions.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/ProductPrecision.h"
#include "graph/stablehlo/StablehloOps.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool isConvolution(Operation *op) {
  return isa<sinter::stablehlo::ConvolutionOp, ConvolutionOp>(op) &&
         multipliesFloats(op);
}

void cpu::sayWhatIsAmplified(func::FuncOp function) {
  // What is shorter adds up little.
  constexpr int64_t longChain = 12;
  Block &body = function.getBody().front();
  // How many products the longest way from each operation to a result has,
  // itself included; those within regions count as one.
  llvm::DenseMap<Operation *, int64_t> products;
  int64_t longest = 0;
  for (Operation &op : llvm::reverse(body)) {
    int64_t behind = 0;
    for (Operation *user : op.getUsers())
      behind =
          std::max(behind, products.lookup(body.findAncestorOpInBlock(*user)));
    bool multiplies = false;
    op.walk([&](Operation *each) { multiplies |= multipliesFloats(each); });
    products[&op] = behind + (multiplies ? 1 : 0);
    longest = std::max(longest, products[&op]);
  }
  if (longest < longChain)
    return;
  for (Operation &op : body)
    if (isConvolution(&op) && 3 * (products[&op] - 1) >= 2 * longest)
      op.setDiscardableAttr(amplifiedAttribute,
                            UnitAttr::get(function.getContext()));
}

Precision cpu::partsPrecisionOf(Operation *op) {
  const Precision precision = precisionOf(op);
  return precision == Precision::Default && op->hasAttr(amplifiedAttribute)
             ? Precision::Exact
             : precision;
}
