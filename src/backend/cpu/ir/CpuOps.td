//===- CpuOps.td - the CPU backend's own operations -----------------------===//
//
// What stands below the graph: groups of operations that become one kernel.
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
  let summary = "Operations that are computed together";
  let description = [{
    The region's arguments are the inputs, its yielded values the results. Their
    types may differ from those outside in shape, never in element type or in
    the number of elements: memory is row-major, and a kernel sees it in the
    shape that makes its loops simplest. Intermediate values never reach memory
    outside the kernel.

    `constant_inputs` are the inputs that are constants, which may be packed at
    compile time. `rows` says how many of the first dimensions of the result
    number rows: the kernel's reductions have one value a row. `updated` is the
    input that result 0 is, with some elements replaced, and whose memory it
    takes over.
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
    /// What decides the kernel's code, as bytes that mean something in its
    /// context only: names are left out.
    std::string structure();
  }];
  let hasVerifier = 1;
}

def Cpu_ComputedConstantOp :
    Cpu_Op<"computed_constant", [Pure, IsolatedFromAbove, SingleBlock,
                                 DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "A constant that is computed as a program is made";
  let description = [{
    The region has the constants that it follows from, and what is done to them.
    It is computed where a kernel packs it, or where the program keeps it.
  }];
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict `:` type($result) $body";
}

def Cpu_YieldOp : Cpu_Op<"yield", [Pure, Terminator,
                                   ParentOneOf<["KernelOp",
                                                "ComputedConstantOp"]>]> {
  let summary = "Ends a region and names its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

// A token is an order among calls; cpu-flatten makes a tensor without elements
// of it.
def Cpu_HostValue :
    AnyTypeOf<[AnyRankedTensor,
               Type<CPred<"::llvm::isa<::sinter::stablehlo::TokenType>($_self)">,
                    "token">]>;

def Cpu_HostCallOp :
    Cpu_Op<"host_call",
           [HandsTensorsOn,
            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A call of a function of the process, by name";
  let description = [{
    Becomes a step of its own (StepKind::HostCall), in its place among other
    calls. A `pure` one may be removed where nobody needs its results. The last
    `sized` inputs, scalars, are the sizes of the results' dimensions that were
    unknown, in order.
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
  let summary = "Sizes of what follows are numbers that were computed";
  let description = [{
    The parameter `parameters[i]` of the module's sizes is element `elements[i]`
    of the operand. Becomes a step of its own (StepKind::Size), before all that
    has such a size.
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
