// Decompositions of normalisation, map and composites.

#include "graph/Values.h"
#include "graph/nn/Wide.h"
#include "graph/stablehlo/WholeTensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using sinter::nn::isStatic;
using sinter::nn::TensorBuilder;

namespace sinter::stablehlo {

//===----------------------------------------------------------------------===//
// Normalisation: the formulas of the specification
//===----------------------------------------------------------------------===//

/// All dimensions of \p type but \p feature.
static SmallVector<int64_t> otherDimensions(RankedTensorType type,
                                            int64_t feature) {
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != feature)
      dimensions.push_back(i);
  return dimensions;
}

/// Whether shapes are static and elements floats.
static bool isPlain(Operation *op) {
  return isStatic(op) &&
         isa<FloatType>(tensorOf(op->getOperand(0)).getElementType());
}

/// The number of elements per feature.
static double elementsPerFeature(RankedTensorType type, int64_t feature) {
  double count = 1;
  for (int64_t dimension : otherDimensions(type, feature))
    count *= type.getDimSize(dimension);
  return count;
}

FailureOr<Values> BatchNormTrainingOp::decompose(OpBuilder &builder) {
  if (auto wide = nn::decomposeInF32(*this, builder))
    return *wide;
  if (!isPlain(*this))
    return failure();
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  int64_t feature = getFeatureIndex();
  SmallVector<int64_t> others = otherDimensions(type, feature);
  double count = elementsPerFeature(type, feature);
  Value mean = emit.div(emit.sum(x, others), count);
  Value centred = emit.sub(x, emit.broadcast(mean, {feature}, type.getShape()));
  Value variance =
      emit.div(emit.sum(emit.mul(centred, centred), others), count);
  Value output = builder.create<BatchNormInferenceOp>(
      getLoc(), x, getScale(), getOffset(), mean, variance, getEpsilonAttr(),
      getFeatureIndexAttr());
  return Values{output, mean, variance};
}

FailureOr<Values> BatchNormGradOp::decompose(OpBuilder &builder) {
  if (auto wide = nn::decomposeInF32(*this, builder))
    return *wide;
  if (!isPlain(*this))
    return failure();
  TensorBuilder emit(builder, getLoc());
  auto type = tensorOf(getOperand());
  int64_t feature = getFeatureIndex();
  SmallVector<int64_t> others = otherDimensions(type, feature);
  double count = elementsPerFeature(type, feature);
  auto spread = [&](Value vector) {
    return emit.broadcast(vector, {feature}, type.getShape());
  };
  Value gradient = getGradOutput();
  Value centred = emit.sub(getOperand(), spread(getMean()));
  Value shifted =
      emit.add(spread(getVariance()), getEpsilon().convertToDouble());
  Value deviation = emit.sqrt(shifted);
  Value normalised = emit.div(centred, deviation);
  Value sum = emit.sum(gradient, others);
  Value moment = spread(emit.sum(emit.mul(gradient, centred), others));
  Value rest = emit.sub(emit.sub(emit.mul(gradient, count), spread(sum)),
                        emit.div(emit.mul(moment, centred), shifted));
  Value factor = emit.div(emit.div(spread(getScale()), deviation), count);
  return Values{emit.mul(factor, rest),
                emit.sum(emit.mul(gradient, normalised), others), sum};
}

//===----------------------------------------------------------------------===//
// Regions and functions
//===----------------------------------------------------------------------===//

FailureOr<Values> MapOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  TensorBuilder emit(builder, getLoc());
  return applyToTensors(emit, getComputation().front(), getInputs(),
                        tensorOf(getResult()).getShape());
}

FailureOr<Values> CompositeOp::decompose(OpBuilder &builder) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      *this, getDecompositionAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return failure();
  IRMapping mapping;
  Block &block = callee.getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return failure();
  mapping.map(block.getArguments(), getOperands());
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  Values results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

} // namespace sinter::stablehlo
