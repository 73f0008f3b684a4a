#include "graph/Momentum.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter {

static bool isShare(double number) { return number >= 0 && number <= 1; }

double momentumOf(Operation *op) {
  auto attribute = op->getAttrOfType<FloatAttr>(momentumAttribute);
  return attribute && isShare(attribute.getValueAsDouble())
             ? attribute.getValueAsDouble()
             : usualMomentum;
}

void setMomentum(Value norm, double momentum) {
  Operation *op = norm ? norm.getDefiningOp() : nullptr;
  if (op && isShare(momentum) &&
      static_cast<float>(momentum) != static_cast<float>(usualMomentum))
    op->setDiscardableAttr(momentumAttribute,
                           Builder(op).getF64FloatAttr(momentum));
}

} // namespace sinter
