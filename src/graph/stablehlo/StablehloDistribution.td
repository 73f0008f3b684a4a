//===- StablehloDistribution.td - collective operations -------------------===//
//
// All of these have side effects: every process of a group must execute the
// operation, so none may be merged, moved or removed.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_DISTRIBUTION
#define SINTER_GRAPH_STABLEHLO_DISTRIBUTION

include "graph/stablehlo/StablehloBase.td"

/// An op with replica groups, which may refer to a mesh of the module.
class Stablehlo_CollectiveOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_Op<mnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  string verifyMesh = [{
    ::mlir::LogicalResult $cppClass::verifySymbolUses(
        ::mlir::SymbolTableCollection &symbols) {
      return ::sinter::stablehlo::verifyMesh(*this, getReplicaGroups(), symbols);
    }
  }];
  let extraClassDefinition = verifyMesh;
  let hasVerifier = 1;
}

class Stablehlo_InferringCollectiveOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_InferringOp<mnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  string verifyMesh = [{
    ::mlir::LogicalResult $cppClass::verifySymbolUses(
        ::mlir::SymbolTableCollection &symbols) {
      return ::sinter::stablehlo::verifyMesh(*this, getReplicaGroups(), symbols);
    }
  }];
  let extraClassDefinition = verifyMesh;
  let hasVerifier = 1;
}

def Stablehlo_AllGatherOp :
    Stablehlo_CollectiveOp<"all_gather", [MovesElements]> {
  let summary = "Joins what the processes of a group have along a dimension";
  let arguments = (ins
    Variadic<Input<1, Stablehlo_UniformTensor>>:$operands,
    NonNegative<"C1">:$all_gather_dim, ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
}

def Stablehlo_AllReduceOp :
    Stablehlo_InferringCollectiveOp<"all_reduce",
        [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combines what the processes of a group have";
  let arguments = (ins
    Variadic<Input<1, Stablehlo_UniformTensor>>:$operands,
    ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
}

def Stablehlo_ReduceScatterOp :
    Stablehlo_CollectiveOp<"reduce_scatter",
        [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combines what a group has and gives each process a part";
  let arguments = (ins
    Input<1, Stablehlo_UniformTensor>:$operand,
    NonNegative<"C2">:$scatter_dimension, ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stablehlo_UniformTensor:$result);
}

def Stablehlo_AllToAllOp :
    Stablehlo_InferringCollectiveOp<"all_to_all", [MovesElements]> {
  let summary = "Splits each operand among the group and joins what comes";
  let arguments = (ins
    Variadic<Input<1, Stablehlo_UniformTensor>>:$operands,
    NonNegative<"C1">:$split_dimension, NonNegative<"C3">:$concat_dimension,
    Positive<"C4">:$split_count, ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
}

def Stablehlo_CollectiveBroadcastOp :
    Stablehlo_InferringCollectiveOp<"collective_broadcast", [MovesElements]> {
  let summary = "Sends the operands of the first process of a group to all of it";
  let description = [{
    With `has_dynamic_root` the last operand is the index of the process.
  }];
  let arguments = (ins
    Variadic<Input<1, Stablehlo_UniformTensor>>:$operands,
    ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<ChannelHandleAttr>:$channel_handle,
    UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
}

def Stablehlo_CollectiveReduceOp :
    Stablehlo_InferringCollectiveOp<"collective_reduce",
        [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combines the operands of a group in the first process";
  let description = [{
    With `has_dynamic_root` the last operand is the index of the process;
    the others get zeros.
  }];
  let arguments = (ins
    Variadic<Input<1, Stablehlo_UniformTensor>>:$operands,
    ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids, UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stablehlo_UniformTensor>:$results);
}

def Stablehlo_CollectivePermuteOp :
    Stablehlo_InferringOp<"collective_permute", [MovesElements]> {
  let summary = "Sends the operand from each source to its target";
  let arguments = (ins
    Input<1, Stablehlo_UniformTensor>:$operand,
    I64ElementsAttr:$source_target_pairs,
    OptionalAttr<ChannelHandleAttr>:$channel_handle);
  let results = (outs Stablehlo_UniformTensor:$result);
  let extraClassDefinition = inferLikeOperands;
  let hasVerifier = 1;
}

def Stablehlo_InfeedOp : Stablehlo_Op<"infeed", [HandsTensorsOn]> {
  let summary = "Takes values from the outside; the last result is a token";
  let arguments = (ins Input<1, Stablehlo_Token>:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<Stablehlo_TensorOrToken>:$results);
  let hasVerifier = 1;
}

def Stablehlo_OutfeedOp : Stablehlo_InferringOp<"outfeed", [HandsTensorsOn]> {
  let summary = "Gives values to the outside";
  let arguments = (ins Variadic<Input<1, Stablehlo_Tensor>>:$inputs,
                       Input<2, Stablehlo_Token>:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs Stablehlo_Token:$result);
  let extraClassDefinition = inferToken;
}

def Stablehlo_SendOp : Stablehlo_InferringOp<"send", [HandsTensorsOn]> {
  let summary = "Sends values over a channel";
  let arguments = (ins
    Variadic<Input<1, Stablehlo_Tensor>>:$inputs,
    Input<2, Stablehlo_Token>:$token, ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Stablehlo_Token:$result);
  let extraClassDefinition = inferToken;
  let hasVerifier = 1;
}

def Stablehlo_RecvOp : Stablehlo_Op<"recv", [HandsTensorsOn]> {
  let summary = "Takes values from a channel; the last result is a token";
  let arguments = (ins
    Input<1, Stablehlo_Token>:$token, ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<Stablehlo_TensorOrToken>:$results);
  let hasVerifier = 1;
}

class Stablehlo_ProcessIdOp<string mnemonic> : Stablehlo_InferredOp<mnemonic> {
  let results = (outs Scalar<[UI32], "0-dimensional tensor of type ui32">:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(::mlir::RankedTensorType::get(
          {}, ::mlir::IntegerType::get(context, 32,
                                       ::mlir::IntegerType::Unsigned)));
      return ::mlir::success();
    }
  }];
}

def Stablehlo_ReplicaIdOp : Stablehlo_ProcessIdOp<"replica_id"> {
  let summary = "The replica that this process is";
}

def Stablehlo_PartitionIdOp : Stablehlo_ProcessIdOp<"partition_id"> {
  let summary = "The partition that this process is";
}

#endif // SINTER_GRAPH_STABLEHLO_DISTRIBUTION
