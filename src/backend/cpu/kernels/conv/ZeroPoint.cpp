#include "backend/cpu/kernels/conv/ZeroPoint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value ZeroPoint::elements(int64_t count) const {
  OpBuilder &b = code.builder;
  auto type = VectorType::get({count}, storedType(element, b.getContext()));
  if (shape.hasZeroInMemory)
    return code.loadSplat(code.flatten(memory), code.index(0), type);
  const auto number = b.getIntegerAttr(
      type.getElementType(),
      llvm::APInt(type.getElementTypeBitWidth(), uint64_t(shape.zeroPoint)));
  return b.create<arith::ConstantOp>(code.loc,
                                     DenseElementsAttr::get(type, number));
}
