// Constraints of reductions and normalisation.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Checks the constraints that reduce and reduce_window share.
static LogicalResult verifyInits(Operation *op, ValueRange inputs,
                                 ValueRange inits, StringRef shapeLabel,
                                 StringRef elementLabel) {
  auto first = tensorOf(inputs[0]);
  for (auto [input, init] : llvm::zip_equal(inputs, inits)) {
    if (failed(verifyCompatibleShape(tensorOf(input), first)))
      return op->emitOpError(shapeLabel) << " inputs differ in shape";
    if (tensorOf(init).getRank() != 0)
      return op->emitOpError("(I2) an init_value is not a scalar");
    // The initial value may also have the accumulator's type, which the input
    // is promoted to.
    if (!isPromotable(baselineElementType(tensorOf(input).getElementType()),
                      baselineElementType(tensorOf(init).getElementType())))
      return op->emitOpError(elementLabel)
             << " an init_value has another element type than its input";
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C3) needs as many results as inputs, at least one");
  if (failed(verifyInits(*this, getInputs(), getInitValues(), "(C1)", "(C2)")))
    return failure();
  auto first = tensorOf(getInputs()[0]);
  if (!isWithin(getDimensions(), first.getRank()))
    return emitOpError("(C4) dimensions are not dimensions of the inputs");
  if (!isUnique(getDimensions()))
    return emitOpError("(C5) a dimension stands twice");
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < first.getRank(); ++i)
    if (!llvm::is_contained(getDimensions(), i))
      shape.push_back(first.getDimSize(i));
  for (Value result : getResults())
    if (failed(verifyCompatibleShape(tensorOf(result).getShape(), shape)))
      return emitOpError("(C7) a result's shape does not follow from the "
                         "inputs'");
  return verifyReducer(*this, getBody(), getInputs().getTypes(),
                       getResultTypes(), "(C6)", "(C8)");
}

/// Emits an error for a window attribute without one element per dimension.
static LogicalResult
verifyWindowSizes(Operation *op, size_t rank,
                  ArrayRef<std::pair<StringRef, std::optional<size_t>>> sizes,
                  std::optional<DenseIntElementsAttr> padding,
                  StringRef paddingLabel) {
  for (auto [label, size] : sizes)
    if (size && *size != rank)
      return op->emitOpError(label) << " has not one element a dimension";
  if (padding && padding->getType().getShape() !=
                     ArrayRef<int64_t>({static_cast<int64_t>(rank), 2}))
    return op->emitOpError(paddingLabel)
           << " padding is not [low, high] for each dimension";
  return success();
}

static std::optional<size_t> sizeOf(std::optional<ArrayRef<int64_t>> list) {
  return list ? std::optional(list->size()) : std::nullopt;
}

LogicalResult ReduceWindowOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C1) needs as many results as inputs, at least one");
  if (failed(verifyInits(*this, getInputs(), getInitValues(), "(C2)", "(C3)")))
    return failure();
  auto first = tensorOf(getInputs()[0]);
  if (failed(verifyWindowSizes(
          *this, first.getRank(),
          {{"(C4) window_dimensions", getWindowDimensions().size()},
           {"(C6) window_strides", sizeOf(getWindowStrides())},
           {"(C8) base_dilations", sizeOf(getBaseDilations())},
           {"(C10) window_dilations", sizeOf(getWindowDilations())}},
          getPadding(), "(C12)")))
    return failure();
  for (auto [i, dimension] : llvm::enumerate(getWindow())) {
    if (dimension.size < 1)
      return emitOpError("(C5) a window dimension is not positive");
    if (dimension.stride < 1)
      return emitOpError("(C7) a stride is not positive");
    if (dimension.baseDilation < 1)
      return emitOpError("(C9) a base dilation is not positive");
    if (dimension.windowDilation < 1)
      return emitOpError("(C11) a window dilation is not positive");
    std::optional<int64_t> size = windowedSize(first.getDimSize(i), dimension);
    if (!size)
      return emitOpError("(C15) the padded size of dimension ")
             << i << " is too large";
    for (Value result : getResults())
      if (tensorOf(result).getRank() != first.getRank() ||
          differ(*size, tensorOf(result).getDimSize(i)))
        return emitOpError("(C14, C15) dimension ")
               << i << " of the result does not follow from the inputs";
  }
  return verifyReducer(*this, getBody(), getInputs().getTypes(),
                       getResultTypes(), "(C13)", "(C16)");
}

LogicalResult SelectAndScatterOp::verify() {
  auto operand = tensorOf(getOperand()), source = tensorOf(getSource());
  auto init = tensorOf(getInitValue());
  if (!sameBaselineElement(source, operand))
    return emitOpError("(C1) source and operand have different element types");
  if (init.getRank() != 0)
    return emitOpError("(I3) init_value is not a scalar");
  if (!isPromotable(baselineElementType(operand.getElementType()),
                    baselineElementType(init.getElementType())))
    return emitOpError("(C3) init_value has another element type than the "
                       "operand");
  if (failed(verifyWindowSizes(
          *this, operand.getRank(),
          {{"(C4) window_dimensions",
            sizeOf(getWindowDimensions().value_or(ArrayRef<int64_t>()))},
           {"(C6) window_strides", sizeOf(getWindowStrides())}},
          getPadding(), "(C8)")))
    return failure();
  if (source.getRank() != operand.getRank())
    return emitOpError("(C2) source and operand differ in rank");
  for (auto [i, dimension] : llvm::enumerate(getWindow())) {
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
  if (failed(verifyCompatibleShape(operand, tensorOf(getResult()))))
    return emitOpError("(C11) operand and result differ in shape");
  Type predicate = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  SmallVector<Type> pair(2, operand);
  if (failed(verifyScalarRegion(*this, getSelect(), pair, predicate, "(C9)")))
    return failure();
  return verifyReducer(*this, getScatter(), operand, getType(), "(C10)",
                       "(C12)");
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

/// Checks that each value has one element per feature, of the operand's element
/// type.
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
                        {{getScale(), "(C5) scale"},
                         {getMean(), "(C4) mean"},
                         {getVariance(), "(C4) variance"}});
}

} // namespace sinter::stablehlo
