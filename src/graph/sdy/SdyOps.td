//===- SdyOps.td - the subset of Shardy in exported programs --------------===//

#ifndef SINTER_GRAPH_SDY_SDYOPS
#define SINTER_GRAPH_SDY_SDYOPS

include "graph/stablehlo/StablehloBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::sinter::sdy";
  let summary = "Sharding of tensors in exported programs";
  let description = [{
    JAX exports programs with meshes and shardings of the dialect `sdy`. They do
    not change what a program computes. Their attributes are kept as text
    (OpaqueAttr), and everything is written back as it was read.
  }];
  let usePropertiesForAttributes = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
  }];
}

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, traits>;

/// An attribute of this dialect, which its op prints without its name.
def Sdy_Attr : Attr<CPred<"::mlir::isa<::mlir::OpaqueAttr>($_self)">,
                    "an attribute of the dialect sdy"> {
  let storageType = "::mlir::OpaqueAttr";
  let returnType = "::mlir::OpaqueAttr";
  let convertFromStorage = "$_self";
}

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol]> {
  let summary = "A mesh of devices";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Attr:$mesh);
  let hasCustomAssemblyFormat = 1;
}

class Sdy_IdentityOp<string mnemonic>
    : Sdy_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins Stablehlo_Tensor:$input, Sdy_Attr:$sharding);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $input custom<Bare>($sharding) attr-dict `:` type($result)
  }];
}
def Sdy_ShardingConstraintOp : Sdy_IdentityOp<"sharding_constraint"> {
  let summary = "The operand, with a sharding constraint";
}
def Sdy_ReshardOp : Sdy_IdentityOp<"reshard"> {
  let summary = "The operand, resharded";
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "All members of a group are sharded alike";
  let arguments = (ins Stablehlo_Tensor:$input, I64Attr:$group_id);
  let assemblyFormat = [{
    $input `group_id````=```$group_id attr-dict `:` type($input)
  }];
}

def Sdy_ManualComputationOp
    : Sdy_Op<"manual_computation", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Each device's computation on its shards of the operands";
  let arguments = (ins Variadic<Stablehlo_Tensor>:$tensors,
      Sdy_Attr:$in_shardings, Sdy_Attr:$out_shardings, Sdy_Attr:$manual_axes);
  let results = (outs Variadic<Stablehlo_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator]> {
  let summary = "What a device's computation gives";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

#endif // SINTER_GRAPH_SDY_SDYOPS
