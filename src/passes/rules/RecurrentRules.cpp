#include "graph/nn/NnOps.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"
#include <cmath>

using namespace mlir;

namespace sinter {

static bool isZero(Value state) {
  std::optional<double> splat = state ? splatValue(state) : std::nullopt;
  return splat && *splat == 0 && !std::signbit(*splat);
}

/// An initial state of zero can be omitted.
template <typename Op> static Values zeroState(Op op, OpBuilder &builder) {
  const bool dropsHidden = isZero(op.getInitialH());
  bool dropsCell = false;
  if constexpr (std::is_same_v<Op, nn::LstmOp>)
    dropsCell = isZero(op.getInitialC());
  if (!dropsHidden && !dropsCell)
    return {};
  auto copy = cast<Op>(cloneApart(builder, op));
  if (dropsHidden)
    copy.getInitialHMutable().clear();
  if constexpr (std::is_same_v<Op, nn::LstmOp>)
    if (dropsCell)
      copy.getInitialCMutable().clear();
  return Values(copy->getResults());
}

RuleTable recurrentRules() {
  static const std::vector<RewriteRule> rules = {
      rule<nn::LstmOp, zeroState<nn::LstmOp>>(
          "recurrent-zero-state",
          "lstm(x, w, r, h = 0, c = 0) -> lstm(x, w, r)"),
      rule<nn::GruOp, zeroState<nn::GruOp>>(
          "recurrent-zero-state", "gru(x, w, r, h = 0) -> gru(x, w, r)"),
      rule<nn::RnnOp, zeroState<nn::RnnOp>>(
          "recurrent-zero-state", "rnn(x, w, r, h = 0) -> rnn(x, w, r)"),
  };
  return {"Recurrent layers", rules};
}

} // namespace sinter
