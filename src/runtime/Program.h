//===- Program.h - a compiled model, as data ------------------------------===//
//
// What a backend makes of a model for this machine's processor: machine code,
// constants, and a list of steps that call the code on buffers. It is plain
// data; ProgramFile.h stores it, ProgramExecutor.h runs it, and neither knows
// the compiler.
//
// Memory. A step's buffer is a range of one of six spaces (see Role.h):
//
//     Arena     temporaries, at offsets that the compiler has planned
//     Constant  weights (packed) and tables, never written
//     Input     the caller's tensors, never written
//     Output    the result tensors
//     State     what outlives a run: holds its initial value at first, then
//               what the last run left there
//     Scratch   room for a kernel's own use, one per thread, undefined at
//               the start of every call
//
// The arena, every constant, state and scratch is 64-byte aligned; a kernel may
// rely on what follows from its offsets. Inputs and outputs are in the caller's
// memory, unless a kernel's contract needs a larger alignment than their
// elements have: they are copied then.
//
// Control flow is a step with bodies. `If` runs one of its bodies, by the value
// in buffers[0]: for i1, bodies[0] if it is true and bodies[1] if it is false;
// for i32, the body of that index, the last one for an index out of range
// (stablehlo.case). `While` runs bodies[0], the condition, which leaves an i1
// in buffers[0], and while that is true bodies[1], the body, and the condition
// again. `Copy` copies buffers[0] to buffers[1], of the same size. `HostCall`
// calls the function `hostFunction` of HostFunctions.h on the buffers as
// tensors, whose types and shapes are in `tensors`; inputs come before outputs.
// `Size`, in a shape-generic program only, reads sizes for later steps
// (DynamicProgram.h) from buffers[0], a tensor of integers.
//
// A loop or a branch in which sizes change is not such a step: its regions are
// programs of their own (`nested`), which host functions run
// (host/NestedCalls.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_PROGRAM_H
#define SINTER_RUNTIME_PROGRAM_H

#include "runtime/CodeImage.h"
#include "runtime/Executor.h"
#include "runtime/Result.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter {

enum class BufferSpace : uint8_t {
  Arena,
  Constant,
  Input,
  Output,
  Scratch,
  State
};
enum class BufferAccess : uint8_t { In, Out, InOut };

/// A range of memory that a step uses.
struct BufferReference {
  BufferSpace space = BufferSpace::Arena;
  BufferAccess access = BufferAccess::In;
  /// The index of the constant, input, output or state; 0 for the arena and
  /// scratch.
  uint32_t index = 0;
  /// Byte offset from the start of that space; 0 for scratch.
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

enum class StepKind : uint8_t {
  Kernel,
  Copy,
  If,
  While,
  HostCall,
  Size,
  /// Its bodies are independent of each other: they run in any order, or at
  /// once on threads of their own. They call no host functions.
  Concurrent
};

struct Step {
  StepKind kind = StepKind::Kernel;
  /// Kernel: the entry of the code, and its buffers.
  uint32_t kernel = 0;
  std::vector<BufferReference> buffers;
  /// Kernel: the number of independent tasks, at least 1, and the first one's
  /// index.
  int64_t tasks = 1;
  int64_t firstTask = 0;
  /// The work of all tasks: arithmetic operations, and bytes moved to or from
  /// memory. They decide how many threads to wake.
  double flops = 0;
  double bytesMoved = 0;
  /// The ceiling of the arithmetic (MachineCeilings.h): F32, F64 or I8.
  ElementType arithmetic = ElementType::F32;
  /// For profiles: the name in the user's file, the operations, and the kernel.
  std::string layer, op, kernelName;
  /// If: the type of the selector, I1 or I32.
  ElementType selector = ElementType::I1;
  std::vector<std::vector<Step>> bodies;
  /// HostCall: the function, its parameters as text, and its tensors. Size: the
  /// tensor.
  std::string hostFunction, configuration;
  std::vector<TensorSpec> tensors;
};

/// Bytes with shared ownership: a packed weight, a range of a mapped file.
struct ConstantData {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// The contract of a kernel's buffer: the address is a multiple of `alignment`,
/// and `bytes` bytes from there may be read, or written if `isWritten`. Written
/// buffers overlap with no other.
struct BufferContract {
  uint64_t bytes = 0;
  uint32_t alignment = 64;
  bool isWritten = false;

  bool operator==(const BufferContract &) const = default;
};

/// The contract of a kernel's call: task indices are below `tasks`, and these
/// are its buffers.
struct KernelContract {
  int64_t tasks = 1;
  std::vector<BufferContract> buffers;

  bool operator==(const KernelContract &) const = default;
};

/// A tensor that persists between runs, and the constant with its initial
/// value.
struct ProgramState {
  TensorSpec spec;
  uint32_t initial = 0;
};

struct DynamicProgram;

struct Program {
  /// The target of the code: LLVM's triple, and names from hostCpuFeatures().
  std::string triple;
  std::vector<std::string> features;
  /// Text by the compiler on how the program was made.
  std::string producer;

  /// All dimensions static.
  std::vector<TensorSpec> inputs, outputs;
  std::vector<ProgramState> states;
  uint64_t arenaBytes = 0;
  /// Each 64-byte aligned.
  std::vector<ConstantData> constants;
  CodeImage code;
  /// Whether code calls functions of this process, so that no other process may
  /// use it.
  bool isOfProcess = false;
  /// One per entry of the code.
  std::vector<KernelContract> kernels;
  std::vector<Step> steps;

  /// Everything that depends on sizes known only at run time
  /// (DynamicProgram.h); null for a static program. Such a program is
  /// instantiated before it runs.
  std::shared_ptr<const DynamicProgram> dynamic;

  /// Programs that host calls of this one run, by index. Each has code,
  /// constants and memory of its own, and no states.
  std::vector<std::shared_ptr<const Program>> nested;
};

/// The most bytes of a tensor, of the arena and of all that a run needs: no sum
/// of sizes overflows.
inline constexpr int64_t mostTensorBytes = int64_t(1) << 46;

/// The maximum nesting of control flow.
inline constexpr unsigned maxStepNesting = 512;

/// Whether some code of \p program, if there is one, uses AMX.
bool usesMatrixUnits(const Program *program);

/// Checks that every index, offset and size in \p program is in bounds, that no
/// step writes to inputs or constants, that every kernel's contract is met, and
/// that the code is valid. Such a program runs without further checks (that
/// kernels keep to their contracts is the compiler's responsibility).
Result<void> verify(const Program &program);
/// The same for \p steps on the memory and the code of \p program, an
/// instantiated dynamic one (DynamicInstance): its code was checked when it was
/// loaded, and outputs of later steps may have no size yet.
Result<void> verifySteps(const Program &program, std::span<const Step> steps);

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAM_H
