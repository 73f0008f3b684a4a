//===- Rescale.td - moving rescales across an operation -------------------===//

#ifndef SINTER_GRAPH_RESCALE
#define SINTER_GRAPH_RESCALE

include "mlir/IR/OpBase.td"

def RescaleOpInterface : OpInterface<"RescaleOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation that rescales may move across. A rescale converts values from
    one scale to another: it multiplies by a positive factor, rounds, and clamps
    to the range of the storage type (stablehlo.uniform_quantize of a quantised
    value).
  }];
  let methods = [InterfaceMethod<[{
      The ways in which a rescale may move across: rescaling all operands of a
      way equals rescaling the result, if RescaleWay::ranges holds. A rescale
      with per-axis factors moves where all of these operands, and the result,
      keep the dimension (AxesOpInterface).
    }],
                                 "::llvm::SmallVector<::sinter::RescaleWay>",
                                 "getRescaleWays">,
                 InterfaceMethod<[{
      Whether a rescale before \p operand may be folded into the operand's
      quantised type: the operation computes with the real values of operands of
      any scale. The rescale must not clamp.
    }],
                                 "bool", "absorbsRescaleOfOperand",
                                 (ins "unsigned":$operand)>,
                 InterfaceMethod<[{
      Whether a rescale of the result may be folded into its type: the operation
      rounds real values to any scale once. The type before the rescale must
      hold every result without clamping.
    }],
                                 "bool", "absorbsRescaleOfResult">,
                 StaticInterfaceMethod<[{
      Describes the same for this kind of operation, for the documentation.
    }],
                                       "::sinter::RescaleSummary",
                                       "summarizeRescales", (ins), "", [{
      return {};
    }]>];
}

#endif // SINTER_GRAPH_RESCALE
