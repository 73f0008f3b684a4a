//===- CpuOps.td - the CPU backend's own operations -----------------------===//
//
// Below the graph: fusion groups, each of which becomes one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_CPUOPS
#define SINTER_BACKEND_CPU_IR_CPUOPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "graph/interfaces/Interfaces.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::sinter::cpu";
  let summary = "Kernels of the CPU backend";
  let usePropertiesForAttributes = 1;
}

class Cpu_Op<string mnemonic, list<Trait> traits = []> :
    Op<Cpu_Dialect, mnemonic, traits>;

def Cpu_KernelOp :
    Cpu_Op<"kernel", [Pure, IsolatedFromAbove, SingleBlock,
                      DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "A fusion group";
  let description = [{
    The region's arguments are the inputs, its yielded values the results. Their
    types may differ from those outside in shape, but not in element type or in
    the number of elements: memory is row-major, and a kernel views it in the
    shape that makes its loops simplest. Intermediate values never reach memory
    outside the kernel.

    `constant_inputs` are the inputs that are constants, which may be packed at
    compile time. `rows` is the number of leading dimensions of the result that
    are rows: the kernel's reductions have one value per row. `updated` is the
    input whose memory result 0 reuses: it is that input with some elements
    replaced, or with each replaced by a function of itself.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs,
                       OptionalAttr<DenseI64ArrayAttr>:$constant_inputs,
                       OptionalAttr<I64Attr>:$rows,
                       OptionalAttr<I64Attr>:$updated);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` attr-dict `:` functional-type(operands, results) $body
  }];
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results,
                                 "::mlir::ValueRange":$inputs), [{
    build($_builder, $_state, results, inputs, ::mlir::DenseI64ArrayAttr(),
          ::mlir::IntegerAttr(), ::mlir::IntegerAttr());
  }]>];
  let extraClassDeclaration = [{
    /// The operation that the kernel's first result comes from; null for an
    /// input.
    ::mlir::Operation *rootOp();
    /// Whether the kernel computes its one result elementwise and reads only
    /// the element of input `input`, of the result's type, that it writes.
    bool readsWhereItWrites(unsigned input);
    /// A fingerprint of everything that determines the kernel's code, valid in
    /// its context only: names are left out.
    std::string structure();
  }];
  let hasVerifier = 1;
}

def Cpu_ComputedConstantOp :
    Cpu_Op<"computed_constant", [Pure, IsolatedFromAbove, SingleBlock,
                                 DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "A constant that is computed at compile or load time";
  let description = [{
    The region has the constants and operations from which it is computed. It is
    computed when a kernel packs it, or when the program stores it.
  }];
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict `:` type($result) $body";
}

def Cpu_YieldOp : Cpu_Op<"yield", [Pure, Terminator,
                                   ParentOneOf<["KernelOp",
                                                "ComputedConstantOp"]>]> {
  let summary = "Ends a region and returns its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

// A token orders calls; cpu-flatten makes it a tensor without elements.
def Cpu_HostValue :
    AnyTypeOf<[AnyRankedTensor,
               Type<CPred<"::llvm::isa<::sinter::stablehlo::TokenType>($_self)">,
                    "token">]>;

def Cpu_HostCallOp :
    Cpu_Op<"host_call",
           [HandsTensorsOn,
            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A runtime call: a host function of the process, by name";
  let description = [{
    Becomes a step of its own (StepKind::HostCall), in order with other calls. A
    `pure` one is removed if its results have no uses. The last `sized` inputs,
    scalars, are the sizes of the results' dynamic dimensions, in order.
  }];
  let arguments = (ins Variadic<Cpu_HostValue>:$inputs, StrAttr:$function,
                       StrAttr:$configuration, UnitAttr:$pure,
                       DefaultValuedAttr<I64Attr, "0">:$sized);
  let results = (outs Variadic<Cpu_HostValue>:$results);
  let assemblyFormat = [{
    $function `(` $inputs `)` `with` $configuration attr-dict
      `:` functional-type(operands, results)
  }];
}

def Cpu_DefineSizesOp :
    Cpu_Op<"define_sizes",
           [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Defines size parameters by computed values";
  let description = [{
    The parameter `parameters[i]` of the module's size table is element
    `elements[i]` of the operand. Becomes a step of its own (StepKind::Size),
    before all that uses the parameter.
  }];
  let arguments = (ins TensorOf<[I32, I64]>:$numbers,
                       DenseI64ArrayAttr:$elements,
                       DenseI64ArrayAttr:$parameters);
  let assemblyFormat = [{
    $numbers $elements `are` $parameters attr-dict `:` type($numbers)
  }];
}

include "backend/cpu/ir/LayoutOps.td"

#endif // SINTER_BACKEND_CPU_IR_CPUOPS
