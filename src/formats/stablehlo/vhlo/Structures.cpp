//===- Structures.cpp - attributes that VHLO splits -----------------------===//

#include "formats/stablehlo/vhlo/Structures.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace sinter::vhlo {
namespace {

using Fields = SmallVector<Attribute>;

/// Converts results of attributes' accessors to fields.
struct Pack {
  Builder builder;

  explicit Pack(MLIRContext *context) : builder(context) {}
  Attribute operator()(int64_t value) {
    return builder.getI64IntegerAttr(value);
  }
  Attribute operator()(ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  Attribute operator()(Type type) { return TypeAttr::get(type); }
  Attribute operator()(bool value) { return builder.getBoolAttr(value); }
  template <typename... Parts> Fields all(Parts... parts) {
    return {(*this)(parts)...};
  }
};

int64_t number(Attribute field) { return cast<IntegerAttr>(field).getInt(); }
ArrayRef<int64_t> dims(Attribute field) {
  return cast<DenseI64ArrayAttr>(field).asArrayRef();
}
Type type(Attribute field) { return cast<TypeAttr>(field).getValue(); }

/// For a required attribute.
Fields never(MLIRContext *) { return {}; }

constexpr Member convMembers[] = {
    {"input_batch_dimension", MemberKind::Int},
    {"input_feature_dimension", MemberKind::Int},
    {"input_spatial_dimensions", MemberKind::Dims},
    {"kernel_input_feature_dimension", MemberKind::Int},
    {"kernel_output_feature_dimension", MemberKind::Int},
    {"kernel_spatial_dimensions", MemberKind::Dims},
    {"output_batch_dimension", MemberKind::Int},
    {"output_feature_dimension", MemberKind::Int},
    {"output_spatial_dimensions", MemberKind::Dims}};

Fields takeConv(Attribute attribute) {
  auto conv = dyn_cast<stablehlo::ConvDimensionNumbersAttr>(attribute);
  if (!conv)
    return {};
  return Pack(attribute.getContext())
      .all(conv.getInputBatchDimension(), conv.getInputFeatureDimension(),
           conv.getInputSpatialDimensions(),
           conv.getKernelInputFeatureDimension(),
           conv.getKernelOutputFeatureDimension(),
           conv.getKernelSpatialDimensions(), conv.getOutputBatchDimension(),
           conv.getOutputFeatureDimension(), conv.getOutputSpatialDimensions());
}

Attribute makeConv(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::ConvDimensionNumbersAttr::get(
      context, number(f[0]), number(f[1]), dims(f[2]), number(f[3]),
      number(f[4]), dims(f[5]), number(f[6]), number(f[7]), dims(f[8]));
}

constexpr Member dotMembers[] = {
    {"lhs_batching_dimensions", MemberKind::Dims},
    {"rhs_batching_dimensions", MemberKind::Dims},
    {"lhs_contracting_dimensions", MemberKind::Dims},
    {"rhs_contracting_dimensions", MemberKind::Dims}};

Fields takeDot(Attribute attribute) {
  auto dot = dyn_cast<stablehlo::DotDimensionNumbersAttr>(attribute);
  if (!dot)
    return {};
  return Pack(attribute.getContext())
      .all(dot.getLhsBatchingDimensions(), dot.getRhsBatchingDimensions(),
           dot.getLhsContractingDimensions(),
           dot.getRhsContractingDimensions());
}

Attribute makeDot(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::DotDimensionNumbersAttr::get(
      context, dims(f[0]), dims(f[1]), dims(f[2]), dims(f[3]));
}

constexpr Member algorithmMembers[] = {
    {"lhs_precision_type", MemberKind::Type},
    {"rhs_precision_type", MemberKind::Type},
    {"accumulation_type", MemberKind::Type},
    {"lhs_component_count", MemberKind::Int},
    {"rhs_component_count", MemberKind::Int},
    {"num_primitive_operations", MemberKind::Int},
    {"allow_imprecise_accumulation", MemberKind::Bool}};

Fields takeAlgorithm(Attribute attribute) {
  auto algorithm = dyn_cast<stablehlo::DotAlgorithmAttr>(attribute);
  if (!algorithm)
    return {};
  return Pack(attribute.getContext())
      .all(algorithm.getLhsPrecisionType(), algorithm.getRhsPrecisionType(),
           algorithm.getAccumulationType(), algorithm.getLhsComponentCount(),
           algorithm.getRhsComponentCount(),
           algorithm.getNumPrimitiveOperations(),
           algorithm.getAllowImpreciseAccumulation());
}

Attribute makeAlgorithm(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::DotAlgorithmAttr::get(
      context, type(f[0]), type(f[1]), type(f[2]), number(f[3]), number(f[4]),
      number(f[5]), cast<BoolAttr>(f[6]).getValue());
}

/// Every member is then a type attribute of the none type.
Fields noAlgorithm(MLIRContext *context) {
  return Fields(std::size(algorithmMembers),
                TypeAttr::get(NoneType::get(context)));
}

constexpr Member gatherMembers[] = {
    {"offset_dims", MemberKind::Dims},
    {"collapsed_slice_dims", MemberKind::Dims},
    {"operand_batching_dims", MemberKind::Dims},
    {"start_indices_batching_dims", MemberKind::Dims},
    {"start_index_map", MemberKind::Dims},
    {"index_vector_dim", MemberKind::Int}};

Fields takeGather(Attribute attribute) {
  auto gather = dyn_cast<stablehlo::GatherDimensionNumbersAttr>(attribute);
  if (!gather)
    return {};
  return Pack(attribute.getContext())
      .all(gather.getOffsetDims(), gather.getCollapsedSliceDims(),
           gather.getOperandBatchingDims(),
           gather.getStartIndicesBatchingDims(), gather.getStartIndexMap(),
           gather.getIndexVectorDim());
}

Attribute makeGather(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::GatherDimensionNumbersAttr::get(
      context, dims(f[0]), dims(f[1]), dims(f[2]), dims(f[3]), dims(f[4]),
      number(f[5]));
}

constexpr Member scatterMembers[] = {
    {"update_window_dims", MemberKind::Dims},
    {"inserted_window_dims", MemberKind::Dims},
    {"input_batching_dims", MemberKind::Dims},
    {"scatter_indices_batching_dims", MemberKind::Dims},
    {"scatter_dims_to_operand_dims", MemberKind::Dims},
    {"index_vector_dim", MemberKind::Int}};

Fields takeScatter(Attribute attribute) {
  auto scatter = dyn_cast<stablehlo::ScatterDimensionNumbersAttr>(attribute);
  if (!scatter)
    return {};
  return Pack(attribute.getContext())
      .all(scatter.getUpdateWindowDims(), scatter.getInsertedWindowDims(),
           scatter.getInputBatchingDims(),
           scatter.getScatterIndicesBatchingDims(),
           scatter.getScatterDimsToOperandDims(), scatter.getIndexVectorDim());
}

Attribute makeScatter(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::ScatterDimensionNumbersAttr::get(
      context, dims(f[0]), dims(f[1]), dims(f[2]), dims(f[3]), dims(f[4]),
      number(f[5]));
}

constexpr Member channelMembers[] = {{"channel_id", MemberKind::Int},
                                     {"channel_type", MemberKind::Int}};

Fields takeChannelAndType(Attribute attribute) {
  auto channel = dyn_cast<stablehlo::ChannelHandleAttr>(attribute);
  if (!channel)
    return {};
  return Pack(attribute.getContext())
      .all(channel.getHandle(), channel.getType());
}

Attribute makeChannelAndType(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::ChannelHandleAttr::get(context, number(f[0]), number(f[1]));
}

/// Collectives do not keep the channel's type.
Fields takeChannel(Attribute attribute) {
  Fields fields = takeChannelAndType(attribute);
  fields.resize(fields.empty() ? 0 : 1);
  return fields;
}

Attribute makeChannel(MLIRContext *context, ArrayRef<Attribute> f) {
  return stablehlo::ChannelHandleAttr::get(context, number(f[0]), 0);
}

Fields noChannel(MLIRContext *context) { return Pack(context).all(int64_t(0)); }

const Structure structures[] = {
    {"conv", "dimension_numbers", convMembers, takeConv, makeConv, never},
    {"dot", "dot_dimension_numbers", dotMembers, takeDot, makeDot, never},
    {"algorithm", "algorithm", algorithmMembers, takeAlgorithm, makeAlgorithm,
     noAlgorithm},
    {"gather", "dimension_numbers", gatherMembers, takeGather, makeGather,
     never},
    {"scatter", "scatter_dimension_numbers", scatterMembers, takeScatter,
     makeScatter, never},
    {"channel", "channel_handle", ArrayRef(channelMembers).take_front(1),
     takeChannel, makeChannel, noChannel},
    {"channel_type", "channel_handle", channelMembers, takeChannelAndType,
     makeChannelAndType, never},
};

} // namespace

const Structure *findStructure(llvm::StringRef name) {
  for (const Structure &structure : structures)
    if (structure.name == name)
      return &structure;
  return nullptr;
}

} // namespace sinter::vhlo
