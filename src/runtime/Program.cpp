//===- Program.cpp - a compiled model, as data ----------------------------===//

#include "runtime/Program.h"
#include "runtime/CpuFeatures.h"
#include "runtime/DynamicProgram.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sinter {

namespace {

class Verifier {
public:
  explicit Verifier(const Program &program) : program(program) {}

  Result<void> run() {
    if (program.arenaBytes > mostTensorBytes)
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
    if (program.kernels.size() != program.code.entries.size())
      return damaged("its kernels are not described");
    for (const KernelContract &kernel : program.kernels)
      for (const BufferContract &buffer : kernel.buffers)
        if (buffer.alignment == 0 || 64 % buffer.alignment != 0)
          return damaged("a kernel asks for an alignment that nothing has");
    return checkSteps(program.steps, 0);
  }
  Result<void> run(std::span<const Step> steps) const {
    if (program.arenaBytes > mostTensorBytes)
      return damaged("the arena is too large");
    return checkSteps(steps, 0);
  }

private:
  static Error damaged(std::string what) {
    return systemError("damaged program: " + std::move(what));
  }

  Result<void> checkSteps(std::span<const Step> steps, unsigned depth) const {
    if (depth > maxStepNesting)
      return damaged("control flow is nested too deeply");
    for (const Step &step : steps) {
      for (const BufferReference &buffer : step.buffers)
        if (!isSound(buffer))
          return damaged("layer '" + step.layer +
                         "' refers to memory that is not there");
      if (!isSound(step))
        return damaged("layer '" + step.layer + "' is malformed");
      if (step.kind == StepKind::Kernel)
        if (Result<void> kept = checkCall(step); !kept)
          return kept;
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
             step.firstTask >= 0 && step.bodies.empty();
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
    case StepKind::Concurrent:
      return step.buffers.empty() && !step.bodies.empty() &&
             std::ranges::none_of(step.bodies, callsHost);
    case StepKind::Size:
      // Instances of a dynamic program satisfy these by construction.
      return false;
    }
    return false;
  }

  static bool callsHost(const std::vector<Step> &steps) {
    return std::ranges::any_of(steps, [](const Step &step) {
      return step.kind == StepKind::HostCall ||
             std::ranges::any_of(step.bodies, callsHost);
    });
  }

  /// Whether a kernel step satisfies the contract of its kernel.
  Result<void> checkCall(const Step &step) const {
    const KernelContract &contract = program.kernels[step.kernel];
    const auto broken = [&](const std::string &what) {
      return damaged("layer '" + step.layer + "' " + what);
    };
    if (step.tasks > contract.tasks ||
        step.firstTask > contract.tasks - step.tasks)
      return broken("has more tasks than its kernel");
    if (step.buffers.size() != contract.buffers.size())
      return broken("has other buffers than its kernel");
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      const BufferReference &given = step.buffers[i];
      const BufferContract &wanted = contract.buffers[i];
      if (given.bytes < wanted.bytes || given.offset % wanted.alignment != 0 ||
          (wanted.isWritten && given.access == BufferAccess::In))
        return broken("has a buffer that its kernel does not take");
    }
    if (overlaps(step.buffers, contract.buffers))
      return broken("writes where it reads");
    return {};
  }

  /// Whether a written buffer overlaps with another one.
  static bool overlaps(std::span<const BufferReference> buffers,
                       std::span<const BufferContract> contracts) {
    std::vector<size_t> order;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].bytes != 0)
        order.push_back(i);
    const auto spaceOf = [&](size_t i) {
      return std::tuple(buffers[i].space, buffers[i].index);
    };
    std::ranges::sort(order, {}, [&](size_t i) {
      return std::tuple_cat(spaceOf(i), std::tuple(buffers[i].offset));
    });
    // The ends of the earlier buffers, and of the written ones among them.
    uint64_t end = 0, writtenEnd = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      const size_t i = order[n];
      if (n == 0 || spaceOf(i) != spaceOf(order[n - 1]))
        end = writtenEnd = 0;
      const bool isWritten = contracts[i].isWritten;
      if (buffers[i].offset < (isWritten ? end : writtenEnd))
        return true;
      end = std::max(end, buffers[i].offset + buffers[i].bytes);
      if (isWritten)
        writtenEnd = std::max(writtenEnd, buffers[i].offset + buffers[i].bytes);
    }
    return false;
  }

  /// One tensor per buffer, of its size; inputs, then outputs.
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

  /// Whether the step's one buffer is a selector of \p bytes bytes.
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
      return buffer.index == 0 && isWithin(buffer, mostTensorBytes) &&
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
    const std::optional<int64_t> bytes = byteCount(spec.type, spec.shape);
    return bytes && isWithin(buffer, static_cast<uint64_t>(*bytes));
  }

  const Program &program;
};

} // namespace

bool usesMatrixUnits(const Program *program) {
  return program && (std::ranges::any_of(program->features, isMatrixFeature) ||
                     std::ranges::any_of(program->nested, [](const auto &each) {
                       return usesMatrixUnits(each.get());
                     }));
}

static Result<void> verify(const Program &program, unsigned depth) {
  if (depth > maxStepNesting)
    return systemError("damaged program: it is nested too deeply");
  if (depth > 0 && !program.states.empty())
    return systemError("damaged program: a nested one has states");
  for (const std::shared_ptr<const Program> &each : program.nested)
    if (Result<void> sound = verify(*each, depth + 1); !sound)
      return sound;
  if (Result<void> code = verify(program.code); !code)
    return code;
  // Steps of a dynamic program are checked once their sizes are known.
  return program.dynamic ? checkDynamicSizes(program) : Verifier(program).run();
}

Result<void> verify(const Program &program) { return verify(program, 0); }

Result<void> verifySteps(const Program &program, std::span<const Step> steps) {
  return Verifier(program).run(steps);
}

} // namespace sinter
