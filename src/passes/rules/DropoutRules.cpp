#include "graph/nn/NnDropout.h"
#include "passes/RuleTables.h"

using namespace mlir;

namespace sinter {

/// What has no mask drops nothing: a step of training has given it one.
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
