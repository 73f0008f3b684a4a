//===- NnElementwise.td - activations and other functions -----------------===//

#ifndef SINTER_GRAPH_NN_ELEMENTWISE
#define SINTER_GRAPH_NN_ELEMENTWISE

include "graph/nn/NnBase.td"

def Nn_AcosOp : Nn_UnaryOp<"acos"> {
  let summary = "The angle whose cosine is x";
}

def Nn_AcoshOp : Nn_UnaryOp<"acosh"> {
  let summary = "The inverse hyperbolic cosine";
}

def Nn_AsinOp : Nn_UnaryOp<"asin"> {
  let summary = "The angle whose sine is x";
}

def Nn_AsinhOp : Nn_UnaryOp<"asinh"> {
  let summary = "The inverse hyperbolic sine";
}

def Nn_AtanOp : Nn_UnaryOp<"atan"> {
  let summary = "The angle whose tangent is x";
}

def Nn_AtanhOp : Nn_UnaryOp<"atanh"> {
  let summary = "The inverse hyperbolic tangent";
}

def Nn_CoshOp : Nn_UnaryOp<"cosh"> {
  let summary = "The hyperbolic cosine";
}

def Nn_SinhOp : Nn_UnaryOp<"sinh"> {
  let summary = "The hyperbolic sine";
}

def Nn_ErfOp : Nn_UnaryOp<"erf"> {
  let summary = "The error function, 2 / sqrt(pi) times the integral of "
                "exp(-t^2) from 0 to x";
}

def Nn_ErfcOp : Nn_UnaryOp<"erfc"> {
  let summary = "1 - erf(x), exact where that is small";
}

def Nn_ReluOp : Nn_UnaryOp<"relu"> {
  let summary = "max(x, 0)";
}

def Nn_LeakyReluOp : Nn_UnaryOp<"leaky_relu", (ins F64Attr:$alpha)> {
  let summary = "x if x >= 0, else alpha * x";
}

def Nn_EluOp : Nn_UnaryOp<"elu", (ins F64Attr:$alpha)> {
  let summary = "x if x > 0, else alpha * (exp(x) - 1)";
}

def Nn_CeluOp : Nn_UnaryOp<"celu", (ins F64Attr:$alpha)> {
  let summary = "max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))";
}

def Nn_SeluOp : Nn_UnaryOp<"selu", (ins F64Attr:$alpha, F64Attr:$gamma)> {
  let summary = "gamma * (x if x > 0, else alpha * (exp(x) - 1))";
}

def Nn_ThresholdedReluOp :
    Nn_UnaryOp<"thresholded_relu", (ins F64Attr:$alpha)> {
  let summary = "x if x > alpha, else 0";
}

def Nn_HardSigmoidOp :
    Nn_UnaryOp<"hard_sigmoid", (ins F64Attr:$alpha, F64Attr:$beta)> {
  let summary = "max(0, min(1, alpha * x + beta))";
}

def Nn_HardSwishOp : Nn_UnaryOp<"hard_swish"> {
  let summary = "x * max(0, min(1, x / 6 + 0.5))";
}

def Nn_SiluOp : Nn_UnaryOp<"silu", (ins Nn_DefaultF64<"1.0">:$alpha)> {
  let summary = "x / (1 + exp(-alpha * x))";
}

def Nn_MishOp : Nn_UnaryOp<"mish"> {
  let summary = "x * tanh(log(1 + exp(x)))";
}

def Nn_SoftplusOp : Nn_UnaryOp<"softplus"> {
  let summary = "log(1 + exp(x))";
}

def Nn_SoftsignOp : Nn_UnaryOp<"softsign"> {
  let summary = "x / (1 + |x|)";
}

def Nn_ShrinkOp : Nn_UnaryOp<"shrink", (ins F64Attr:$bias, F64Attr:$lambda)> {
  let summary = "x + bias if x < -lambda, x - bias if x > lambda, else 0";
}

def Nn_GeluOp : Nn_UnaryOp<"gelu", (ins BoolAttr:$approximate)> {
  let summary = "x * Phi(x), or its approximation by tanh";
}

def Nn_PReluOp : Nn_LikeFirstOp<"prelu"> {
  let summary = "x if x >= 0, else slope * x";
  let description = "The slope broadcasts to the operand, as NumPy does.";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$slope);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $slope attr-dict `:` functional-type(operands, results)
  }];
}

def Nn_QuantizeOp :
    Nn_Op<"quantize", [Elementwise, SameOperandsAndResultShape]> {
  let summary = "To quantised values, rounded before the zero point is added";
  let description = [{
    clamp(round(x / scale) + zero point), ties to even, every step in the
    expressed type: ONNX's QuantizeLinear. `stablehlo.uniform_quantize` adds the
    zero point first; where that is 0 both are the same, and
    `stablehlo.uniform_quantize` is used. A quantised operand counts as its real
    values.
  }];
  let arguments = (ins Stablehlo_FloatOrQuantizedTensor:$operand);
  let results = (outs Stablehlo_QuantizedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_NN_ELEMENTWISE
