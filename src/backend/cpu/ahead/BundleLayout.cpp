//===- BundleLayout.cpp - the memory of a program without a runtime -------===//

#include "backend/cpu/ahead/BundleLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// What the steps of a program, in bodies too, use of its memory.
struct UsedMemory {
  std::vector<bool> constants;
  uint64_t arenaBytes = 0, scratchBytes = 0;

  explicit UsedMemory(const Program &program)
      : constants(program.constants.size()) {
    addSteps(program.steps);
    for (const ProgramState &state : program.states)
      constants[state.initial] = true;
  }

private:
  void addSteps(const std::vector<Step> &steps) {
    for (const Step &step : steps) {
      for (const BufferReference &buffer : step.buffers)
        add(buffer);
      for (const std::vector<Step> &body : step.bodies)
        addSteps(body);
    }
  }
  void add(const BufferReference &buffer) {
    if (buffer.space == BufferSpace::Constant)
      constants[buffer.index] = true;
    if (buffer.space == BufferSpace::Arena && buffer.bytes != 0)
      arenaBytes = std::max(arenaBytes, buffer.offset + buffer.bytes);
    if (buffer.space == BufferSpace::Scratch)
      scratchBytes = std::max(scratchBytes, buffer.bytes);
  }
};

uint64_t alignedUp(uint64_t bytes) {
  return llvm::alignTo(bytes, bundleAlignment);
}

BundleTensor tensorWith(const TensorSpec &spec) {
  return {spec, static_cast<uint64_t>(*byteCount(spec.type, spec.shape)),
          alignmentOf(spec.type), 0};
}

/// Raises the alignments of inputs and outputs to what kernels rely on.
void raiseAlignments(const Program &program, const std::vector<Step> &steps,
                     BundleLayout &layout) {
  for (const Step &step : steps) {
    for (const std::vector<Step> &body : step.bodies)
      raiseAlignments(program, body, layout);
    if (step.kind != StepKind::Kernel)
      continue;
    const KernelContract &kernel = program.kernels[step.kernel];
    for (auto [buffer, contract] :
         llvm::zip_equal(step.buffers, kernel.buffers)) {
      if (buffer.space != BufferSpace::Input &&
          buffer.space != BufferSpace::Output)
        continue;
      BundleTensor &tensor = buffer.space == BufferSpace::Input
                                 ? layout.inputs[buffer.index]
                                 : layout.outputs[buffer.index];
      tensor.alignment =
          std::max<uint64_t>(tensor.alignment, contract.alignment);
    }
  }
}

void addStates(const Program &program, BundleLayout &layout) {
  for (const ProgramState &state : program.states) {
    BundleTensor tensor = tensorWith(state.spec);
    tensor.alignment = bundleAlignment;
    tensor.offset = layout.stateBytes;
    layout.stateBytes += alignedUp(tensor.bytes);
    layout.states.push_back(std::move(tensor));
  }
}

void addWeights(const Program &program, const UsedMemory &used,
                BundleWeights weights, BundleLayout &layout) {
  uint64_t end = weights == BundleWeights::InCode ? 0 : bundleAlignment;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    std::optional<uint64_t> &offset = layout.constants.emplace_back();
    if (!used.constants[i])
      continue;
    offset = end;
    end += alignedUp(program.constants[i].bytes.size());
  }
  layout.weights.resize(end);
  for (auto [constant, offset] :
       llvm::zip_equal(program.constants, layout.constants))
    if (offset && !constant.bytes.empty())
      std::memcpy(layout.weights.data() + *offset, constant.bytes.data(),
                  constant.bytes.size());
}

/// Writes what weights outside of the code begin with.
void addHeader(std::vector<char> &weights) {
  const std::span<const std::byte> content =
      std::as_bytes(std::span(weights)).subspan(bundleAlignment);
  const Hash128 hash = hashOf(content);
  char *header = weights.data();
  std::memcpy(header, bundleWeightsMagic, 8);
  llvm::support::endian::write64le(header + 8, hash.low);
  llvm::support::endian::write64le(header + 16, hash.high);
  llvm::support::endian::write64le(header + 24, weights.size());
}

/// Copies are loops from the first byte on: what they write must not be what
/// they still have to read.
Result<void> checkCopies(const std::vector<Step> &steps) {
  for (const Step &step : steps) {
    for (const std::vector<Step> &body : step.bodies)
      if (Result<void> good = checkCopies(body); !good)
        return good;
    if (step.kind != StepKind::Copy)
      continue;
    const BufferReference &from = step.buffers[0], &to = step.buffers[1];
    if (from.space == to.space && from.index == to.index &&
        from.offset != to.offset && from.offset < to.offset + to.bytes &&
        to.offset < from.offset + from.bytes)
      return systemError("layer '" + step.layer + "' copies within itself");
  }
  return {};
}

void countHostCalls(const std::vector<Step> &steps,
                    std::map<std::string, int> &counts) {
  for (const Step &step : steps) {
    if (step.kind == StepKind::HostCall)
      ++counts[step.hostFunction];
    for (const std::vector<Step> &body : step.bodies)
      countHostCalls(body, counts);
  }
}

} // namespace

Result<BundleLayout> BundleLayout::of(const Program &program,
                                      BundleWeights weights) {
  if (Result<void> good = checkCopies(program.steps); !good)
    return good.takeError();
  const UsedMemory used(program);
  BundleLayout layout;
  layout.scratchOffset = alignedUp(used.arenaBytes);
  layout.scratchBytes = alignedUp(used.scratchBytes);
  layout.workspaceBytes = layout.scratchOffset + layout.scratchBytes;
  for (const TensorSpec &input : program.inputs)
    layout.inputs.push_back(tensorWith(input));
  for (const TensorSpec &output : program.outputs)
    layout.outputs.push_back(tensorWith(output));
  raiseAlignments(program, program.steps, layout);
  addStates(program, layout);
  addWeights(program, used, weights, layout);
  if (weights != BundleWeights::InCode)
    addHeader(layout.weights);
  return layout;
}

Result<void> cpu::checkNeedsNoRuntime(const Program &program) {
  std::map<std::string, int> counts;
  countHostCalls(program.steps, counts);
  if (!counts.empty()) {
    std::string list;
    for (const auto &[function, count] : counts)
      list += (list.empty() ? "" : ", ") + function + " (" +
              std::to_string(count) + ")";
    return unsupported("code without a runtime library cannot call " + list);
  }
  if (program.dynamic)
    return unsupported("sizes depend on values that are known only at run "
                       "time, which code without a runtime library does not "
                       "support yet");
  return {};
}
