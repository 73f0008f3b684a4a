//===- RegionForm.cpp - what a region is made of --------------------------===//

#include "backend/cpu/regions/RegionForm.h"

#include "backend/cpu/OperationKind.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isInlinable(Region &region) {
  constexpr int64_t mostValues = 64;
  return llvm::all_of(region.front().without_terminator(), [&](Operation &op) {
    Kind kind = kindOf(&op);
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      return isSplatConstant(constant) ||
             (sizeOf(constant.getResult()) <= mostValues &&
              isa<DenseElementsAttr>(constant.getValue()));
    auto isScalar = [](Type type) {
      return cast<RankedTensorType>(type).getRank() == 0;
    };
    if (kind == Kind::Control &&
        (!llvm::all_of(op.getOperandTypes(), isScalar) ||
         !llvm::all_of(op.getResultTypes(), isScalar)))
      return false;
    return kind != Kind::Unknown && kind != Kind::Whole && kind != Kind::Call &&
           hasInlinableRegions(&op);
  });
}

bool cpu::hasInlinableRegions(Operation *op) {
  return llvm::all_of(op->getRegions(), isInlinable);
}
