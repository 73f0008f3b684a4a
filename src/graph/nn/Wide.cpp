#include "graph/nn/Wide.h"

using namespace mlir;

namespace sinter::nn {

/// Attributes that name the type to compute in.
static void widenComputeType(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    auto type = dyn_cast<TypeAttr>(attribute.getValue());
    if (type && isNarrowFloat(type.getValue()))
      op->setAttr(attribute.getName(),
                  TypeAttr::get(Float32Type::get(op->getContext())));
  }
}

std::optional<FailureOr<SmallVector<Value>>>
decomposeInF32(DecomposableOpInterface op, OpBuilder &builder) {
  if (llvm::none_of(op->getOperandTypes(), isNarrowFloat))
    return std::nullopt;
  Emit emit(builder, op->getLoc());
  Type f32 = builder.getF32Type();
  Operation *wide = builder.clone(*op.getOperation());
  SmallVector<Operation *> conversions;
  builder.setInsertionPoint(wide);
  for (OpOperand &operand : wide->getOpOperands())
    if (isNarrowFloat(operand.get().getType())) {
      operand.set(emit.convert(operand.get(), f32));
      conversions.push_back(operand.get().getDefiningOp());
    }
  for (Value result : wide->getResults())
    if (isNarrowFloat(result.getType()))
      result.setType(tensorOf(result).clone(f32));
  widenComputeType(wide);
  builder.setInsertionPointAfter(wide);
  FailureOr<SmallVector<Value>> values =
      cast<DecomposableOpInterface>(wide).decompose(builder);
  wide->erase();
  if (failed(values)) {
    for (Operation *conversion : conversions)
      conversion->erase();
    return values;
  }
  for (auto [value, type] : llvm::zip_equal(*values, op->getResultTypes()))
    value = emit.convert(value, getElementTypeOrSelf(type));
  return values;
}

} // namespace sinter::nn
