//===- StablehloElementwise.td - elementwise operations -------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_ELEMENTWISE
#define SINTER_GRAPH_STABLEHLO_ELEMENTWISE

include "graph/stablehlo/StablehloBase.td"

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

def Stablehlo_AbsOp :
    Stablehlo_InferredOp<"abs", [Elementwise, SameOperandsAndResultShape]> {
  let summary = "|x|, elementwise; of a complex number, a real one";
  let arguments = (ins Input<1, Stablehlo_SignedTensor>:$operand);
  let results = (outs Stablehlo_SignedTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def Stablehlo_CbrtOp : Stablehlo_FunctionOp<"cbrt"> {
  let summary = "The cubic root";
}

def Stablehlo_CeilOp : Stablehlo_UnaryOp<"ceil", Stablehlo_FloatTensor> {
  let summary = "The least integer that is not less";
}

def Stablehlo_CosineOp : Stablehlo_FunctionOp<"cosine"> {
  let summary = "cos(x), x in radians";
}

def Stablehlo_ClzOp :
    Stablehlo_UnaryOp<"count_leading_zeros", Stablehlo_IntTensor> {
  let summary = "The number of leading zero bits";
}

def Stablehlo_ExpOp : Stablehlo_FunctionOp<"exponential"> {
  let summary = "e to the power of x";
}

def Stablehlo_Expm1Op : Stablehlo_FunctionOp<"exponential_minus_one"> {
  let summary = "e to the power of x, minus one, exact near zero";
}

def Stablehlo_FloorOp : Stablehlo_UnaryOp<"floor", Stablehlo_FloatTensor> {
  let summary = "The greatest integer that is not greater";
}

def Stablehlo_LogOp : Stablehlo_FunctionOp<"log"> {
  let summary = "The natural logarithm";
}

def Stablehlo_Log1pOp : Stablehlo_FunctionOp<"log_plus_one"> {
  let summary = "log(1 + x), exact near zero";
}

def Stablehlo_LogisticOp : Stablehlo_FunctionOp<"logistic"> {
  let summary = "1 / (1 + exp(-x))";
}

def Stablehlo_NegOp : Stablehlo_UnaryOp<"negate", Stablehlo_NumericTensor> {
  let summary = "-x; of an integer, in two's complement";
}

def Stablehlo_NotOp : Stablehlo_UnaryOp<"not", Stablehlo_PredIntTensor> {
  let summary = "Logical not of i1, bitwise not of integers";
}

def Stablehlo_PopcntOp : Stablehlo_UnaryOp<"popcnt", Stablehlo_IntTensor> {
  let summary = "The number of bits set";
}

def Stablehlo_RoundOp :
    Stablehlo_UnaryOp<"round_nearest_afz", Stablehlo_FloatTensor> {
  let summary = "The nearest integer, ties away from zero";
}

def Stablehlo_RoundNearestEvenOp :
    Stablehlo_UnaryOp<"round_nearest_even", Stablehlo_FloatTensor> {
  let summary = "The nearest integer, ties to even";
}

def Stablehlo_RsqrtOp : Stablehlo_FunctionOp<"rsqrt"> {
  let summary = "1 / sqrt(x)";
}

def Stablehlo_SignOp : Stablehlo_UnaryOp<"sign", Stablehlo_SignedTensor> {
  let summary = "-1, 0 or 1 (x / |x| of complex numbers); -0, +0 and NaN stay";
}

def Stablehlo_SineOp : Stablehlo_FunctionOp<"sine"> {
  let summary = "sin(x), x in radians";
}

def Stablehlo_SqrtOp : Stablehlo_FunctionOp<"sqrt"> {
  let summary = "The square root";
}

def Stablehlo_TanOp : Stablehlo_FunctionOp<"tan"> {
  let summary = "tan(x), x in radians";
}

def Stablehlo_TanhOp : Stablehlo_FunctionOp<"tanh"> {
  let summary = "The hyperbolic tangent";
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

def Stablehlo_AddOp : Stablehlo_BinaryOp<"add", Stablehlo_Tensor, []> {
  let summary = "lhs + rhs; logical or of i1";
  let hasVerifier = 1;
}

def Stablehlo_AndOp : Stablehlo_BinaryOp<"and", Stablehlo_PredIntTensor> {
  let summary = "Logical and of i1, bitwise and of integers";
}

def Stablehlo_Atan2Op :
    Stablehlo_BinaryOp<"atan2", Stablehlo_FloatComplexTensor> {
  let summary = "The angle of the point (rhs, lhs)";
}

def Stablehlo_DivOp : Stablehlo_BinaryOp<"divide", Stablehlo_NumericTensor> {
  let summary = "lhs / rhs; of integers, rounded toward zero; x / 0 is -1 "
                "(all bits set), the least integer / -1 is the least integer";
}

def Stablehlo_MaxOp : Stablehlo_BinaryOp<"maximum", Stablehlo_UniformTensor> {
  let summary = "The greater one; NaN if either is; logical or of i1";
}

def Stablehlo_MinOp : Stablehlo_BinaryOp<"minimum", Stablehlo_UniformTensor> {
  let summary = "The lesser one; NaN if either is; logical and of i1";
}

def Stablehlo_MulOp : Stablehlo_BinaryOp<"multiply", Stablehlo_UniformTensor> {
  let summary = "lhs * rhs; logical and of i1";
}

def Stablehlo_OrOp : Stablehlo_BinaryOp<"or", Stablehlo_PredIntTensor> {
  let summary = "Logical or of i1, bitwise or of integers";
}

def Stablehlo_PowOp : Stablehlo_BinaryOp<"power", Stablehlo_NumericTensor> {
  let summary = "lhs to the power of rhs";
}

def Stablehlo_RemOp : Stablehlo_BinaryOp<"remainder", Stablehlo_NumericTensor> {
  let summary = "The remainder of the division, with the sign of lhs";
}

def Stablehlo_ShiftLeftOp :
    Stablehlo_BinaryOp<"shift_left", Stablehlo_IntTensor> {
  let summary = "lhs * 2^rhs; 0 if rhs is not less than the number of bits";
}

def Stablehlo_ShiftRightArithmeticOp :
    Stablehlo_BinaryOp<"shift_right_arithmetic", Stablehlo_IntTensor> {
  let summary = "lhs shifted right by rhs bits, the sign bit repeated";
}

def Stablehlo_ShiftRightLogicalOp :
    Stablehlo_BinaryOp<"shift_right_logical", Stablehlo_IntTensor> {
  let summary = "lhs shifted right by rhs bits, zeros shifted in";
}

def Stablehlo_SubtractOp :
    Stablehlo_BinaryOp<"subtract", Stablehlo_NumericTensor> {
  let summary = "lhs - rhs";
}

def Stablehlo_XorOp : Stablehlo_BinaryOp<"xor", Stablehlo_PredIntTensor> {
  let summary = "Logical or bitwise exclusive or";
}

//===----------------------------------------------------------------------===//
// Other types of result, other numbers of operands
//===----------------------------------------------------------------------===//

/// One operand; a result of the same shape and another, explicit element type.
class Stablehlo_TypeChangingOp<string mnemonic, Type operandType,
                               Type resultType, list<Trait> traits = []> :
    Stablehlo_Op<mnemonic, !listconcat([Pure, Elementwise,
                                        SameOperandsAndResultShape], traits)> {
  let arguments = (ins Input<1, operandType>:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

/// The same with an inferred result type.
class Stablehlo_TypeGivingOp<string mnemonic, Type operandType,
                             Type resultType> :
    Stablehlo_InferredOp<mnemonic, [Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Input<1, operandType>:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def Stablehlo_ConvertOp :
    Stablehlo_TypeChangingOp<"convert", Stablehlo_PlainOrIndexTensor,
                             Stablehlo_PlainOrIndexTensor,
        [PredOpTrait<"an index is converted from and to signless integers only",
             CPred<"::sinter::stablehlo::convertsIndex($_op)">>]> {
  let summary = "Converts to another element type";
  let description = [{
    To i1: whether the value is not zero. From float to integer: toward zero
    (a value out of range is clamped, NaN gives 0).
    From real to complex: imaginary part 0; from complex: the real part.

    An index, which only functions and shapes have, converts from and to
    signless integers: `arith.index_cast` in a file.
  }];
}

def Stablehlo_RealOp :
    Stablehlo_TypeGivingOp<"real", Stablehlo_PlainFloatComplexTensor,
                           Stablehlo_PlainFloatTensor> {
  let summary = "The real part";
}

def Stablehlo_ImagOp :
    Stablehlo_TypeGivingOp<"imag", Stablehlo_PlainFloatComplexTensor,
                           Stablehlo_PlainFloatTensor> {
  let summary = "The imaginary part";
}

def Stablehlo_IsFiniteOp :
    Stablehlo_TypeGivingOp<"is_finite", Stablehlo_FloatTensor,
                           Stablehlo_PredTensor> {
  let summary = "Whether a value is neither infinite nor NaN";
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_UniformQuantizeOp :
    Stablehlo_TypeChangingOp<"uniform_quantize",
                             Stablehlo_FloatOrQuantizedTensor,
                             Stablehlo_QuantizedTensor> {
  let summary = "To quantised values; from quantised ones, a rescale";
  let hasVerifier = 1;
}

def Stablehlo_UniformDequantizeOp :
    Stablehlo_TypeGivingOp<"uniform_dequantize", Stablehlo_QuantizedTensor,
                           Stablehlo_PlainFloatTensor> {
  let summary = "From quantised values to floating-point ones";
}

def Stablehlo_BitcastConvertOp :
    Stablehlo_Op<"bitcast_convert", [HandsTensorsOn, Pure]> {
  let summary = "The same bits as another element type";
  let description = [{
    Where the widths differ, the last dimension holds the pieces of the wider
    element, the least significant first (C1).
  }];
  let arguments = (ins Input<1, Stablehlo_Tensor>:$operand);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Stablehlo_ReducePrecisionOp :
    Stablehlo_ElementwiseOp<"reduce_precision", [SameBaselineType]> {
  let summary = "Rounds to a float of fewer exponent and mantissa bits";
  let arguments = (ins
    Input<1, Stablehlo_FloatTensor>:$operand,
    ConfinedAttr<I32Attr, [Labelled<"C2", IntPositive>]>:$exponent_bits,
    ConfinedAttr<I32Attr, [Labelled<"C3", IntNonNegative>]>:$mantissa_bits);
  let results = (outs Stablehlo_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` `format` `=`
      custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
      `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def Stablehlo_ComplexOp :
    Stablehlo_InferredOp<"complex", [Elementwise, SameOperandsAndResultShape]> {
  let summary = "A complex number of a real and an imaginary part";
  let arguments = (ins Input<1, Stablehlo_Float32Or64Tensor>:$lhs,
                       Input<2, Stablehlo_Float32Or64Tensor>:$rhs);
  let results = (outs Stablehlo_ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
      `:` custom<ComplexTypes>(type($lhs), type($rhs), type($result))
  }];
}

def Stablehlo_CompareOp :
    Stablehlo_InferredOp<"compare", [Elementwise, SameOperandsAndResultShape]> {
  let summary = "Compares elementwise";
  let description = [{
    ```mlir
    %r = stablehlo.compare LT, %a, %b, FLOAT
        : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    ```

    Beyond (C3), signless integers are compared as unsigned where `compare_type`
    is UNSIGNED.
  }];
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$lhs,
                       Input<2, Stablehlo_UniformTensor>:$rhs,
                       ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<ComparisonTypeAttr>:$compare_type);
  let results = (outs Stablehlo_PredTensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_SelectOp : Stablehlo_InferredOp<"select", [MovesElements]> {
  let summary = "on_true where the predicate holds, else on_false";
  let description = [{
    The predicate has the operands' shape or is a scalar (C1); on_true, on_false
    and the result have the same type (C2).
  }];
  let arguments = (ins Input<1, Stablehlo_PredTensor>:$pred,
                       Input<2, Stablehlo_UniformTensor>:$on_true,
                       Input<3, Stablehlo_UniformTensor>:$on_false);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict
      `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false),
                              type($result))
  }];
}

def Stablehlo_ClampOp : Stablehlo_InferredOp<"clamp"> {
  let summary = "minimum(maximum(operand, min), max)";
  let description = [{
    `min` and `max` have the operand's shape or are scalars (C1, C2).
  }];
  let arguments = (ins Input<1, Stablehlo_UniformTensor>:$min,
                       Input<2, Stablehlo_UniformTensor>:$operand,
                       Input<3, Stablehlo_UniformTensor>:$max);
  let results = (outs Stablehlo_UniformTensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
      `:` custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
}

#endif // SINTER_GRAPH_STABLEHLO_ELEMENTWISE
