//===- Axes.td - how dimensions of operands and results correspond --------===//

#ifndef SINTER_GRAPH_AXES
#define SINTER_GRAPH_AXES

include "mlir/IR/OpBase.td"

def AxesOpInterface : OpInterface<"AxesOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation with a known correspondence between the dimensions of its
    operands and results.
  }];
  let methods = [InterfaceMethod<[{
      The axes that make up the dimensions of operands and results.
    }],
                                 "::sinter::Axes", "getAxes">,
                 InterfaceMethod<[{
      Updates the attributes for a new dimension order of the leading operand
      (the first that has dimensions, and all that have the same axes):
      dimension i was \p order[i], or, where that is -1, is a new one, whose
      slices are independent. \p sizes are the new sizes of that operand; only
      kept dimensions may change their size. The caller sets the operands and
      the results' types. Returns the order of the results' dimensions, in the
      same way; nothing, without any change, where the order is not supported.
    }],
                                 "std::optional<::llvm::SmallVector<int64_t>>",
                                 "reorder",
                                 (ins "::llvm::ArrayRef<int64_t>":$order,
                                      "::llvm::ArrayRef<int64_t>":$sizes),
                                 "",
                                 "return std::nullopt;">];
}

#endif // SINTER_GRAPH_AXES
