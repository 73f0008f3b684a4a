#include "autodiff/BoundLoops.h"

#include "graph/gradient/Gradient.h"
#include "mlir/IR/IRMapping.h"

#include <limits>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::autodiff {

/// Inlines \p block, of a region of a loop, on \p states. Returns its results.
static SmallVector<Value> inlined(nn::TensorBuilder &emit, Block &block,
                                  ValueRange states) {
  IRMapping mapping;
  mapping.map(block.getArguments(), states);
  for (Operation &op : block.without_terminator())
    emit.builder.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

static void bound(WhileOp loop, int64_t mostTrips) {
  OpBuilder builder(loop);
  nn::TensorBuilder emit(builder, loop.getLoc());
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto counterType = RankedTensorType::get({}, builder.getI64Type());
  auto count = [&](int64_t value) {
    return builder.create<ConstantOp>(
        loop.getLoc(), DenseElementsAttr::get(counterType, value));
  };
  SmallVector<Value> carried = {count(0)};
  llvm::append_range(carried, loop->getOperands());
  auto bounded = gradient::buildLoop(
      emit, carried,
      [&](nn::TensorBuilder &inner, ValueRange values) {
        return inner.compare(ComparisonDirection::LT, values[0],
                             count(mostTrips));
      },
      [&](nn::TensorBuilder &inner, ValueRange values) {
        ValueRange states = values.drop_front();
        Value goesOn = inlined(inner, cond, states)[0];
        auto choice =
            builder.create<IfOp>(loop.getLoc(), loop->getResultTypes(), goesOn);
        auto fill = [&](Region &region, Block *from) {
          OpBuilder::InsertionGuard guard(builder);
          builder.createBlock(&region);
          SmallVector<Value> next(states);
          if (from)
            next = inlined(inner, *from, states);
          builder.create<ReturnOp>(loop.getLoc(), next);
        };
        fill(choice.getTrueBranch(), &body);
        fill(choice.getFalseBranch(), nullptr);
        SmallVector<Value> next = {inner.add(values[0], count(1))};
        llvm::append_range(next, choice->getResults());
        return next;
      });
  ValueRange last = bounded->getResults().drop_front();
  Value goesOn = inlined(emit, cond, last)[0];
  for (auto [old, value] : llvm::zip_equal(loop->getResults(), last)) {
    if (!gradient::hasGradient(value)) {
      old.replaceAllUsesWith(value);
      continue;
    }
    Value none =
        emit.splat(std::numeric_limits<double>::quiet_NaN(), tensorOf(value));
    Value condition = emit.broadcast(goesOn, {}, tensorOf(value).getShape());
    old.replaceAllUsesWith(emit.select(condition, none, value));
  }
  loop->erase();
}

void boundLoops(func::FuncOp function, int64_t mostTrips) {
  SmallVector<WhileOp> loops;
  function.walk([&](WhileOp loop) {
    bool isOfTensors = llvm::all_of(loop->getOperandTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    });
    if (isOfTensors &&
        llvm::any_of(loop->getResults(), gradient::hasGradient) &&
        !gradient::tripsOf(loop))
      loops.push_back(loop);
  });
  // Inner loops come first: copies of a body then have bounded loops.
  for (WhileOp loop : loops)
    bound(loop, mostTrips);
}

} // namespace sinter::autodiff
