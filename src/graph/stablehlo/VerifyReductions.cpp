// Constraints of reductions and normalisation.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

LogicalResult ReduceOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C3) needs as many results as inputs, at least one");
  auto first = tensorOf(getInputs()[0]);
  if (!isDistinctWithin(getDimensions(), first.getRank()))
    return emitOpError("(C4, C5) dimensions are not distinct dimensions of the "
                       "inputs");
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < first.getRank(); ++i)
    if (!llvm::is_contained(getDimensions(), i))
      shape.push_back(first.getDimSize(i));
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (failed(verifyCompatibleShape(tensorOf(input), first)))
      return emitOpError("(C1) inputs differ in shape");
    if (failed(verifyCompatibleShape(tensorOf(result).getShape(), shape)))
      return emitOpError("(C7) a result's shape does not follow from the "
                         "inputs'");
  }
  return verifyReductionRegion(*this, getBody(), getOperandTypes(),
                               getResultTypes(), "(C6)");
}

LogicalResult ReduceWindowOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C1) needs as many results as inputs, at least one");
  auto first = tensorOf(getInputs()[0]);
  for (Value input : getInputs())
    if (failed(verifyCompatibleShape(tensorOf(input), first)))
      return emitOpError("(C2) inputs differ in shape");
  std::optional<ConvolutionWindow> window =
      makeWindow(getWindowDimensions(), getWindowStrides(), getPadding(),
                 getBaseDilations(), getWindowDilations());
  if (!window || static_cast<int64_t>(window->size()) != first.getRank())
    return emitOpError("(C4, C6, C8, C10, C12) a window attribute has not one "
                       "element a dimension");
  for (auto [i, dimension] : llvm::enumerate(*window)) {
    if (dimension.size < 1)
      return emitOpError("(C5) a window dimension is not positive");
    std::optional<int64_t> size = windowedSize(first.getDimSize(i), dimension);
    if (!size)
      return emitOpError("(C7, C9, C11) a stride or dilation of dimension ")
             << i << " is not positive, or the padded size too large";
    for (Value result : getResults())
      if (tensorOf(result).getRank() != first.getRank() ||
          differ(*size, tensorOf(result).getDimSize(i)))
        return emitOpError("(C15) dimension ")
               << i << " of the result does not follow from the inputs";
  }
  return verifyReductionRegion(*this, getBody(), getOperandTypes(),
                               getResultTypes(), "(C13)");
}

LogicalResult SelectAndScatterOp::verify() {
  auto operand = tensorOf(getOperand()), source = tensorOf(getSource());
  SmallVector<int64_t> ones(operand.getRank(), 1);
  std::optional<ConvolutionWindow> window = makeWindow(
      getWindowDimensions().value_or(ones), getWindowStrides(), getPadding());
  if (!window || static_cast<int64_t>(window->size()) != operand.getRank())
    return emitOpError("(C4, C6, C8) a window attribute has not one element a "
                       "dimension of the operand");
  if (source.getRank() != operand.getRank())
    return emitOpError("(C2) source and operand differ in rank");
  for (auto [i, dimension] : llvm::enumerate(*window)) {
    if (dimension.size < 1)
      return emitOpError("(C5) a window dimension is not positive");
    if (dimension.stride < 1)
      return emitOpError("(C7) a stride is not positive");
    std::optional<int64_t> size =
        windowedSize(operand.getDimSize(i), dimension);
    if (!size || differ(*size, source.getDimSize(i)))
      return emitOpError("(C2) dimension ")
             << i << " of the source is not the number of windows";
  }
  auto init = tensorOf(getInitValue());
  if (source.getElementType() != operand.getElementType())
    return emitOpError("(C1) source and operand have different element types");
  if (init.getRank() != 0 || init.getElementType() != operand.getElementType())
    return emitOpError("(C3) init_value is not a scalar of the operand's "
                       "element type");
  Type predicate = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  SmallVector<Type> pair(2, operand);
  if (failed(verifyScalarRegion(*this, getSelect(), pair, predicate, "(C9)")))
    return failure();
  return verifyReductionRegion(*this, getScatter(), operand, getType(),
                               "(C10)");
}

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return emitOpError("(C2) has no inputs");
  int64_t rank = tensorOf(getInputs()[0]).getRank();
  SmallVector<int64_t> all(rank);
  for (int64_t i = 0; i < rank; ++i)
    all[i] = i;
  if (getDimensions() != ArrayRef(all))
    return emitOpError("(C3) dimensions are not all dimensions in order");
  return verifyScalarRegion(*this, getComputation(), getInputs().getTypes(),
                            getType(), "(C4)");
}

/// Each value is one number a feature, of the operand's element type.
static LogicalResult
verifyFeatures(Operation *op, RankedTensorType type, int64_t feature,
               ArrayRef<std::pair<Value, StringRef>> values) {
  if (feature >= type.getRank())
    return op->emitOpError("(C1) feature_index is not a dimension of the "
                           "operand");
  for (auto [value, label] : values) {
    auto each = tensorOf(value);
    if (!sameBaselineElement(each, type))
      return op->emitOpError("(C2) ")
             << label << " has another element type than the operand";
    if (differ(each.getDimSize(0), type.getDimSize(feature)))
      return op->emitOpError(label) << " is not one number a feature";
  }
  return success();
}

LogicalResult BatchNormInferenceOp::verify() {
  return verifyFeatures(*this, tensorOf(getOperand()), getFeatureIndex(),
                        {{getScale(), "(C3) scale"},
                         {getOffset(), "(C4) offset"},
                         {getMean(), "(C5) mean"},
                         {getVariance(), "(C6) variance"}});
}

LogicalResult BatchNormTrainingOp::verify() {
  return verifyFeatures(
      *this, tensorOf(getOperand()), getFeatureIndex(),
      {{getScale(), "(C3) scale"}, {getOffset(), "(C4) offset"}});
}

LogicalResult BatchNormGradOp::verify() {
  auto type = tensorOf(getOperand());
  if (!sameBaselineElement(type, tensorOf(getGradOutput())))
    return emitOpError("(C2) grad_output has another element type than the "
                       "operand");
  if (failed(verifyCompatibleShape(type, tensorOf(getGradOutput()))))
    return emitOpError("(C3) grad_output has another shape than the operand");
  return verifyFeatures(*this, type, getFeatureIndex(),
                        {{getScale(), "(C4) scale"},
                         {getMean(), "(C4) mean"},
                         {getVariance(), "(C4) variance"}});
}

} // namespace sinter::stablehlo
