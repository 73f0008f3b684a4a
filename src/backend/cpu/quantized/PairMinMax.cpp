#include "backend/cpu/quantized/PairMinMax.h"

#include "graph/Types.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::ReduceOp;

namespace sinter::cpu {

static constexpr llvm::StringLiteral pairLabel = "pair-min-max",
                                     pairPass = "cpu-pair-min-max";

std::optional<MinMaxOfAll> MinMaxOfAll::match(ReduceOp op) {
  if (op.getInputs().empty() || !llvm::all_equal(op.getInputs()))
    return std::nullopt;
  MinMaxOfAll result{op.getInputs().front(), {}, {}};
  auto type = tensorOf(result.tensor);
  if (int64_t(op.getDimensions().size()) != type.getRank())
    return std::nullopt;
  const size_t count = op.getInputs().size();
  Block &body = op.getBody().front();
  for (size_t i = 0; i < count; ++i) {
    Operation *combine = body.getTerminator()->getOperand(i).getDefiningOp();
    Value initial = op.getInitValues()[i];
    if (!isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(combine) ||
        !llvm::is_contained(combine->getOperands(), body.getArgument(i)) ||
        !llvm::is_contained(combine->getOperands(),
                            body.getArgument(i + count)) ||
        tensorOf(op.getResults()[i]).getElementType() !=
            type.getElementType() ||
        !initial.getDefiningOp<stablehlo::ConstantOp>())
      return std::nullopt;
    result.initial.push_back(initial);
    result.areGreatest.push_back(isa<stablehlo::MaxOp>(combine));
  }
  return result;
}

ValueRange MinMaxOfAll::emit(TensorBuilder &emit, ValueRange tensors,
                             ArrayRef<int64_t> dims) const {
  return emit.reduce(
      tensors, initial, dims, [&](TensorBuilder &emit, ValueRange values) {
        const size_t count = areGreatest.size();
        SmallVector<Value> results;
        for (size_t i = 0; i < count; ++i)
          results.push_back(areGreatest[i]
                                ? emit.max(values[i], values[i + count])
                                : emit.min(values[i], values[i + count]));
        return results;
      });
}

/// Another operation in \p op's block that reduces the same tensor to the
/// opposite of min and max.
static std::pair<ReduceOp, MinMaxOfAll> other(ReduceOp op,
                                              const MinMaxOfAll &one) {
  for (Operation *user : one.tensor.getUsers())
    if (auto reduce = dyn_cast<ReduceOp>(user);
        reduce && reduce->getBlock() == op->getBlock())
      if (auto found = MinMaxOfAll::match(reduce);
          found && found->areGreatest.size() == 1 &&
          found->areGreatest[0] != one.areGreatest[0])
        return {reduce, std::move(*found)};
  return {};
}

void pairMinMax(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(pairLabel))
    return;
  SmallVector<ReduceOp> found;
  function.walk([&](ReduceOp op) { found.push_back(op); });
  DenseSet<Operation *> paired;
  for (ReduceOp op : found) {
    auto minMax = paired.contains(op) ? std::nullopt : MinMaxOfAll::match(op);
    if (!minMax || minMax->areGreatest.size() != 1)
      continue;
    auto [second, seconds] = other(op, *minMax);
    if (!second)
      continue;
    OpBuilder builder(op);
    TensorBuilder emit(builder, op.getLoc());
    minMax->areGreatest.push_back(seconds.areGreatest[0]);
    minMax->initial.push_back(
        builder.clone(*seconds.initial[0].getDefiningOp())->getResult(0));
    ValueRange both = minMax->emit(emit, {minMax->tensor, minMax->tensor},
                                   llvm::to_vector(op.getDimensions()));
    for (auto [reduce, value] : llvm::zip(std::array{op, second}, both)) {
      run.replaced(pairLabel, reduce.getResults()[0], value);
      reduce.getResults()[0].replaceAllUsesWith(value);
      paired.insert(reduce);
    }
    run.count(pairLabel);
  }
  for (Operation *op : paired)
    op->erase();
}

ArrayRef<PatternInfo> pairMinMaxPatterns() {
  static const PatternInfo infos[] = {
      {pairLabel, "reduce<min>(x), reduce<max>(x) -> reduce<min, max>(x, x)",
       pairPass}};
  return infos;
}

} // namespace sinter::cpu
