//===- ProgramMemory.cpp - the memory that a program needs ----------------===//

#include "runtime/ProgramMemory.h"
#include "runtime/MachineMemory.h"

namespace sinter {

static uint64_t bytesOf(const TensorSpec &spec) {
  return static_cast<uint64_t>(byteCount(spec.type, spec.shape).value_or(0));
}

ProgramMemory memoryOf(const Program &program) {
  ProgramMemory memory;
  memory.arena = program.arenaBytes;
  for (const ConstantData &constant : program.constants)
    memory.constants += constant.bytes.size();
  for (const TensorSpec &input : program.inputs)
    memory.inputs += bytesOf(input);
  for (const TensorSpec &output : program.outputs)
    memory.outputs += bytesOf(output);
  for (const ProgramState &state : program.states)
    memory.states += bytesOf(state.spec);
  for (const std::shared_ptr<const Program> &each : program.nested) {
    const ProgramMemory nested = memoryOf(*each);
    memory.arena += nested.arena + nested.inputs + nested.outputs;
    memory.constants += nested.constants;
  }
  return memory;
}

static std::string describe(const TensorSpec &spec) {
  std::string text = "'" + spec.name + "', " + std::string(name(spec.type));
  text += " [";
  for (size_t i = 0; i < spec.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(spec.shape[i]);
  return text + "]";
}

/// The step with the largest temporary.
static void findLargest(std::span<const Step> steps, const Step *&largest,
                        uint64_t &bytes) {
  for (const Step &step : steps) {
    for (const BufferReference &buffer : step.buffers)
      if (buffer.space == BufferSpace::Arena && buffer.bytes > bytes) {
        bytes = buffer.bytes;
        largest = &step;
      }
    for (const std::vector<Step> &body : step.bodies)
      findLargest(body, largest, bytes);
  }
}

Result<void> checkMemoryFor(const Program &program,
                            std::span<const Step> steps) {
  const uint64_t memory = memoryOfMachine();
  const std::string has =
      "; this machine has " + inGigabytes(memory) + " of memory";
  uint64_t left = memory;
  for (const auto *specs : {&program.inputs, &program.outputs})
    for (const TensorSpec &spec : *specs) {
      const uint64_t bytes = byteCount(spec.type, spec.shape).value_or(0);
      if (bytes > left)
        return systemError(describe(spec) + ", takes " + inGigabytes(bytes) +
                           has);
      left -= bytes;
    }
  if (program.arenaBytes <= left)
    return {};
  const Step *step = nullptr;
  uint64_t largest = 0;
  findLargest(steps, step, largest);
  const std::string where = step ? "'" + step->layer + "': " + step->op +
                                       " works on a tensor of " +
                                       inGigabytes(largest) + ", and "
                                 : "";
  return systemError(where + "all temporaries take " +
                     inGigabytes(program.arenaBytes) + has);
}

} // namespace sinter
