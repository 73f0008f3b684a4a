//===- StablehloTypes.td - the dialect and the types of its values --------===//

#ifndef SINTER_GRAPH_STABLEHLO_TYPES
#define SINTER_GRAPH_STABLEHLO_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::sinter::stablehlo";
  let summary = "The StableHLO operation set";
  let description = [{
    Faithful to the public StableHLO specification in names, attributes, types,
    constraints and text form. Labels such as `(C1)` and `(I1)` beside a
    constraint are the specification's; they recur in the verifier and in the
    tests' names.
  }];
  let useDefaultTypePrinterParser = 1;
  let usePropertiesForAttributes = 1;
  // Attributes have a printer and a parser of the dialect's own, since
  // `#stablehlo.bounds<...>` is short for a type extension.
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

//===----------------------------------------------------------------------===//
// Types of the dialect's own
//===----------------------------------------------------------------------===//

class Stablehlo_Type<string name, string typeMnemonic> :
    TypeDef<Stablehlo_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Stablehlo_Token : Stablehlo_Type<"Token", "token"> {
  let summary = "Orders operations with side effects";
}

def Stablehlo_Future : Stablehlo_Type<"Future", "future"> {
  let summary = "What an operation that was started will give";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

def Stablehlo_Pred : TypeAlias<I1, "i1">;
def Stablehlo_SInt :
    AnyTypeOf<[SignlessIntOfWidths<[2, 4, 8, 16, 32, 64]>],
              "a signed integer type">;
def Stablehlo_UInt :
    AnyTypeOf<[UnsignedIntOfWidths<[2, 4, 8, 16, 32, 64]>],
              "an unsigned integer type">;
def Stablehlo_Int :
    AnyTypeOf<[Stablehlo_SInt, Stablehlo_UInt], "an integer type">;
def Stablehlo_Float :
    AnyTypeOf<[F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ,
               BF16, F16, F32, F64], "a floating-point type">;
def Stablehlo_String :
    Type<CPred<"::sinter::isStringType($_self)">, "!text.string">;
def Stablehlo_Complex : AnyTypeOf<[Complex<F32>, Complex<F64>],
                                  "complex<f32> or complex<f64>">;
def Stablehlo_PerTensorQuantized :
    Type<CPred<"::sinter::isQuantizedElement($_self, /*perAxis=*/false)">,
         "a per-tensor quantised type">;
def Stablehlo_Quantized :
    Type<Or<[Stablehlo_PerTensorQuantized.predicate,
             CPred<"::sinter::isQuantizedElement($_self, /*perAxis=*/true)">]>,
         "a quantised type">;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// A ranked tensor; if it is quantised per axis, it has one scale per element
/// along that axis.
class Ranked<list<Type> elements, string what, list<Pred> predicates = []> :
    Type<RankedTensorOf<elements, !listconcat(predicates,
            [CPred<"::sinter::hasScalePerSlice($_self)">])>.predicate,
         what, "::mlir::RankedTensorType">;
/// A tensor of rank 0 or 1.
class Ranked1D<list<Type> elements, string what> :
    Ranked<elements, what, [HasAnyRankOfPred<[1]>]>;
class Scalar<list<Type> elements, string what> :
    Ranked<elements, what, [HasAnyRankOfPred<[0]>]>;

def Stablehlo_Tensor :
    Ranked<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int, Stablehlo_Complex,
            Stablehlo_Quantized, Stablehlo_String],
           "tensor or quantised tensor">;
def Stablehlo_UniformTensor :
    Ranked<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int, Stablehlo_Complex,
            Stablehlo_PerTensorQuantized, Stablehlo_String],
           "tensor or per-tensor quantised tensor">;
def Stablehlo_PlainTensor :
    Ranked<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int, Stablehlo_Complex],
           "tensor that is not quantised">;
def Stablehlo_PlainOrIndexTensor :
    Ranked<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int, Stablehlo_Complex,
            Index], "tensor that is not quantised">;
def Stablehlo_QuantizedTensor :
    Ranked<[Stablehlo_Quantized], "quantised tensor">;
def Stablehlo_FloatOrQuantizedTensor :
    Ranked<[Stablehlo_Float, Stablehlo_Quantized],
           "tensor of floating-point type or quantised tensor">;
def Stablehlo_FloatTensor :
    Ranked<[Stablehlo_Float, Stablehlo_PerTensorQuantized],
           "tensor of floating-point type or per-tensor quantised tensor">;
def Stablehlo_FloatComplexTensor :
    Ranked<[Stablehlo_Float, Stablehlo_Complex, Stablehlo_PerTensorQuantized],
           "tensor of floating-point or complex type or per-tensor quantised "
           "tensor">;
def Stablehlo_PlainFloatTensor :
    Ranked<[Stablehlo_Float], "tensor of floating-point type">;
