//===- InterpreterOps.td - requests of a program to the interpreter -------===//

#ifndef SINTER_GRAPH_CHECK_INTERPRETEROPS
#define SINTER_GRAPH_CHECK_INTERPRETEROPS

include "graph/stablehlo/StablehloBase.td"

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::sinter::check";
  let summary = "Running many processes, printing and probing";
  let description = [{
    Operations beyond the specification that the public test programs of
    StableHLO use.
  }];
  let usePropertiesForAttributes = 1;
}

class Interpreter_Op<string mnemonic, list<Trait> traits = []> :
    Op<Interpreter_Dialect, mnemonic, traits>;

def Interpreter_TensorOrToken :
    AnyTypeOf<[Stablehlo_Tensor, Stablehlo_Token]>;

def Interpreter_RunParallelOp : Interpreter_Op<"run_parallel"> {
  let summary = "Runs functions as the processes of a grid";
  let description = [{
    `programs[r][p]` is the function of replica r, partition p. The operands are
    the arguments of all processes one after the other, those of (0, 0) first,
    then of (0, 1), and so are the results. `infeed` names functions whose
    results stablehlo.infeed gives, in order.
  }];
  let arguments = (ins
    Variadic<Interpreter_TensorOrToken>:$inputs,
    OptionalAttr<FlatSymbolRefArrayAttr>:$infeed, ArrayAttr:$programs);
  let results = (outs Variadic<Interpreter_TensorOrToken>:$results);
  let hasVerifier = 1;
}

def Interpreter_PrintOp : Interpreter_Op<"print"> {
  let summary = "Prints a value on standard output";
  let arguments = (ins Stablehlo_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Interpreter_ProbeOp :
    Interpreter_Op<"probe", [SameOperandsAndResultType]> {
  let summary = "Keeps a copy of a value under a name";
  let arguments = (ins Stablehlo_Tensor:$operand, StrAttr:$probe_id);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)
  }];
}

#endif // SINTER_GRAPH_CHECK_INTERPRETEROPS
