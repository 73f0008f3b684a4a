//===- Program.cpp - a compiled model, as data ----------------------------===//

#include "runtime/Program.h"
#include "runtime/CpuFeatures.h"

#include <cmath>

namespace sinter {

namespace {

/// No program needs more; keeps sums of sizes far from overflow.
constexpr uint64_t maxBytes = uint64_t(1) << 46;

class Verifier {
public:
  explicit Verifier(const Program &program) : program(program) {}

  Result<void> run() {
    if (Result<void> code = verify(program.code); !code)
      return code;
    if (program.arenaBytes > maxBytes)
      return damaged("the arena is too large");
    for (const auto *specs : {&program.inputs, &program.outputs})
      for (const TensorSpec &spec : *specs)
        if (!byteCount(spec.type, spec.shape))
          return damaged("'" + spec.name + "' has no valid size");
    for (const ConstantData &constant : program.constants)
      if (reinterpret_cast<uintptr_t>(constant.bytes.data()) % 64 != 0)
        return damaged("a constant is not aligned");
    for (const ProgramState &state : program.states) {
      const auto bytes = byteCount(state.spec.type, state.spec.shape);
      if (!bytes || state.initial >= program.constants.size() ||
          program.constants[state.initial].bytes.size() !=
              static_cast<uint64_t>(*bytes))
        return damaged("state '" + state.spec.name +
                       "' has no valid initial value");
    }
    return checkSteps(program.steps, 0);
  }

private:
  static Error damaged(std::string what) {
    return systemError("damaged program: " + std::move(what));
  }

  Result<void> checkSteps(std::span<const Step> steps, unsigned depth) {
    if (depth > maxStepNesting)
      return damaged("control flow is nested too deeply");
    for (const Step &step : steps) {
      for (const BufferReference &buffer : step.buffers)
        if (!isSound(buffer))
          return damaged("layer '" + step.layer +
                         "' refers to memory that is not there");
      if (!isSound(step))
        return damaged("layer '" + step.layer + "' is malformed");
      for (const std::vector<Step> &body : step.bodies)
        if (Result<void> nested = checkSteps(body, depth + 1); !nested)
          return nested;
    }
    return {};
  }

  bool isSound(const Step &step) const {
    if (!std::isfinite(step.flops) || !std::isfinite(step.bytesMoved) ||
        step.flops < 0 || step.bytesMoved < 0)
      return false;
    switch (step.kind) {
    case StepKind::Kernel:
      return step.kernel < program.code.entries.size() && step.tasks >= 1 &&
             step.bodies.empty();
    case StepKind::Copy:
      return step.buffers.size() == 2 && step.bodies.empty() &&
             reads(step.buffers[0]) && writes(step.buffers[1]) &&
             step.buffers[0].bytes == step.buffers[1].bytes;
    case StepKind::If:
      if (step.selector == ElementType::I1)
        return step.bodies.size() == 2 && isScalar(step, 1);
      return step.selector == ElementType::I32 && !step.bodies.empty() &&
             isScalar(step, 4);
    case StepKind::While:
      return step.bodies.size() == 2 && isScalar(step, 1);
    case StepKind::HostCall:
      return step.bodies.empty() && isSoundCall(step);
    }
    return false;
  }

  /// One tensor a buffer, of its size; inputs, then outputs.
  static bool isSoundCall(const Step &step) {
    if (step.hostFunction.empty() || step.tensors.size() != step.buffers.size())
      return false;
    bool isOutput = false;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      const BufferReference &buffer = step.buffers[i];
      if (buffer.access == BufferAccess::In ? isOutput || !reads(buffer)
                                            : !writes(buffer))
        return false;
      isOutput = buffer.access != BufferAccess::In;
      std::optional<int64_t> bytes =
          byteCount(step.tensors[i].type, step.tensors[i].shape);
      if (!bytes || static_cast<uint64_t>(*bytes) != buffer.bytes)
        return false;
    }
    return true;
  }

  /// Whether the step's one buffer is a number of \p bytes to decide by.
  static bool isScalar(const Step &step, uint64_t bytes) {
    return step.buffers.size() == 1 && reads(step.buffers[0]) &&
           step.buffers[0].bytes == bytes;
  }
  static bool reads(const BufferReference &buffer) {
    return buffer.access != BufferAccess::Out &&
           buffer.space != BufferSpace::Scratch;
  }
  static bool writes(const BufferReference &buffer) {
    return buffer.access != BufferAccess::In &&
           buffer.space != BufferSpace::Scratch;
  }

  bool isSound(const BufferReference &buffer) const {
    if (buffer.access > BufferAccess::InOut)
      return false;
    switch (buffer.space) {
    case BufferSpace::Arena:
      return buffer.index == 0 && isWithin(buffer, program.arenaBytes);
    case BufferSpace::Constant:
      return buffer.access == BufferAccess::In &&
             buffer.index < program.constants.size() &&
             isWithin(buffer, program.constants[buffer.index].bytes.size());
    case BufferSpace::Input:
      return buffer.access == BufferAccess::In &&
             isWithin(buffer, program.inputs);
    case BufferSpace::Output:
      return isWithin(buffer, program.outputs);
    case BufferSpace::State:
      return buffer.index < program.states.size() &&
             isWithin(buffer,
                      program.constants[program.states[buffer.index].initial]
                          .bytes.size());
    case BufferSpace::Scratch:
      return buffer.index == 0 && isWithin(buffer, maxBytes) &&
             buffer.offset == 0;
    }
    return false;
  }
  static bool isWithin(const BufferReference &buffer, uint64_t size) {
    return buffer.offset <= size && buffer.bytes <= size - buffer.offset;
  }
  static bool isWithin(const BufferReference &buffer,
                       std::span<const TensorSpec> specs) {
    if (buffer.index >= specs.size())
      return false;
    const TensorSpec &spec = specs[buffer.index];
    return isWithin(buffer,
                    static_cast<uint64_t>(*byteCount(spec.type, spec.shape)));
  }

  const Program &program;
};

} // namespace

Result<void> verify(const Program &program) { return Verifier(program).run(); }

} // namespace sinter
