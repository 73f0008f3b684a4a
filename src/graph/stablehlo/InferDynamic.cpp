//===- InferDynamic.cpp - result types of dynamic operations --------------===//

#include "graph/stablehlo/InferDynamic.h"

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {
namespace {

/// Slice sizes that are not constant make dynamic dimensions of the result.
struct DynamicGatherTypes
    : InferTypeOpInterface::ExternalModel<DynamicGatherTypes, DynamicGatherOp> {
  static LogicalResult
  inferReturnTypes(MLIRContext *, std::optional<Location> location,
                   ValueRange operands, DictionaryAttr attributes,
                   OpaqueProperties properties, RegionRange regions,
                   SmallVectorImpl<Type> &types) {
    DynamicGatherOp::Adaptor adaptor(operands, attributes, properties, regions);
    auto operand = tensorOf(adaptor.getOperand());
    const auto sizes = constantInts(adaptor.getSliceSizes());
    std::optional<Dimensions> shape = inferGather(
        location, operand, tensorOf(adaptor.getStartIndices()),
        adaptor.getDimensionNumbers(),
        sizes ? std::optional<ArrayRef<int64_t>>(*sizes) : std::nullopt,
        dynamicGatherLabels);
    if (!shape)
      return failure();
    types.push_back(tensorTypeOf(*shape, operand.getElementType()));
    return success();
  }

  static LogicalResult
  refineReturnTypes(MLIRContext *context, std::optional<Location> location,
                    ValueRange operands, DictionaryAttr attributes,
                    OpaqueProperties properties, RegionRange regions,
                    SmallVectorImpl<Type> &types) {
    SmallVector<Type> inferred;
    if (failed(inferReturnTypes(context, location, operands, attributes,
                                properties, regions, inferred)))
      return failure();
    if (!isCompatibleReturnTypes(inferred, types))
      return emitOptionalError(location, "gives ", inferred[0], " where ",
                               types[0], " is written");
    return success();
  }

  static bool isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
    return compatibleTypes(inferred, actual);
  }
};

} // namespace

void inferDynamicTypes(MLIRContext *context) {
  DynamicGatherOp::attachInterface<DynamicGatherTypes>(*context);
}

} // namespace sinter::stablehlo
