//===- StablehloAttributes.td - enumerations and attributes ---------------===//

#ifndef SINTER_GRAPH_STABLEHLO_ATTRIBUTES
#define SINTER_GRAPH_STABLEHLO_ATTRIBUTES

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "graph/stablehlo/StablehloTypes.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Stablehlo_EnumAttr<I32EnumAttr info, string name> :
    EnumAttr<Stablehlo_Dialect, info, name> {
  let assemblyFormat = "$value";
}
class Stablehlo_Enum<string name, string what, list<I32EnumAttrCase> cases> :
    I32EnumAttr<name, what, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sinter::stablehlo";
}

def ComparisonDirection : Stablehlo_Enum<"ComparisonDirection",
    "Which comparison operation to perform", [
      I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>,
      I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
      I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def ComparisonDirectionAttr :
    Stablehlo_EnumAttr<ComparisonDirection, "comparison_direction">;

def ComparisonType : Stablehlo_Enum<"ComparisonType",
    "Which comparison type to use", [
      I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>,
      I32EnumAttrCase<"TOTALORDER", 2>, I32EnumAttrCase<"SIGNED", 3>,
      I32EnumAttrCase<"UNSIGNED", 4>]>;
def ComparisonTypeAttr : Stablehlo_EnumAttr<ComparisonType, "comparison_type">;

def Precision : Stablehlo_Enum<"Precision", "Precision of a product", [
      I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>,
      I32EnumAttrCase<"HIGHEST", 2>]>;
def PrecisionAttr : Stablehlo_EnumAttr<Precision, "precision">;
def PrecisionConfigAttr :
    TypedArrayAttrBase<PrecisionAttr, "the precision of each operand">;

def ResultAccuracyMode : Stablehlo_Enum<"ResultAccuracyMode",
    "How accurate a result is to be", [
      I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>,
      I32EnumAttrCase<"TOLERANCE", 2>]>;
def ResultAccuracyModeAttr :
    Stablehlo_EnumAttr<ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

def FftType : Stablehlo_Enum<"FftType", "Kind of Fourier transform", [
      I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>,
      I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def FftTypeAttr : Stablehlo_EnumAttr<FftType, "fft_type">;

def Transpose : Stablehlo_Enum<"Transpose", "How to transpose a matrix", [
      I32EnumAttrCase<"TRANSPOSE_INVALID", 0>,
      I32EnumAttrCase<"NO_TRANSPOSE", 1>, I32EnumAttrCase<"TRANSPOSE", 2>,
      I32EnumAttrCase<"ADJOINT", 3>]>;
def TransposeAttr : Stablehlo_EnumAttr<Transpose, "transpose">;

def RngDistribution : Stablehlo_Enum<"RngDistribution",
    "Distribution of random numbers", [
      I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def RngDistributionAttr :
    Stablehlo_EnumAttr<RngDistribution, "rng_distribution">;

def RngAlgorithm : Stablehlo_Enum<"RngAlgorithm",
    "Algorithm that makes random bits", [
      I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>,
      I32EnumAttrCase<"PHILOX", 2>]>;
def RngAlgorithmAttr : Stablehlo_EnumAttr<RngAlgorithm, "rng_algorithm">;

/// An i32 in the text form.
def CustomCallApiVersionAttr :
    I32EnumAttr<"CustomCallApiVersion", "Calling convention of a custom call", [
      I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>,
      I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
      I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
      I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
      I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::sinter::stablehlo";
}

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

class Stablehlo_Attr<string name, string attrMnemonic,
                     list<Trait> traits = []> :
    AttrDef<Stablehlo_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}
def I64Dims : ArrayRefParameter<"int64_t", "dimensions">;

def ConvDimensionNumbersAttr :
    Stablehlo_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "Which dimension of a convolution's tensors is what";
  let parameters = (ins
    "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
    I64Dims:$inputSpatialDimensions,
    "int64_t":$kernelInputFeatureDimension,
    "int64_t":$kernelOutputFeatureDimension,
    I64Dims:$kernelSpatialDimensions,
    "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
    I64Dims:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def DotDimensionNumbersAttr : Stablehlo_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Batching and contracting dimensions of a product";
  let parameters = (ins
    I64Dims:$lhsBatchingDimensions, I64Dims:$rhsBatchingDimensions,
    I64Dims:$lhsContractingDimensions, I64Dims:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def GatherDimensionNumbersAttr :
    Stablehlo_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "How gather maps indices to slices";
  let parameters = (ins
    I64Dims:$offsetDims, I64Dims:$collapsedSliceDims,
    I64Dims:$operandBatchingDims, I64Dims:$startIndicesBatchingDims,
    I64Dims:$startIndexMap, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def ScatterDimensionNumbersAttr :
    Stablehlo_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "How scatter maps updates to indices of the input";
  let parameters = (ins
    I64Dims:$updateWindowDims, I64Dims:$insertedWindowDims,
    I64Dims:$inputBatchingDims, I64Dims:$scatterIndicesBatchingDims,
    I64Dims:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Numerics
//===----------------------------------------------------------------------===//

def DotAlgorithmAttr : Stablehlo_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "In what arithmetic a product is to be computed";
  let parameters = (ins
    "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
    "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount,
    "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations,
    "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,`
        `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,`
        `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,`
        `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
  let genVerifyDecl = 1;
}

def ResultAccuracyAttr : Stablehlo_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "How accurate a transcendental function is to be";
  let description = [{
    `mode` TOLERANCE requires an error of at most
    `max(atol, rtol * |exact|, ulps * unit in the last place)`; the other modes
    have no tolerances.
  }];
  let parameters = (ins
    APFloatParameter<"absolute tolerance">:$atol,
    APFloatParameter<"relative tolerance">:$rtol,
    "int64_t":$ulps, "ResultAccuracyModeAttr":$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def TypeExtensionsAttr :
    Stablehlo_Attr<"TypeExtensions", "type_extensions",
                   [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "The greatest sizes of a tensor's unknown dimensions";
  let description = [{
    The encoding of a tensor type, one bound per dimension; `?` where the size
    is static or has no bound. `#stablehlo.bounds<?, 4>` in the text.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let assemblyFormat = "`<` `bounds` `=` custom<DimSizes>($bounds) `>`";
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

def OutputOperandAliasAttr :
    Stablehlo_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "A result of a custom call that shares memory with an operand";
  let description = [{
    The indices lead into tuples, and are empty where there is none.
  }];
  let parameters = (ins I64Dims:$outputTupleIndices, "int64_t":$operandIndex,
                        I64Dims:$operandTupleIndices);
  let assemblyFormat = [{
    `<` `output_tuple_indices` `=` custom<DimSizes>($outputTupleIndices) `,`
        `operand_index` `=` $operandIndex `,`
        `operand_tuple_indices` `=` custom<DimSizes>($operandTupleIndices) `>`
  }];
}
def OutputOperandAliasesAttr :
    TypedArrayAttrBase<OutputOperandAliasAttr, "aliases of results"> {
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}

class Stablehlo_VectorOfIndex<string what> :
    Attr<And<[IndexElementsAttr.predicate,
              CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self)"
                    ".getType().getRank() == 1">]>, what> {
  let storageType = IndexElementsAttr.storageType;
  let returnType = IndexElementsAttr.returnType;
  let convertFromStorage = IndexElementsAttr.convertFromStorage;
}
def LayoutsAttr :
    TypedArrayAttrBase<Stablehlo_VectorOfIndex<"a layout, minor to major">,
                       "the layouts of values">;
def TilingsAttr :
    TypedArrayAttrBase<
        TypedArrayAttrBase<Stablehlo_VectorOfIndex<"a tile">, "tiles">,
        "the tilings of values">;
def SymbolsAttr : TypedArrayAttrBase<FlatSymbolRefAttr, "names of functions"> {
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

def ChannelHandleAttr : Stablehlo_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Which operations talk with each other, and how";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def SubAxisInfoAttr : Stablehlo_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "The part of an axis that is meant";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def AxisRefAttr : Stablehlo_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis of a mesh, or a part of one";
  let parameters = (ins
    StringRefParameter<"name">:$name,
    OptionalParameter<"SubAxisInfoAttr", "the part">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def MeshAxisAttr : Stablehlo_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "An axis of a mesh";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def MeshAttr : Stablehlo_Attr<"Mesh", "mesh"> {
  let summary = "Processes, arranged along named axes";
  let parameters = (ins
    ArrayRefParameter<"MeshAxisAttr">:$axes,
    OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let assemblyFormat = [{
    `<` `axes` `` `=` `` `[` $axes `]`
        (`,` `device_ids` `` `=` `` $device_ids^)? `>`
  }];
}

def ReplicaGroupMeshAxesAttr :
    Stablehlo_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "Groups of processes that differ along axes of a mesh";
  let description = [{
    `mesh` is a mesh or the name of one, `axes` are `axis_ref`s.
  }];
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

/// One row of process ids per group (padded by -1), or axes of a mesh.
def ReplicaGroupsAttr :
    AnyAttrOf<[I64ElementsAttr, ReplicaGroupMeshAxesAttr],
              "process ids of each group or axes of a mesh",
              "::mlir::Attribute">;

//===----------------------------------------------------------------------===//
// Numbers with a label
//===----------------------------------------------------------------------===//

class Labelled<string label, AttrConstraint constraint> :
    AttrConstraint<constraint.predicate,
                   constraint.summary # " (" # label # ")">;
class NonNegative<string label> :
    ConfinedAttr<I64Attr, [Labelled<label, IntNonNegative>]>;
class Positive<string label> :
    ConfinedAttr<I64Attr, [Labelled<label, IntPositive>]>;

#endif // SINTER_GRAPH_STABLEHLO_ATTRIBUTES
