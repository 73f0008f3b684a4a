//===- ChloOps.td - operations that frameworks use besides StableHLO ------===//

#ifndef SINTER_GRAPH_CHLO_OPS
#define SINTER_GRAPH_CHLO_OPS

include "graph/chlo/ChloBase.td"

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

def Chlo_AcosOp : Chlo_ComplexUnaryOp<"acos", "acos"> {
  let summary = "The angle whose cosine is x";
}
def Chlo_AcoshOp : Chlo_ComplexUnaryOp<"acosh", "acosh"> {
  let summary = "The inverse hyperbolic cosine";
}
def Chlo_AsinOp : Chlo_ComplexUnaryOp<"asin", "asin"> {
  let summary = "The angle whose sine is x";
}
def Chlo_AsinhOp : Chlo_ComplexUnaryOp<"asinh", "asinh"> {
  let summary = "The inverse hyperbolic sine";
}
def Chlo_AtanOp : Chlo_ComplexUnaryOp<"atan", "atan"> {
  let summary = "The angle whose tangent is x";
}
def Chlo_AtanhOp : Chlo_ComplexUnaryOp<"atanh", "atanh"> {
  let summary = "The inverse hyperbolic tangent";
}
def Chlo_ConjOp : Chlo_ComplexUnaryOp<"conj", "conj"> {
  let summary = "The complex conjugate";
}
def Chlo_CoshOp : Chlo_ComplexUnaryOp<"cosh", "cosh"> {
  let summary = "The hyperbolic cosine";
}
def Chlo_SinhOp : Chlo_ComplexUnaryOp<"sinh", "sinh"> {
  let summary = "The hyperbolic sine";
}
def Chlo_SquareOp : Chlo_ComplexUnaryOp<"square", "square"> {
  let summary = "x * x";
}
def Chlo_TanOp : Chlo_ComplexUnaryOp<"tan", "tan"> {
  let summary = "tan(x), x in radians";
}
def Chlo_AsinAcosKernelOp :
    Chlo_UnaryOp<"_asin_acos_kernel", "asinAcosKernel",
                 Stablehlo_ComplexTensor> {
  let summary = "What the inverse sine and cosine are made of";
  let description = [{
    w such that asin(z) = complex(atan2(z.real, w.real), sign(z.imag) * w.imag)
    and acos(z) = complex(atan2(w.real, z.real), -sign(z.imag) * w.imag).
  }];
}

def Chlo_BesselI1eOp : Chlo_UnaryOp<"bessel_i1e", "besselI1e"> {
  let summary = "exp(-|x|) I_1(x), the scaled modified Bessel function";
}
def Chlo_DigammaOp : Chlo_UnaryOp<"digamma", "digamma"> {
  let summary = "The logarithmic derivative of the gamma function";
}
def Chlo_ErfOp : Chlo_UnaryOp<"erf", "wholeErf"> {
  let summary = "The error function";
}
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc", "wholeErfc"> {
  let summary = "1 - erf(x), exact where that is small";
}
def Chlo_ErfInvOp : Chlo_UnaryOp<"erf_inv", "erfInv"> {
  let summary = "The inverse of the error function";
}
def Chlo_LgammaOp : Chlo_UnaryOp<"lgamma", "lgamma"> {
  let summary = "log |gamma(x)|";
}

def Chlo_IsInfOp : Chlo_PredicateOp<"is_inf", "isInf"> {
  let summary = "Whether a value is infinite";
}
def Chlo_IsNegInfOp : Chlo_PredicateOp<"is_neg_inf", "isNegInf"> {
  let summary = "Whether a value is minus infinity";
}
def Chlo_IsPosInfOp : Chlo_PredicateOp<"is_pos_inf", "isPosInf"> {
  let summary = "Whether a value is plus infinity";
}

//===----------------------------------------------------------------------===//
// Functions of two operands
//===----------------------------------------------------------------------===//

def Chlo_NextAfterOp : Chlo_FunctionOp<"next_after", "nextAfter"> {
  let summary = "The value next to x in the direction of y";
  let arguments = (ins Chlo_FloatTensor:$x, Chlo_FloatTensor:$y);
  let results = (outs Chlo_FloatTensor:$result);
  let assemblyFormat = [{
    $x `,` $y attr-dict `:` type($x) `,` type($y) `->` type($result)
  }];
}

