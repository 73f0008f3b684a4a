//===- ElementalOp.td - how the elements of a result are computed ---------===//

#ifndef SINTER_BACKEND_CPU_IR_ELEMENTALOP
#define SINTER_BACKEND_CPU_IR_ELEMENTALOP

include "mlir/IR/OpBase.td"

def ElementalOpInterface : OpInterface<"ElementalOpInterface"> {
  let cppNamespace = "::sinter::cpu";
  let description = [{
    An operation that this backend computes. It is attached from outside, a line
    an operation (emit/ElementalModels.cpp); whoever asks what can be computed,
    and how, asks here.
  }];
  let methods = [
    InterfaceMethod<[{
      How the elements of the results are computed.
    }], "::sinter::cpu::Kind", "kind">,
    InterfaceMethod<[{
      Whether computing an element again costs about as much as loading it.
    }], "bool", "isCheap">,
    InterfaceMethod<[{
      Whether elementsAt() is right where sizes are named (graph/NamedSizes.h).
      What a generator computes as a whole says so in its plan.
    }], "bool", "keepsOpenSizes">,
    InterfaceMethod<[{
      Writes the code for one element of each result, at \p place. Nothing where
      there is no rule for the lanes of \p place: then it is computed lane by
      lane. Not to be called where kind() says that elements are not computed
      one by one.
    }], "::std::optional<::llvm::SmallVector<::mlir::Value>>", "elementsAt",
    (ins "::sinter::cpu::Elemental &":$elemental,
         "::llvm::ArrayRef<::sinter::cpu::Coordinate>":$place)>
  ];
}

#endif // SINTER_BACKEND_CPU_IR_ELEMENTALOP
