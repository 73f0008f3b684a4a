//===- StablehloExtensibility.td - calls and tuples -----------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_EXTENSIBILITY
#define SINTER_GRAPH_STABLEHLO_EXTENSIBILITY

include "graph/stablehlo/StablehloBase.td"

def Stablehlo_CompositeOp :
    Stablehlo_Op<"composite", [HandsTensorsOn, Decomposable,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An operation of another operator set, with its decomposition";
  let arguments = (ins Variadic<Stablehlo_CompositeValue>:$inputs,
                       StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition,
                       OptionalAttr<I32Attr>:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<Stablehlo_CompositeValue>:$results);
  let assemblyFormat = [{
    $name operands (` ` `(` $composite_regions^ `)`)? attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stablehlo_CustomCallOp :
    Stablehlo_Op<"custom_call",
        [HandsTensorsOn, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "An operation that someone else has implemented";
  let arguments = (ins
    Variadic<Stablehlo_CustomCallValue>:$inputs, StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<CustomCallApiVersionAttr,
        "::sinter::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:
        $api_version,
    DefaultValuedOptionalAttr<SymbolsAttr, "{}">:$called_computations,
    OptionalAttr<LayoutsAttr>:$operand_layouts,
    OptionalAttr<LayoutsAttr>:$result_layouts,
    DefaultValuedOptionalAttr<OutputOperandAliasesAttr, "{}">:
        $output_operand_aliases,
    OptionalAttr<TilingsAttr>:$result_tilings);
  let results = (outs Variadic<Stablehlo_CustomCallValue>:$results);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)`
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Stablehlo_TupleOp : Stablehlo_InferredOp<"tuple", [HandsTensorsOn]> {
  let summary = "Values as one value";
  let arguments = (ins Variadic<Input<1, Stablehlo_TupleValue>>:$val);
  let results = (outs Stablehlo_Tuple:$result);
  let assemblyFormat = [{
    $val attr-dict `:` custom<TupleTypes>(type($val), type($result))
  }];
}

def Stablehlo_GetTupleElementOp :
    Stablehlo_InferredOp<"get_tuple_element", [HandsTensorsOn]> {
  let summary = "One of the values of a tuple";
  let arguments = (ins
    Input<1, Stablehlo_Tuple>:$operand,
    ConfinedAttr<I32Attr, [Labelled<"C1", IntNonNegative>]>:$index);
  let results = (outs Stablehlo_TupleValue:$result);
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // SINTER_GRAPH_STABLEHLO_EXTENSIBILITY