def Chlo_PolygammaOp : Chlo_FunctionOp<"polygamma", "polygamma"> {
  let summary = "The derivative of digamma of order n at x";
  let description = "NaN where n is not a whole number or is negative.";
  let arguments = (ins Chlo_FloatTensor:$n, Chlo_FloatTensor:$x);
  let results = (outs Chlo_FloatTensor:$result);
  let assemblyFormat = [{
    $n `,` $x attr-dict `:` type($n) `,` type($x) `->` type($result)
  }];
}

def Chlo_ZetaOp : Chlo_FunctionOp<"zeta", "zeta"> {
  let summary = "Hurwitz's zeta function, the sum of (q + n)^-x over n >= 0";
  let arguments = (ins Chlo_FloatTensor:$x, Chlo_FloatTensor:$q);
  let results = (outs Chlo_FloatTensor:$result);
  let assemblyFormat = [{
    $x `,` $q attr-dict `:` type($x) `,` type($q) `->` type($result)
  }];
}

def Chlo_MulhiOp : Chlo_FunctionOp<"mulhi", "mulhi"> {
  let summary = "The upper half of the product of integers";
  let arguments = (ins Stablehlo_IntTensor:$lhs, Stablehlo_IntTensor:$rhs);
  let results = (outs Stablehlo_IntTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Operands that broadcast
//===----------------------------------------------------------------------===//

class Chlo_BroadcastOf<string mnemonic, string op,
                       Type type = Stablehlo_Tensor> :
    Chlo_BroadcastOp<mnemonic,
                     "emit.make<stablehlo::" # op # ">(lhs, rhs)", type> {
  let summary = "stablehlo." # !substr(mnemonic, 10) # " of operands that "
                "broadcast";
}

def Chlo_BroadcastAddOp : Chlo_BroadcastOf<"broadcast_add", "AddOp">;
def Chlo_BroadcastAndOp :
    Chlo_BroadcastOf<"broadcast_and", "AndOp", Stablehlo_PredIntTensor>;
def Chlo_BroadcastAtan2Op : Chlo_BroadcastOf<"broadcast_atan2", "Atan2Op">;
def Chlo_BroadcastDivOp : Chlo_BroadcastOf<"broadcast_divide", "DivOp">;
def Chlo_BroadcastMaxOp : Chlo_BroadcastOf<"broadcast_maximum", "MaxOp">;
def Chlo_BroadcastMinOp : Chlo_BroadcastOf<"broadcast_minimum", "MinOp">;
def Chlo_BroadcastMulOp : Chlo_BroadcastOf<"broadcast_multiply", "MulOp">;
def Chlo_BroadcastOrOp :
    Chlo_BroadcastOf<"broadcast_or", "OrOp", Stablehlo_PredIntTensor>;
def Chlo_BroadcastPowOp : Chlo_BroadcastOf<"broadcast_power", "PowOp">;
def Chlo_BroadcastRemOp : Chlo_BroadcastOf<"broadcast_remainder", "RemOp">;
def Chlo_BroadcastShiftLeftOp :
    Chlo_BroadcastOf<"broadcast_shift_left", "ShiftLeftOp">;
def Chlo_BroadcastShiftRightArithmeticOp :
    Chlo_BroadcastOf<"broadcast_shift_right_arithmetic",
                     "ShiftRightArithmeticOp">;
def Chlo_BroadcastShiftRightLogicalOp :
    Chlo_BroadcastOf<"broadcast_shift_right_logical", "ShiftRightLogicalOp">;
def Chlo_BroadcastSubOp : Chlo_BroadcastOf<"broadcast_subtract", "SubtractOp">;
def Chlo_BroadcastXorOp :
    Chlo_BroadcastOf<"broadcast_xor", "XorOp", Stablehlo_PredIntTensor>;

def Chlo_BroadcastNextAfterOp :
    Chlo_BroadcastOp<"broadcast_next_after", "nextAfter(emit, lhs, rhs)",
                     Chlo_FloatTensor> {
  let summary = "next_after of operands that broadcast";
}
def Chlo_BroadcastPolygammaOp :
    Chlo_BroadcastOp<"broadcast_polygamma", "polygamma(emit, lhs, rhs)",
                     Chlo_FloatTensor> {
  let summary = "polygamma of operands that broadcast";
}
def Chlo_BroadcastZetaOp :
    Chlo_BroadcastOp<"broadcast_zeta", "zeta(emit, lhs, rhs)",
                     Chlo_FloatTensor> {
  let summary = "zeta of operands that broadcast";
}

def Chlo_BroadcastComplexOp :
    Chlo_BroadcastOp<"broadcast_complex",
                     "emit.make<stablehlo::ComplexOp>(lhs, rhs)",
                     Ranked<[F32, F64], "tensor of f32 or f64">,
                     Stablehlo_ComplexTensor,
                     "::mlir::ComplexType::get(type)"> {
  let summary = "Complex numbers from broadcast real and imaginary parts";
}

def Chlo_BroadcastCompareOp :
    Chlo_BroadcastOp<"broadcast_compare",
                     "emit.make<stablehlo::CompareOp>(lhs, rhs, "
                     "getComparisonDirection(), comparisonType(*this))",
                     Stablehlo_Tensor, Stablehlo_PredTensor,
                     "::mlir::IntegerType::get(type.getContext(), 1)"> {
  let summary = "Comparison of operands that broadcast";
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       Chlo_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<Chlo_ComparisonTypeAttr>:$compare_type);
}

