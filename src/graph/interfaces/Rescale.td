//===- Rescale.td - what a rescale may do around me
//------------------------===//

#ifndef SINTER_GRAPH_RESCALE
#define SINTER_GRAPH_RESCALE

include "mlir/IR/OpBase.td"

def RescaleOpInterface : OpInterface<"RescaleOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation around which rescales may move. A rescale takes numbers from
    one scale to another: multiplies by a positive factor, rounds, and cuts to
    the range of the stored type (stablehlo.uniform_quantize of a value that is
    quantised already).
  }];
  let methods = [InterfaceMethod<[{
      The ways in which a rescale may move through: rescaling the operands of a
      way, all alike, and then computing gives what computing and then rescaling
      the result gives, if RescaleWay::ranges holds. One with a factor for each
      index of a dimension moves where all of these operands, and the result,
      keep the dimension (AxesOpInterface).
    }],
                                 "::llvm::SmallVector<::sinter::RescaleWay>",
                                 "getRescaleWays">,
                 InterfaceMethod<[{
      Whether a rescale before \p operand may vanish into the operand's
      quantised type: the operation computes with the real values of operands of
      any scale. The rescale must not have cut anything.
    }],
                                 "bool", "absorbsRescaleOfOperand",
                                 (ins "unsigned":$operand)>,
                 InterfaceMethod<[{
      Whether a rescale of the result may vanish into its type: the operation
      rounds real values to any scale once. The type between must hold every
      result without cutting.
    }],
                                 "bool", "absorbsRescaleOfResult">,
                 StaticInterfaceMethod<[{
      The same in words, of all operations of the kind, for the documentation.
    }],
                                       "::sinter::RescaleSummary",
                                       "summarizeRescales", (ins), "", [{
      return {};
    }]>];
}

#endif // SINTER_GRAPH_RESCALE
