//===- ElementalOp.td - how the elements of a result are computed ---------===//

#ifndef SINTER_BACKEND_CPU_IR_ELEMENTALOP
#define SINTER_BACKEND_CPU_IR_ELEMENTALOP

include "mlir/IR/OpBase.td"

def ElementalOpInterface : OpInterface<"ElementalOpInterface"> {
  let cppNamespace = "::sinter::cpu";
  let description = [{
    An operation with an element-wise generator. Models are attached by
    emit/ElementalModels.cpp, one line per operation; the interface says which
    operations can be computed, and how.
  }];
  let methods = [
    InterfaceMethod<[{
      How the elements of the results are computed.
    }], "::sinter::cpu::Kind", "kind">,
    InterfaceMethod<[{
      Whether computing an element again costs about as much as loading it.
    }], "bool", "isCheap">,
    InterfaceMethod<[{
      Whether elementsAt() supports symbolic dimensions (graph/Dim.h).
      Kernels of a generator have that in their plan.
    }], "bool", "keepsDynamicSizes">,
    InterfaceMethod<[{
      Emits the code for one element of each result, at the index \p place.
      Nothing if there is no rule for the lanes of \p place: then it is computed
      lane by lane. Not to be called if, by kind(), elements are not computed
      one by one.
    }], "::std::optional<::llvm::SmallVector<::mlir::Value>>", "elementsAt",
    (ins "::sinter::cpu::Elemental &":$elemental,
         "::llvm::ArrayRef<::sinter::cpu::Coordinate>":$place)>
  ];
}

#endif // SINTER_BACKEND_CPU_IR_ELEMENTALOP