def Chlo_BroadcastSelectOp : Chlo_InferredOp<"broadcast_select"> {
  let summary = "Selection by NumPy's rule of broadcasting";
  let arguments = (ins Stablehlo_PredTensor:$pred, Stablehlo_Tensor:$on_true,
                       Stablehlo_Tensor:$on_false);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

def Chlo_ConstantOp :
    Chlo_Op<"constant", [Pure, AllTypesMatch<["value", "output"]>]> {
  let summary = "A constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stablehlo_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
}

def Chlo_ConstantLikeOp :
    Chlo_InferredOp<"constant_like", [SameOperandsAndResultShape]> {
  let summary = "A tensor of the operand's shape with one value everywhere";
  let arguments = (ins TypedAttrInterface:$value, Stablehlo_Tensor:$operand);
  let results = (outs Stablehlo_Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

def Chlo_TopKOp : Chlo_InferredOp<"top_k"> {
  let summary = "The k largest elements of each row, and where they stand";
  let description = [{
    Along the last dimension, in descending order; of equal elements the one
    with the lower index comes first. NaN is greater than any other value.
  }];
  let arguments = (ins Stablehlo_Tensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$k,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs Stablehlo_Tensor:$values, Stablehlo_IntTensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict
    `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

def Chlo_RaggedDotOp : Chlo_Op<"ragged_dot", [Pure]> {
  let summary = "A product one of whose dimensions falls into groups";
  let description = [{
    The ragged dimension of lhs is split into groups of `group_sizes` elements
    (the rest belongs to no group). Where it is

    1. neither batching nor contracting: `[b,m,k], [g,b,k,n], [b,g] -> [b,m,n]`,
       each group of rows has its own rhs matrix;
    2. contracting: `[b,m,k], [b,k,n], [b,g] -> [g,b,m,n]`, a product of each
       group;
    3. batching: `[b,m,k], [b,k,n], [g] -> [b,m,n]`.

    `group_sizes` may omit its leading dimensions.
  }];
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
                       Stablehlo_IntTensor:$group_sizes,
                       Chlo_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
                       OptionalAttr<Chlo_PrecisionConfigAttr>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The roles of the dimensions of the left (0) or right (1) operand.
    ::sinter::stablehlo::ProductSide getSide(unsigned operand);
    /// The dimensions of lhs that group_sizes has before its last one, unless
    /// it omits them.
    ::llvm::SmallVector<int64_t> getGroupPrefix();
  }];
}

def Chlo_ScanOp : Chlo_Op<"scan", [
    AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Carries values along a dimension";
  let description = [{
    The body takes a slice of each input (without the dimension) and the
    carries, and returns a slice of each output and the next carries.
  }];
  let arguments = (ins
    Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$inits,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scan_dim_size,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
    OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<Stablehlo_Tensor>:$outputs,
                      Variadic<Stablehlo_Tensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The size of the scanned dimension; `?` where dynamic.
    int64_t getLength();
  }];
}

#endif // SINTER_GRAPH_CHLO_OPS
