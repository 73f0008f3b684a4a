#include "passes/QuantizedConstant.h"

#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter {

Value makeQuantized(OpBuilder &builder, Value old, const Tensor &elements,
                    quant::QuantizedType type, FoldedNames &names) {
  const std::string name = names.fused(constantName(old));
  auto constant = builder.create<stablehlo::ConstantOp>(
      old.getLoc(), RankedTensorType::get(elements.shape(), type),
      toAttribute(elements, name, builder.getContext()));
  if (!name.empty())
    constant->setAttr(nameAttribute, builder.getStringAttr(name));
  const quant::QuantizedType was = quantizedOf(old.getType()),
                             stored = storedAs(old);
  if (auto shift = stored ? shiftBetween(was, stored) : std::nullopt)
    if (quant::QuantizedType now = movedBy(type, storageOf(stored), *shift))
      constant->setDiscardableAttr(storedAsAttribute, TypeAttr::get(now));
  return constant;
}

} // namespace sinter
