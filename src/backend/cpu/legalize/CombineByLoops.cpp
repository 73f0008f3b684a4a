//===- CombineByLoops.cpp - collective reductions by any function ---------===//

#include "backend/cpu/legalize/CombineByLoops.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/legalize/ZeroResults.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

class CombineLoop {
public:
  CombineLoop(Operation *op, unsigned index, OpBuilder &builder)
      : op(op), index(index), builder(builder), emit(builder, op->getLoc()),
        result(cast<RankedTensorType>(op->getResult(index).getType())),
        given(result.clone(tensorOf(op->getOperand(index)).getElementType())) {}

  Value make(Value count) {
    Value start = convertFor(0, gathered(emit.scalar(0, integer)));
    SmallVector<Type> types = {count.getType(), start.getType()};
    SmallVector<Location> locations(types.size(), emit.location);
    auto loop = builder.create<stablehlo::WhileOp>(
        emit.location, types, ValueRange{emit.scalar(1, integer), start});
    OpBuilder::InsertionGuard guard(builder);
    Block *condition =
        builder.createBlock(&loop.getCond(), {}, types, locations);
    builder.create<stablehlo::ReturnOp>(
        emit.location, emit.compare(stablehlo::ComparisonDirection::LT,
                                    condition->getArgument(0), count));
    Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
    Value place = body->getArgument(0);
    Value next = apply(body->getArgument(1), convertFor(1, gathered(place)));
    builder.create<stablehlo::ReturnOp>(emit.location,
                                        ValueRange{emit.add(place, 1.0), next});
    return loop.getResult(1);
  }

private:
  Value gathered(Value place) {
    return createCallWithZeros(builder, emit.location, TypeRange(given), place,
                               "sinter.gathered",
                               "tensor=" + std::to_string(index))
        .front();
  }

  /// \p value converted to the type of argument \p number of the computation.
  Value convertFor(unsigned number, Value value) {
    return emit.convert(
        value,
        getElementTypeOrSelf(op->getRegion(0).getArgumentTypes()[number]));
  }

  Value apply(Value combined, Value part) {
    auto map = builder.create<stablehlo::MapOp>(
        emit.location, TypeRange(combined.getType()),
        ValueRange{combined, part},
        builder.getDenseI64ArrayAttr(
            llvm::to_vector(llvm::seq<int64_t>(result.getRank()))));
    IRMapping mapping;
    op->getRegion(0).cloneInto(&map.getComputation(), mapping);
    return map.getResult();
  }

  Operation *op;
  unsigned index;
  OpBuilder &builder;
  nn::TensorBuilder emit;
  RankedTensorType result, given;
  Type integer = builder.getI64Type();
};

} // namespace

void cpu::combineByLoops(Operation *op, const std::string &configuration) {
  OpBuilder builder(op);
  auto count = RankedTensorType::get({}, builder.getI64Type());
  SmallVector<Type> counts(op->getNumResults(), count);
  auto gather = builder.create<HostCallOp>(
      op->getLoc(), counts, op->getOperands(), "sinter.gather", configuration,
      /*pure=*/false);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    result.replaceAllUsesWith(
        CombineLoop(op, index, builder).make(gather.getResult(index)));
  op->erase();
}
