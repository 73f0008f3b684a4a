//===- StablehloLinearAlgebra.td - solvers, transforms, random numbers ----===//

#ifndef SINTER_GRAPH_STABLEHLO_LINEARALGEBRA
#define SINTER_GRAPH_STABLEHLO_LINEARALGEBRA

include "graph/stablehlo/StablehloBase.td"

def Stablehlo_CholeskyOp : Stablehlo_InferredOp<"cholesky"> {
  let summary = "The Cholesky factor of each matrix of a batch";
  let description = [{
    `a = l * conj(transpose(l))` with a lower triangular `l`, or the same of an
    upper one; the other triangle of the result is implementation-defined (here:
    zeros).

    ```mlir
    %l = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
    ```
  }];
  let arguments = (ins Input<1, Stablehlo_FloatComplexTensor>:$a,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs Stablehlo_FloatComplexTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict
      `:` custom<SameTypes>(type($a), type($result))
  }];
}

def Stablehlo_TriangularSolveOp : Stablehlo_InferredOp<"triangular_solve"> {
  let summary = "Solves op(a) * x = b or x * op(a) = b of triangular matrices";
  let arguments = (ins Input<1, Stablehlo_FloatComplexTensor>:$a,
                       Input<2, Stablehlo_FloatComplexTensor>:$b,
                       BoolAttr:$left_side, BoolAttr:$lower,
                       BoolAttr:$unit_diagonal, TransposeAttr:$transpose_a);
  let results = (outs Stablehlo_FloatComplexTensor:$result);
}

def Stablehlo_FftOp : Stablehlo_InferredOp<"fft"> {
  let summary = "Fourier transforms along the last dimensions";
  let description = [{
    ```mlir
    %r = stablehlo.fft %x, type = FFT, length = [4]
        : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    ```
  }];
  let arguments = (ins Input<1, Stablehlo_PlainFloatComplexTensor>:$operand,
                       FftTypeAttr:$fft_type, DenseI64ArrayAttr:$fft_length);
  let results = (outs Stablehlo_PlainFloatComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_RngOp : Stablehlo_InferringOp<"rng"> {
  let summary = "Random numbers: from [a, b), or of mean a and deviation b";
  let description = "Has effects: each run draws other values.";
  let arguments = (ins
    Input<1, Scalar<[Stablehlo_Pred, Stablehlo_Int, Stablehlo_Float],
        "0-dimensional tensor of integer, boolean or floating-point type">>:$a,
    Input<2, Scalar<[Stablehlo_Pred, Stablehlo_Int, Stablehlo_Float],
        "0-dimensional tensor of integer, boolean or floating-point type">>:$b,
    Input<3, Stablehlo_ShapeTensor>:$shape,
    RngDistributionAttr:$rng_distribution);
  let results = (outs Stablehlo_PredIntFloatTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_RngBitGeneratorOp :
    Stablehlo_Op<"rng_bit_generator", [Pure]> {
  let summary = "Random bits that follow from a state, and the next state";
  let arguments = (ins RngAlgorithmAttr:$rng_algorithm,
                       Input<2, Stablehlo_IntFloatTensor>:$initial_state);
  let results = (outs Stablehlo_IntFloatTensor:$output_state,
                      Stablehlo_IntFloatTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_STABLEHLO_LINEARALGEBRA
