//===- BundleLayout.cpp - the memory of a program without a runtime -------===//

#include "backend/cpu/ahead/BundleLayout.h"

#include "backend/cpu/ahead/RuntimeCalls.h"
#include "runtime/OptionNames.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// What the steps of a program, in bodies too, use of its memory.
struct UsedMemory {
  std::vector<bool> constants;
  uint64_t arenaBytes = 0, scratchBytes = 0;

  explicit UsedMemory(const Program &program)
      : constants(program.constants.size()), program(program) {
    addSteps(program.steps);
    for (const ProgramState &state : program.states)
      constants[state.initial] = true;
  }

private:
  void addSteps(const std::vector<Step> &steps) {
    for (const Step &step : steps) {
      for (const BufferReference &buffer : step.buffers)
        add(placeOf(program, buffer));
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

  const Program &program;
};

BundleTensor tensorWith(const TensorSpec &spec) {
  return {spec,
          {},
          static_cast<uint64_t>(*byteCount(spec.type, spec.shape)),
          alignmentOf(spec.type),
          0};
}

/// The tensors of \p specs, which take \p most bytes each if that is known, and
/// have dimensions of these \p sizes.
std::vector<BundleTensor>
dynamicTensors(const DynamicProgram &dynamic, llvm::ArrayRef<TensorSpec> specs,
               llvm::ArrayRef<std::vector<SizeExpression>> sizes,
               llvm::ArrayRef<uint64_t> most) {
  std::vector<BundleTensor> tensors;
  for (size_t i = 0; i < specs.size(); ++i) {
    BundleTensor &tensor = tensors.emplace_back();
    tensor.spec = specs[i];
    tensor.alignment = alignmentOf(specs[i].type);
    bool isDynamic = false;
    std::vector<std::string> texts;
    for (auto [dimension, size] :
         llvm::zip_equal(tensor.spec.shape, sizes[i])) {
      dimension = size.number().value_or(-1);
      isDynamic |= !size.number();
      texts.push_back(size.text(dynamic.parameters));
    }
    if (!isDynamic) {
      tensor = tensorWith(tensor.spec);
      continue;
    }
    tensor.dimensions = std::move(texts);
    if (!most.empty())
      tensor.bytes = most[i];
  }
  return tensors;
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
    // The table of sizes comes after the buffers of the step.
    for (auto [reference, contract] :
         llvm::zip_first(step.buffers, kernel.buffers)) {
      const BufferReference buffer = placeOf(program, reference);
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

/// Copies are loops from the first byte on: what they write must not be what
/// they still have to read.
Result<void> checkCopies(const Program &program,
                         const std::vector<Step> &steps) {
  for (const Step &step : steps) {
    for (const std::vector<Step> &body : step.bodies)
      if (Result<void> good = checkCopies(program, body); !good)
        return good;
    // Slots of a dynamic program are the same or apart.
    if (step.kind != StepKind::Copy || program.dynamic)
      continue;
    const BufferReference &from = step.buffers[0], &to = step.buffers[1];
    if (from.space == to.space && from.index == to.index &&
        from.offset != to.offset && from.offset < to.offset + to.bytes &&
        to.offset < from.offset + from.bytes)
      return systemError("layer '" + step.layer + "' copies within itself");
  }
  return {};
}

/// What a dynamic program has instead of offsets.
Result<void> addDynamic(const Program &program,
                        const std::map<std::string, int64_t> &bounds,
                        BundleLayout &layout) {
  Result<DynamicLayout> dynamic = DynamicLayout::of(program, bounds);
  if (!dynamic)
    return dynamic.takeError();
  layout.dynamic = std::move(*dynamic);
  const std::optional<DynamicLayout::Most> &most = layout.dynamic->most;
  if (most) {
    layout.workspaceBytes = most->workspaceBytes;
    layout.scratchBytes = most->scratchBytes;
  }
  using List = llvm::ArrayRef<uint64_t>;
  layout.inputs =
      dynamicTensors(*program.dynamic, program.inputs, program.dynamic->inputs,
                     most ? List(most->inputs) : List());
  layout.outputs = dynamicTensors(*program.dynamic, program.outputs,
                                  program.dynamic->outputs,
                                  most ? List(most->outputs) : List());
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

Result<BundleLayout>
BundleLayout::of(const Program &program,
                 const std::map<std::string, int64_t> &most) {
  if (Result<void> good = checkCopies(program, program.steps); !good)
    return good.takeError();
  const UsedMemory used(program);
  BundleLayout layout;
  if (program.dynamic) {
    if (Result<void> done = addDynamic(program, most, layout); !done)
      return done.takeError();
  } else {
    layout.scratchOffset = alignedUp(used.arenaBytes);
    layout.scratchBytes = alignedUp(used.scratchBytes);
    layout.workspaceBytes = layout.scratchOffset + layout.scratchBytes;
    for (const TensorSpec &input : program.inputs)
      layout.inputs.push_back(tensorWith(input));
    for (const TensorSpec &output : program.outputs)
      layout.outputs.push_back(tensorWith(output));
  }
  raiseAlignments(program, program.steps, layout);
  addStates(program, layout);
  for (const bool isUsed : used.constants)
    layout.constants.push_back(isUsed ? std::optional<uint64_t>(0)
                                      : std::nullopt);
  return layout;
}

/// Whether an input or output of \p program is of strings.
static bool hasStrings(const Program &program) {
  auto isOne = [](const TensorSpec &spec) { return isString(spec.type); };
  return llvm::any_of(program.inputs, isOne) ||
         llvm::any_of(program.outputs, isOne);
}

Result<void> cpu::checkNeedsNoRuntime(const Program &program,
                                      bool mayCallRuntime) {
  if (hasStrings(program))
    return unsupported("code without a runtime library has no strings, which "
                       "inputs or outputs are");
  std::map<std::string, int> counts;
  countHostCalls(program.steps, counts);
  bool areOfTheLibrary = true;
  std::string list;
  for (const auto &[function, count] : counts) {
    const bool isOfTheLibrary =
        !program.dynamic && isFunctionOfItsOwn(function);
    if (mayCallRuntime && isOfTheLibrary)
      continue;
    areOfTheLibrary &= isOfTheLibrary;
    list += (list.empty() ? "" : ", ") + function + " (" +
            std::to_string(count) + ")";
  }
  if (!list.empty()) {
    Error error = unsupported("functions that a bundle cannot call: " + list);
    return areOfTheLibrary ? withHint(optionText("with-runtime") +
                                          " links the library that has them",
                                      std::move(error))
                           : error;
  }
  return program.dynamic ? checkSizesFollow(program) : Result<void>();
}
