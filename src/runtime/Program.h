//===- Program.h - a compiled model, as data ------------------------------===//
//
// What a backend for this machine's processor makes of a model: machine code,
// constants, and a list of steps that call the code on pieces of memory. It is
// plain data; ProgramFile.h stores it, ProgramExecutor.h runs it, and neither
// knows the compiler.
//
// Memory. A step's operand is a piece of one of six spaces (Role.h tells what
// each is for):
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
// The start of the arena, of every constant, input, output, state and scratch
// is 64-byte aligned; a kernel may rely on what follows from its offsets.
//
// Control flow is a step that owns steps. `If` picks one of its bodies by the
// number in buffers[0]: for i1, bodies[0] where it is true and bodies[1] where
// it is false; for i32, the body of that index, the last one for an index out
// of range (stablehlo.case). `While` runs bodies[0], the condition, which
// leaves an i1 in buffers[0], and as long as that is true bodies[1], the body,
// and the condition again. `Copy` moves buffers[0] to buffers[1], of the same
// size. `HostCall` calls a function of HostFunctions.h, by the name in
// `hostFunction`, on the buffers as tensors: `tensors` says of what type and
// shape each is; the inputs stand before the outputs. `Size`, in an open
// program only, reads numbers that sizes of later steps follow from
// (OpenProgram.h) out of buffers[0], a tensor of integers.
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

/// A piece of memory that a step works on.
struct BufferReference {
  BufferSpace space = BufferSpace::Arena;
  BufferAccess access = BufferAccess::In;
  /// Which constant, input, output or state; 0 for the arena and scratch.
  uint32_t index = 0;
  /// Bytes from the start of that space; 0 for scratch.
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

enum class StepKind : uint8_t { Kernel, Copy, If, While, HostCall, Size };

struct Step {
  StepKind kind = StepKind::Kernel;
  /// Kernel: which of the code's entries to call, on which buffers.
  uint32_t kernel = 0;
  std::vector<BufferReference> buffers;
  /// Kernel: the independent parts it can be split into, at least 1, and the
  /// number of the first one.
  int64_t tasks = 1;
  int64_t firstTask = 0;
  /// The work of all tasks: arithmetic operations, and bytes moved to or from
  /// memory. They decide how many threads are worth waking.
  double flops = 0;
  double bytesMoved = 0;
  /// Whose ceiling the arithmetic has (MachineCeilings.h): F32, F64 or I8.
  ElementType arithmetic = ElementType::F32;
  /// For profiles: the name in the user's file, what is computed, and how.
  std::string layer, op, kernelName;
  /// If: the type of the selector, I1 or I32.
  ElementType selector = ElementType::I1;
  std::vector<std::vector<Step>> bodies;
  /// HostCall: what to call, the text it is given, and its tensors. Size: the
  /// tensor.
  std::string hostFunction, configuration;
  std::vector<TensorSpec> tensors;
};

/// Bytes that somebody keeps alive: a packed weight, a part of a mapped file.
struct ConstantData {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// What a kernel's code takes for granted of a buffer: the address is a
/// multiple of `alignment`, and `bytes` from there on may be read, or written
/// where `isWritten`. What is written overlaps with no other buffer.
struct BufferContract {
  uint64_t bytes = 0;
  uint32_t alignment = 64;
  bool isWritten = false;

  bool operator==(const BufferContract &) const = default;
};

/// What a kernel's code takes for granted of a call: tasks are below `tasks`,
/// and these are its buffers.
struct KernelContract {
  int64_t tasks = 1;
  std::vector<BufferContract> buffers;

  bool operator==(const KernelContract &) const = default;
};

/// A tensor that outlives a run, and the constant that it starts with.
struct ProgramState {
  TensorSpec spec;
  uint32_t initial = 0;
};

struct OpenProgram;

struct Program {
  /// What the code runs on: LLVM's triple, and names out of hostCpuFeatures().
  std::string triple;
  std::vector<std::string> features;
  /// Free text of the compiler about how the program was made.
  std::string producer;

  /// All dimensions known.
  std::vector<TensorSpec> inputs, outputs;
  std::vector<ProgramState> states;
  uint64_t arenaBytes = 0;
  /// Each 64-byte aligned.
  std::vector<ConstantData> constants;
  CodeImage code;
  /// Whether code calls functions of this process, so that no other one may
  /// have it.
  bool isOfProcess = false;
  /// One an entry of the code.
  std::vector<KernelContract> kernels;
  std::vector<Step> steps;

  /// What depends on sizes that are known only when it runs (OpenProgram.h);
  /// null where all are known. Such a program cannot be run as it stands.
  std::shared_ptr<const OpenProgram> open;
};

/// Control flow nests at most this deep.
inline constexpr unsigned maxStepNesting = 512;

/// Whether some code of \p program, if there is one, uses matrix units.
bool usesMatrixUnits(const Program *program);

/// Checks that every index, offset and size in \p program is within what it
/// refers to, that no step writes to inputs or constants, that every kernel
/// gets what its contract asks for, and that the code is sound. A program that
/// passes can be run without further checks (its kernels touch nothing but what
/// their contracts say: that is the compiler's promise).
Result<void> verify(const Program &program);
/// The same of \p steps on the memory and the code of \p program, which is what
/// an open one was made into (OpenInstance): its code was checked when it was
/// loaded, and outputs of later steps may have no size yet.
Result<void> verifySteps(const Program &program, std::span<const Step> steps);

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAM_H
