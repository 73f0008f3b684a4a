#include "backend/cpu/SizedCalls.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static void callNonZero(nn::NonZeroOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  Value isSet =
      emit.compare(stablehlo::ComparisonDirection::NE, op.getOperand(), 0.0);
  Value count = emit.sumAll(emit.convert(isSet, emit.integerType(64)));
  auto call = builder.create<HostCallOp>(
      op.getLoc(), TypeRange(op.getType()), ValueRange{isSet, count},
      "sinter.non_zero", "", /*pure=*/true, /*sized=*/1);
  op.getResult().replaceAllUsesWith(call.getResults().front());
  op.erase();
}

void cpu::formSizedCalls(func::FuncOp function) {
  function.walk([](nn::NonZeroOp op) {
    Type element = tensorOf(op.getOperand()).getElementType();
    if (tensorOf(op).isDynamicDim(1) && isa<FloatType, IntegerType>(element))
      callNonZero(op);
  });
}
