//===- LowerBatchNorms.cpp - batch norms to multiply-add ------------------===//

#include "backend/cpu/legalize/LowerBatchNorms.h"

#include "graph/nn/TensorBuilder.h"
#include "graph/nn/Wide.h"

using namespace mlir;
using namespace sinter;

void cpu::lowerBatchNorms(func::FuncOp function, PatternRun &run) {
  function.walk([&](stablehlo::BatchNormInferenceOp op) {
    OpBuilder builder(op);
    nn::TensorBuilder emit(builder, op.getLoc());
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    auto widened = [&](Value x) {
      return emit.convert(
          x, nn::isNarrowFloat(element) ? Type(builder.getF32Type()) : element);
    };
    Value variance =
        emit.add(widened(op.getVariance()), op.getEpsilon().convertToDouble());
    Value factor = emit.div(widened(op.getScale()), emit.sqrt(variance));
    Value shift = emit.sub(widened(op.getOffset()),
                           emit.mul(widened(op.getMean()), factor));
    int64_t feature = op.getFeatureIndex();
    auto spread = [&](Value x) {
      return emit.broadcast(x, {feature}, emit.sizes(op.getOperand()));
    };
    Value result = emit.add(emit.mul(widened(op.getOperand()), spread(factor)),
                            spread(shift));
    result = emit.convert(result, element);
    run.replaced("batch_norm_inference", op.getResult(), result);
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  });
}
