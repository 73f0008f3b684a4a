#include "graph/nn/NnDropout.h"
#include "passes/RuleTables.h"

using namespace mlir;

namespace sinter {

/// A dropout without a mask does nothing: the training step adds masks.
static Value withoutMask(nn::DropoutOp op, OpBuilder &) {
  return !op.getMask() && op.getOperand().getType() == op.getType()
             ? Value(op.getOperand())
             : Value();
}

RuleTable dropoutRules() {
  static const std::vector<RewriteRule> rules = {
      rule<nn::DropoutOp, withoutMask>("remove-dropout", "dropout(x) -> x")};
  return {"Dropouts", rules};
}

} // namespace sinter
