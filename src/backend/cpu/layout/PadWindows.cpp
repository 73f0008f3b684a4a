#include "backend/cpu/layout/PadWindows.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::cpu {

static bool isSplatOf(Value value, double number) {
  std::optional<Tensor> constant = constantTensor(value);
  return constant && constant->size() > 0 && constant->toDouble(0) == number;
}

/// Whether combining with \p init once more changes nothing.
static bool ignoresInitialValue(Region &region, Value init) {
  std::optional<StringRef> name = soleOperation(region);
  if (!name)
    return false;
  if (*name == MaxOp::getOperationName() ||
      *name == MinOp::getOperationName() ||
      *name == AndOp::getOperationName() || *name == OrOp::getOperationName())
    return true;
  if (isa<ComplexType>(tensorOf(init).getElementType()))
    return false;
  if (*name == AddOp::getOperationName() || *name == XorOp::getOperationName())
    return isSplatOf(init, 0);
  return *name == MulOp::getOperationName() && isSplatOf(init, 1);
}

static bool reachesOutside(const WindowDimension &window) {
  return window.paddingLow > 0 || window.paddingHigh > 0 ||
         window.baseDilation != 1;
}

static void padOperands(ReduceWindowOp op) {
  OpBuilder builder(op);
  SmallVector<int64_t> low, high, interior;
  for (const WindowDimension &window : op.getWindow()) {
    low.push_back(window.paddingLow);
    high.push_back(window.paddingHigh);
    interior.push_back(window.baseDilation - 1);
  }
  for (auto [i, init] : llvm::enumerate(op.getInitValues()))
    op->setOperand(i, builder.create<PadOp>(op.getLoc(), op.getInputs()[i],
                                            init, low, high, interior));
  op.removePaddingAttr();
  op.removeBaseDilationsAttr();
}

void padWindows(func::FuncOp function) {
  SmallVector<ReduceWindowOp> found;
  function.walk([&](ReduceWindowOp op) {
    if (llvm::any_of(op.getWindow(), reachesOutside) &&
        !(op.getInitValues().size() == 1 &&
          ignoresInitialValue(op.getBody(), op.getInitValues()[0])))
      found.push_back(op);
  });
  llvm::for_each(found, padOperands);
}

} // namespace sinter::cpu