def Stablehlo_PlainFloatComplexTensor :
    Ranked<[Stablehlo_Float, Stablehlo_Complex],
           "tensor of floating-point or complex type">;
def Stablehlo_Float32Or64Tensor :
    Ranked<[F32, F64], "tensor of type f32 or f64">;
def Stablehlo_ComplexTensor :
    Ranked<[Stablehlo_Complex], "tensor of complex type">;
def Stablehlo_IntTensor : Ranked<[Stablehlo_Int], "tensor of integer type">;
def Stablehlo_PredTensor : Ranked<[Stablehlo_Pred], "tensor of type i1">;
def Stablehlo_PredIntTensor :
    Ranked<[Stablehlo_Pred, Stablehlo_Int],
           "tensor of boolean or integer type">;
def Stablehlo_PredIntFloatTensor :
    Ranked<[Stablehlo_Pred, Stablehlo_Int, Stablehlo_Float],
           "tensor of boolean, integer or floating-point type">;
def Stablehlo_IntFloatTensor :
    Ranked<[Stablehlo_Int, Stablehlo_Float],
           "tensor of integer or floating-point type">;
def Stablehlo_SignedTensor :
    Ranked<[Stablehlo_SInt, Stablehlo_Float, Stablehlo_Complex,
            Stablehlo_PerTensorQuantized],
           "tensor of signed integer, floating-point or complex type or "
           "per-tensor quantised tensor">;
def Stablehlo_NumericTensor :
    Ranked<[Stablehlo_Int, Stablehlo_Float, Stablehlo_Complex,
            Stablehlo_PerTensorQuantized],
           "tensor of integer, floating-point or complex type or per-tensor "
           "quantised tensor">;
def Stablehlo_RealTensor :
    Ranked<[Stablehlo_Pred, Stablehlo_Int, Stablehlo_Float,
            Stablehlo_PerTensorQuantized], "tensor of real numbers">;
def Stablehlo_IndexTensor :
    Ranked<[Stablehlo_Int, Index], "tensor of integer type">;
def Stablehlo_ScalarTensor :
    Scalar<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int, Stablehlo_Complex,
            Stablehlo_PerTensorQuantized, Stablehlo_String],
           "0-dimensional tensor or per-tensor quantised tensor">;
def Stablehlo_IntScalar :
    Scalar<[Stablehlo_Int], "0-dimensional tensor of integer type">;
def Stablehlo_FloatVector :
    Ranked1D<[Stablehlo_Float, Stablehlo_PerTensorQuantized],
             "1-dimensional tensor of floating-point or per-tensor quantised "
             "type">;
def Stablehlo_ShapeTensor :
    Ranked1D<[Stablehlo_Int, Index], "1-dimensional tensor of integer type">;
def Stablehlo_PairsTensor :
    Ranked<[Stablehlo_Int, Index], "2-dimensional tensor of integer type",
           [HasAnyRankOfPred<[2]>]>;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def Stablehlo_Buffer :
    MemRefOf<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int,
              Stablehlo_Complex, Stablehlo_PerTensorQuantized]>;
def Stablehlo_Tuple :
    NestedTupleOf<[Stablehlo_Tensor, Stablehlo_Buffer, Stablehlo_Token]>;
def Stablehlo_TensorOrToken :
    AnyTypeOf<[Stablehlo_Tensor, Stablehlo_Token], "tensor or token">;
def Stablehlo_UniformTensorOrToken :
    AnyTypeOf<[Stablehlo_UniformTensor, Stablehlo_Token],
              "tensor, per-tensor quantised tensor or token">;
def Stablehlo_LoopValue :
    AnyTypeOf<[Stablehlo_Tensor, Stablehlo_Token, Stablehlo_Buffer],
              "tensor, token or buffer">;
def Stablehlo_TupleValue :
    AnyTypeOf<[Stablehlo_Tensor, Stablehlo_Token, Stablehlo_Tuple,
               Stablehlo_Buffer], "tensor, token, tuple or buffer">;
def Stablehlo_CompositeValue :
    AnyTypeOf<[Stablehlo_Tensor, Stablehlo_Token, Stablehlo_Tuple],
              "tensor, token or tuple">;
def Stablehlo_AnyRankTensor :
    TensorOf<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int,
              Stablehlo_Complex, Stablehlo_Quantized, Stablehlo_String]>;
def Stablehlo_CustomCallValue :
    AnyTypeOf<[Stablehlo_AnyRankTensor, Stablehlo_Buffer, Stablehlo_Token,
               NestedTupleOf<[Stablehlo_AnyRankTensor, Stablehlo_Buffer,
                              Stablehlo_Token]>, Stablehlo_Future],
              "tensor, token, tuple, buffer or future">;

/// The specification's input of this number; its label appears in diagnostics.
class Input<int number, Type type> :
    Type<type.predicate, "(I" # number # ") " # type.summary,
         type.cppClassName>;

#endif // SINTER_GRAPH_STABLEHLO_TYPES
