// Result type inference of operations with regions.

#include "graph/Inference.h"
#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

TypeRange returnedTypes(Region &region) {
  if (region.empty() || region.front().empty() ||
      !isa<ReturnOp>(region.front().back()))
    return {};
  return region.front().back().getOperandTypes();
}

LogicalResult inferElementsOfRegion(std::optional<Location> location,
                                    TypeRange shaped, RegionRange regions,
                                    unsigned region,
                                    SmallVectorImpl<Type> &types) {
  // While the op is being built its region is still empty.
  bool isBuilt = regions.size() > region && !regions[region]->empty();
  TypeRange returned = isBuilt ? returnedTypes(*regions[region]) : TypeRange();
  if (isBuilt && returned.size() != shaped.size())
    return emitOptionalError(location, "the region returns ", returned.size(),
                             " values instead of ", shaped.size());
  for (auto [i, type] : llvm::enumerate(shaped)) {
    auto tensor = cast<RankedTensorType>(type);
    auto element = isBuilt ? dyn_cast<RankedTensorType>(returned[i]) : tensor;
    if (!element)
      return emitOptionalError(location, "the region returns ", returned[i],
                               ", not a tensor");
    types.push_back(RankedTensorType::get(
        tensor.getShape(), element.getElementType(), tensor.getEncoding()));
  }
  return success();
}

SINTER_INFER(ReduceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  SmallVector<Type> shaped;
  for (auto [input, init] :
       llvm::zip(adaptor.getInputs(), adaptor.getInitValues())) {
    Dimensions kept;
    for (auto [i, dimension] : llvm::enumerate(dimensionsOf(tensorOf(input))))
      if (!llvm::is_contained(dimensions, static_cast<int64_t>(i)))
        kept.push_back(dimension);
    shaped.push_back(tensorTypeOf(kept, tensorOf(init).getElementType()));
  }
  return inferElementsOfRegion(location, shaped, regions, 0,
                               inferredReturnTypes);
}

SINTER_INFER(ReduceWindowOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  std::optional<ConvolutionWindow> window =
      makeWindow(adaptor.getWindowDimensions(), adaptor.getWindowStrides(),
                 adaptor.getPadding(), adaptor.getBaseDilations(),
                 adaptor.getWindowDilations());
  SmallVector<Type> shaped;
  for (auto [input, init] :
       llvm::zip(adaptor.getInputs(), adaptor.getInitValues())) {
    Dimensions dimensions = dimensionsOf(tensorOf(input));
    if (!window || window->size() != dimensions.size())
      return emitOptionalError(location, "(C4, C6, C8, C10, C12) a window "
                                         "attribute has not one element a "
                                         "dimension");
    for (auto [dimension, sliding] : llvm::zip_equal(dimensions, *window)) {
      std::optional<Dimension> places =
          changed(dimension, [&, &sliding = sliding](int64_t size) {
            return windowedSize(size, sliding);
          });
      if (!places)
        return emitOptionalError(location,
                                 "(C5, C7, C9, C11) a window, stride or "
                                 "dilation is not positive, or too large");
      dimension = *places;
    }
    shaped.push_back(tensorTypeOf(dimensions, tensorOf(init).getElementType()));
  }
  return inferElementsOfRegion(location, shaped, regions, 0,
                               inferredReturnTypes);
}

SINTER_INFER(ScatterOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  return inferElementsOfRegion(location, adaptor.getInputs().getTypes(),
                               regions, 0, inferredReturnTypes);
}

SINTER_INFER(SelectAndScatterOp) {
  return inferElementsOfRegion(location, operands[0].getType(), regions, 1,
                               inferredReturnTypes);
}

SINTER_INFER(MapOp) {
  if (operands.empty())
    return emitOptionalError(location, "(C2) has no inputs");
  return inferElementsOfRegion(location, operands[0].getType(), regions, 0,
                               inferredReturnTypes);
}

/// Infers \p types with the one element type that the region returns.
static LogicalResult inferCombined(std::optional<Location> location,
                                   TypeRange types, RegionRange regions,
                                   SmallVectorImpl<Type> &inferred) {
  for (Type type : types)
    if (failed(inferElementsOfRegion(location, type, regions, 0, inferred)))
      return failure();
  return success();
}

SINTER_INFER(AllReduceOp) {
  return inferCombined(location, operands.getTypes(), regions,
                       inferredReturnTypes);
}

SINTER_INFER(CollectiveReduceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  TypeRange types = operands.getTypes();
  if (adaptor.getHasDynamicRoot() && !types.empty())
    types = types.drop_back();
  return inferCombined(location, types, regions, inferredReturnTypes);
}

/// The join of both types: `?` where sizes differ.
static std::optional<Type> joinTypes(Type lhs, Type rhs) {
  if (lhs == rhs)
    return lhs;
  auto left = dyn_cast<RankedTensorType>(lhs);
  auto right = dyn_cast<RankedTensorType>(rhs);
  if (!left || !right || left.getRank() != right.getRank() ||
      left.getElementType() != right.getElementType())
    return std::nullopt;
  Dimensions either;
  for (auto [one, other] :
       llvm::zip_equal(dimensionsOf(left), dimensionsOf(right)))
    either.push_back(join(one, other));
  return tensorTypeOf(either, left.getElementType());
}

static LogicalResult inferBranches(std::optional<Location> location,
                                   RegionRange regions,
                                   SmallVectorImpl<Type> &types) {
  if (regions.empty())
    return emitOptionalError(location, "(C1) has no branches");
  llvm::append_range(types, returnedTypes(*regions.front()));
  for (Region *region : regions.drop_front()) {
    TypeRange returned = returnedTypes(*region);
    if (returned.size() != types.size())
      return emitOptionalError(location, "the branches return ", types.size(),
                               " and ", returned.size(), " values");
    for (auto [type, other] : llvm::zip_equal(types, returned)) {
      std::optional<Type> both = joinTypes(type, other);
      if (!both)
        return emitOptionalError(location, "the branches return ", type,
                                 " and ", other);
      type = *both;
    }
  }
  return success();
}

SINTER_INFER(IfOp) {
  return inferBranches(location, regions, inferredReturnTypes);
}

SINTER_INFER(CaseOp) {
  return inferBranches(location, regions, inferredReturnTypes);
}

SINTER_INFER(AsyncStartOp) {
  // The future holds the types that the region returns.
  SmallVector<Type> types;
  if (!regions.empty())
    llvm::append_range(types, returnedTypes(*regions.front()));
  for (Type type : types)
    if (!isa<RankedTensorType>(type))
      return emitOptionalError(location, "a future holds ranked tensors, not ",
                               type);
  inferredReturnTypes.push_back(FutureType::get(context, types));
  return success();
}

SINTER_INFER(AsyncDoneOp) {
  llvm::append_range(inferredReturnTypes,
                     cast<FutureType>(operands[0].getType()).getTypes());
  return success();
}

} // namespace sinter::stablehlo
