//===- ProgramExecutorBuffers.cpp - inputs, outputs and states ------------===//

#include "runtime/DynamicProgram.h"
#include "runtime/OutOfMemory.h"
#include "runtime/ProgramExecutor.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace sinter {

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

Result<void> ProgramExecutor::makeStates() {
  Result<void> made =
      catchingOutOfMemory("the model's state", [&]() -> Result<void> {
        for (const ProgramState &state : compiled->states) {
          stateSpecs.push_back(state.spec);
          stateTensors.push_back(makeTensor(state.spec));
        }
        if (dynamic)
          findStatesToSave();
        return {};
      });
  if (made)
    resetStates();
  return made;
}

void ProgramExecutor::resetStates() {
  const auto look = turns.look();
  for (size_t i = 0; i < stateTensors.size(); ++i) {
    const auto initial = compiled->constants[compiled->states[i].initial].bytes;
    if (!initial.empty())
      std::memcpy(stateTensors[i].mutableBytes(), initial.data(),
                  initial.size());
  }
  isUndefined.assign(stateTensors.size(), false);
}

bool ProgramExecutor::hasDefinedStates() const {
  const auto look = turns.look();
  return std::ranges::find(isUndefined, true) == isUndefined.end();
}

/// Records whether \p step, which is about to run, writes a state.
void ProgramExecutor::noteStateWrite(const Step &step) {
  if (!hasWrittenStates && !stateTensors.empty())
    hasWrittenStates =
        std::ranges::any_of(step.buffers, [](const BufferReference &buffer) {
          return buffer.space == BufferSpace::State &&
                 buffer.access != BufferAccess::In;
        });
}

Tensor ProgramExecutor::state(size_t index) const {
  const auto look = turns.look();
  Tensor copy(stateSpecs[index].type, stateSpecs[index].shape);
  if (copy.bytes() != 0)
    std::memcpy(copy.mutableBytes(), stateTensors[index].data(), copy.bytes());
  return copy;
}

void ProgramExecutor::replaceState(size_t index, Tensor value) {
  const auto look = turns.look();
  if (value.bytes() != 0)
    std::memcpy(stateTensors[index].mutableBytes(), value.data(),
                value.bytes());
  isUndefined[index] = false;
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

/// All steps but kernels accept elements at their natural alignment.
void ProgramExecutor::findAlignments() {
  for (const TensorSpec &input : compiled->inputs)
    inputAlignments.push_back(alignmentOf(input.type));
  for (const TensorSpec &output : compiled->outputs)
    outputAlignments.push_back(alignmentOf(output.type));
  raiseAlignments(compiled->steps);
}

void ProgramExecutor::raiseAlignments(std::span<const Step> steps) {
  for (const Step &step : steps) {
    for (const std::vector<Step> &body : step.bodies)
      raiseAlignments(body);
    if (step.kind != StepKind::Kernel ||
        step.kernel >= compiled->kernels.size())
      continue;
    const KernelContract &kernel = compiled->kernels[step.kernel];
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      BufferSpace space = step.buffers[i].space;
      uint32_t index = step.buffers[i].index;
      // Steps of a dynamic program refer to slots.
      if (compiled->dynamic) {
        const auto &slots = compiled->dynamic->slots;
        if (step.buffers[i].offset >= slots.size())
          continue;
        const DynamicSlot &slot = slots[step.buffers[i].offset];
        space = slot.space;
        index = slot.index;
      }
      std::vector<size_t> *all = space == BufferSpace::Input ? &inputAlignments
                                 : space == BufferSpace::Output
                                     ? &outputAlignments
                                     : nullptr;
      if (all && index < all->size() && i < kernel.buffers.size())
        (*all)[index] =
            std::max<size_t>((*all)[index], kernel.buffers[i].alignment);
    }
  }
}

void ProgramExecutor::bind(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputData[i] = inputs[i].data();
    if (inputs[i].isAligned(inputAlignments[i]))
      continue;
    if (staging[i].shape() != inputs[i].shape() ||
        staging[i].type() != inputs[i].type())
      staging[i] = makeTensor({"", inputs[i].type(), inputs[i].shape()});
    std::memcpy(staging[i].mutableBytes(), inputs[i].data(), inputs[i].bytes());
    inputData[i] = staging[i].data();
  }
  made.resize(compiled->outputs.size());
  results.assign(compiled->outputs.size(), std::nullopt);
  makeOutputs();
}

/// Those of known size.
void ProgramExecutor::makeOutputs() {
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i] && std::ranges::find(compiled->outputs[i].shape, -1) ==
                           compiled->outputs[i].shape.end())
      results[i] = outputTensor(i);
}

bool ProgramExecutor::MadeTensor::isFree() const {
  return tensor->isUnique() || memory.use_count() == 1;
}

/// The caller's memory if it is suitable; else one of the earlier results that
/// is no longer in use, or a new one, which costs an allocation and clearing.
Tensor ProgramExecutor::outputTensor(size_t number) {
  auto &tensors = made[number];
  const TensorSpec &spec = compiled->outputs[number];
  if (const OutputPlace place =
          number < places.size() ? places[number] : OutputPlace();
      place.data && byteCount(spec.type, spec.shape) <= place.bytes)
    if (Tensor there =
            Tensor::share(spec.type, spec.shape, place.data, nullptr);
        there.isAligned(outputAlignments[number]))
      return there;
  for (const MadeTensor &each : tensors)
    if (each.tensor && each.tensor->shape() == spec.shape && each.isFree()) {
      // Synchronises with the reads of its last user before it is written
      // again.
      std::atomic_thread_fence(std::memory_order_acquire);
      return *each.tensor;
    }
  tensors[1] = std::move(tensors[0]);
  std::weak_ptr<const void> memory;
  Tensor tensor = makeTensor(spec, &memory);
  tensors[0] = {tensor, std::move(memory)};
  return tensor;
}

} // namespace sinter
