//===- StablehloBase.td - types, attributes and classes of the ops --------===//

#ifndef SINTER_GRAPH_STABLEHLO_BASE
#define SINTER_GRAPH_STABLEHLO_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::sinter::stablehlo";
  let summary = "The StableHLO operation set";
  let description = [{
    Faithful to the public StableHLO specification in names, attributes, types,
    constraints and text form. Labels such as `(C1)` beside a constraint are the
    specification's; they recur in the verifier and in the tests' names.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let usePropertiesForAttributes = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Stablehlo_Token : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Orders operations with side effects";
}

def Stablehlo_Int : AnyTypeOf<[AnySignlessInteger, AnyUnsignedInteger],
                              "an integer type">;
def Stablehlo_Pred : TypeAlias<I1, "i1">;
def Stablehlo_Complex : AnyTypeOf<[Complex<F32>, Complex<F64>],
                                  "complex<f32> or complex<f64>">;
def Stablehlo_Quantized :
    Type<CPred<"::mlir::isa<::mlir::quant::QuantizedType>($_self)">,
         "a quantised type">;
class Ranked<list<Type> elements, string what> :
    RankedTensorOf<elements, [], what>;

def Stablehlo_Tensor :
    Ranked<[AnyFloat, Stablehlo_Int, Index, Stablehlo_Complex,
            Stablehlo_Quantized], "ranked tensor">;
def Stablehlo_FloatTensor :
    Ranked<[AnyFloat, Stablehlo_Quantized], "tensor of floating-point values">;
def Stablehlo_FloatComplexTensor :
    Ranked<[AnyFloat, Stablehlo_Complex, Stablehlo_Quantized],
           "tensor of floating-point or complex values">;
def Stablehlo_IntTensor : Ranked<[Stablehlo_Int], "tensor of integers or i1">;
def Stablehlo_PredTensor : Ranked<[Stablehlo_Pred], "tensor of i1">;
def Stablehlo_ComplexTensor :
    Ranked<[Stablehlo_Complex], "tensor of complex values">;
def Stablehlo_NumericTensor :
    Ranked<[AnyFloat, Stablehlo_Int, Stablehlo_Complex, Index,
            Stablehlo_Quantized], "tensor of numbers">;
def Stablehlo_RealTensor :
    Ranked<[AnyFloat, Stablehlo_Int, Index, Stablehlo_Quantized],
           "tensor of real numbers">;
def Stablehlo_ShapeTensor : 1DTensorOf<[Stablehlo_Int, Index]>;

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

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Stablehlo_Attr<string name, string attrMnemonic> :
    AttrDef<Stablehlo_Dialect, name> {
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
  let summary = "How scatter maps updates to places";
  let parameters = (ins
    I64Dims:$updateWindowDims, I64Dims:$insertedWindowDims,
    I64Dims:$inputBatchingDims, I64Dims:$scatterIndicesBatchingDims,
    I64Dims:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}



//===----------------------------------------------------------------------===//
// Operation classes
//===----------------------------------------------------------------------===//

class Stablehlo_Op<string mnemonic, list<Trait> traits = []> :
    Op<Stablehlo_Dialect, mnemonic, traits>;

/// An op whose result types follow from its operands and attributes: the
/// builder needs none, and the verifier compares what is written with what
/// follows.
class Stablehlo_InferredOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_Op<mnemonic, !listconcat(traits, [Pure, InferTypeOpInterface])> {
  let extraClassDeclaration = [{
    static ::mlir::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes);
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange actual) {
      return ::sinter::compatibleTypes(inferred, actual);
    }
  }];
}

/// An elementwise op whose result has the operands' type.
class Stablehlo_ElementwiseOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_InferredOp<mnemonic, !listconcat(traits,
        [Elementwise, SameOperandsAndResultShape])> {
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::sinter::inferElementwise(location, operands, types);
    }
  }];
}

class Stablehlo_UnaryOp<string mnemonic, Type operandType> :
    Stablehlo_ElementwiseOp<mnemonic, [SameOperandsAndResultElementType]> {
  let arguments = (ins operandType:$operand);
  let results = (outs operandType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

class Stablehlo_BinaryOp<string mnemonic, Type operandType,
                         list<Trait> traits = []> :
    Stablehlo_ElementwiseOp<mnemonic,
        !listconcat(traits, [SameOperandsAndResultElementType])> {
  let arguments = (ins operandType:$lhs, operandType:$rhs);
  let results = (outs operandType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
      `:` custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
}

#endif // SINTER_GRAPH_STABLEHLO_BASE
