//===- AffineFlow.td - moving per-channel scales across operations --------===//

#ifndef SINTER_GRAPH_AFFINEFLOW
#define SINTER_GRAPH_AFFINEFLOW

include "mlir/IR/OpBase.td"

def AffineFlowOpInterface : OpInterface<"AffineFlowOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation on floats that a scale and a shift for each channel, y = s x +
    t, may move across: from its result to its operands, or from one of them to
    its result.
  }];
  let methods = [InterfaceMethod<[{
      The ways in which a scale and a shift move across: if all operands of a
      way are scaled, and those of AffineWay::shift shifted, the result is
      scaled and shifted. Channels may lie along axes that the operation keeps
      (AxesOpInterface) and those of getChannelSources().
    }],
                                 "::llvm::SmallVector<::sinter::AffineWay>",
                                 "getAffineWays">,
                 InterfaceMethod<[{
      The operand slice that each slice of a result dimension copies, where that
      dimension is made from dimension \p dimension of operand \p operand: the
      slice's index, or -1 if it is from another operand. Nothing where no slice
      is one of the operand's. Only called for resized axes (AxisKind).
    }],
                                 "std::optional<::llvm::SmallVector<int64_t>>",
                                 "getChannelSources",
                                 (ins "unsigned":$operand,
                                     "int64_t":$dimension), "", [{
      return std::nullopt;
    }]>,
                 StaticInterfaceMethod<[{
      Describes the ways of this kind of operation, for the documentation.
    }],
                                       "::sinter::AffineFlowSummary",
                                       "summarizeAffineFlow", (ins), "", [{
      return {};
    }]>];
}

#endif // SINTER_GRAPH_AFFINEFLOW
