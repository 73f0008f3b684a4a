//===- Axes.td - how dimensions of operands and results correspond
//---------===//

#ifndef SINTER_GRAPH_AXES
#define SINTER_GRAPH_AXES

include "mlir/IR/OpBase.td"

def AxesOpInterface : OpInterface<"AxesOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation of which it is known how the dimensions of its operands and
    results correspond.
  }];
  let methods = [InterfaceMethod<[{
      The axes that the dimensions of operands and results are made of.
    }],
                                 "::sinter::Axes", "getAxes">,
                 InterfaceMethod<[{
      Changes the attributes to what they are where dimension i of the leading
      operand (the first that has dimensions, and all that have the same axes)
      is the one that was \p order[i]; or, where that is -1, a new one, along
      which every slice is computed by itself. \p sizes are that operand's then;
      only a dimension that is kept may have another size than it had. The
      caller sets the operands and the results' types. Gives the order of the results' dimensions, in the
      same way; nothing, with nothing changed, where it cannot be.
    }],
                                 "std::optional<::llvm::SmallVector<int64_t>>",
                                 "reorder",
                                 (ins "::llvm::ArrayRef<int64_t>":$order,
                                      "::llvm::ArrayRef<int64_t>":$sizes),
                                 "",
                                 "return std::nullopt;">];
}

#endif // SINTER_GRAPH_AXES
