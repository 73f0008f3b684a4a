//===- ProgramMemory.cpp - how much memory a program needs ----------------===//

#include "runtime/ProgramMemory.h"

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
  return memory;
}

} // namespace sinter
