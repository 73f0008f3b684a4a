//===- TreeOps.td - ensembles of decision trees ---------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_TREEOPS
#define SINTER_BACKEND_CPU_IR_TREEOPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "graph/interfaces/Interfaces.td"

// As in CpuOps.td, whose operations all of the backend includes.
def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::sinter::cpu";
  let usePropertiesForAttributes = 1;
}

def Cpu_TreeEnsembleOp :
    Op<Cpu_Dialect, "tree_ensemble",
       [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "nn.tree_ensemble by its tables";
  let description = [{
    `nodes` (i64), `roots` (i32) and `weights` are the tables of
    graph/nn/TreeLayout.h, which the attributes describe. The trees of target k
    are those from `starts[k]` to `starts[k + 1]`, or with `rows` all are from
    `starts[0]` to `starts[1]`; `starts` stands behind the roots, too. The
    operand is of f32 or f64, and so is the result.
  }];
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$nodes,
                       AnyRankedTensor:$roots,
                       Optional<AnyRankedTensor>:$weights,
                       DenseI32ArrayAttr:$starts, StrAttr:$aggregate, UnitAttr:$wide, UnitAttr:$rows,
                       UnitAttr:$knows_nan, UnitAttr:$has_equal,
                       I64Attr:$feature_bits, I64Attr:$depth);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    `(` operands `)` $aggregate attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::sinter::nn::TreeLayout layout();
    int64_t trees() { return getStarts().back(); }
  }];
  let hasVerifier = 1;
}

#endif // SINTER_BACKEND_CPU_IR_TREEOPS
