//===- DynamicLayout.cpp - what callers of a dynamic program choose -------===//

#include "backend/cpu/ahead/DynamicLayout.h"

#include "runtime/OptionNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// All parameters of \p program for these values of the given ones; nothing if
/// they overflow.
std::optional<std::vector<int64_t>>
parametersAt(const Program &program, llvm::ArrayRef<uint32_t> given,
             llvm::ArrayRef<int64_t> values) {
  std::vector<int64_t> all(program.dynamic->parameters.size(),
                           unknownParameter);
  for (auto [parameter, value] : llvm::zip_equal(given, values))
    all[parameter] = value;
  if (!setFollowing(*program.dynamic, all))
    return std::nullopt;
  return all;
}

/// The plan of \p program, which lives on, for these parameters.
std::optional<SlotPlan> planAt(const Program &program,
                               std::vector<int64_t> parameters) {
  const std::shared_ptr<const Program> unowned(std::shared_ptr<void>(),
                                               &program);
  Result<SlotPlan> plan =
      DynamicInstance::planOf(unowned, std::move(parameters));
  if (!plan)
    return std::nullopt;
  return std::move(*plan);
}

/// A plan for usual sizes that the program accepts, as far as they are not
/// bounded.
SlotPlan referencePlan(const Program &program, const DynamicLayout &layout) {
  constexpr int64_t usual[] = {64, 32, 128, 224, 256, 512, 16, 8, 4, 2, 1};
  std::optional<SlotPlan> any;
  for (const int64_t size : usual) {
    std::vector<int64_t> values;
    for (const BundleSize &each : layout.sizes)
      values.push_back(each.most.value_or(size));
    const auto parameters = parametersAt(program, layout.parameters, values);
    if (!parameters)
      continue;
    const bool isAccepted =
        static_cast<bool>(checkGuards(program, *parameters));
    if (any && !isAccepted)
      continue;
    std::optional<SlotPlan> plan = planAt(program, *parameters);
    if (plan && isAccepted)
      return std::move(*plan);
    if (plan)
      any = std::move(plan);
  }
  if (any)
    return std::move(*any);
  // Slots of equal sizes, one above the other.
  SlotPlan plan;
  const size_t count = program.dynamic->slots.size();
  plan.bytes.assign(count, bundleAlignment);
  for (size_t i = 0; i < count; ++i)
    plan.offsets.push_back(i * bundleAlignment);
  return plan;
}

/// Sets the bytes of \p most that follow from slots of these \p bytes, with the
/// arena in \p order.
void setWorkspace(const DynamicProgram &dynamic, const SlotOrder &order,
                  llvm::ArrayRef<uint64_t> bytes, DynamicLayout::Most &most) {
  std::vector<uint64_t> offsets(bytes.size(), 0);
  uint64_t arena = 0, scratch = 0;
  for (const uint32_t slot : order.slots) {
    for (const uint32_t other : order.below[slot])
      offsets[slot] =
          std::max(offsets[slot], alignedUp(offsets[other] + bytes[other]));
    arena = std::max(arena, offsets[slot] + bytes[slot]);
  }
  for (auto [slot, size] : llvm::zip_equal(dynamic.slots, bytes))
    if (slot.space == BufferSpace::Scratch)
      scratch = std::max(scratch, size);
  most.scratchBytes = alignedUp(scratch);
  most.workspaceBytes = alignedUp(arena) + most.scratchBytes;
}

/// The bytes of tensors of \p specs with these sizes; nothing if one is too
/// large.
std::optional<std::vector<uint64_t>>
bytesAt(llvm::ArrayRef<TensorSpec> specs,
        llvm::ArrayRef<std::vector<SizeExpression>> sizes,
        std::span<const int64_t> parameters) {
  std::vector<uint64_t> all;
  for (auto [spec, expressions] : llvm::zip_equal(specs, sizes)) {
    Shape shape;
    for (const SizeExpression &size : expressions)
      shape.push_back(size.at(parameters).value_or(-1));
    const bool isShape =
        std::ranges::all_of(shape, [](int64_t size) { return size >= 0; });
    const std::optional<int64_t> bytes =
        isShape ? byteCount(spec.type, shape) : std::nullopt;
    if (!bytes || static_cast<uint64_t>(*bytes) > mostTensorBytes)
      return std::nullopt;
    all.push_back(static_cast<uint64_t>(*bytes));
  }
  return all;
}

/// What a run at the bounds takes; nothing if it would be too large.
std::optional<DynamicLayout::Most> mostOf(const Program &program,
                                          const DynamicLayout &layout) {
  std::vector<int64_t> values;
  for (const BundleSize &each : layout.sizes)
    values.push_back(*each.most);
  auto parameters = parametersAt(program, layout.parameters, values);
  if (!parameters)
    return std::nullopt;
  const auto inputs =
      bytesAt(program.inputs, program.dynamic->inputs, *parameters);
  const auto outputs =
      bytesAt(program.outputs, program.dynamic->outputs, *parameters);
  const std::optional<SlotPlan> plan = planAt(program, std::move(*parameters));
  if (!inputs || !outputs || !plan)
    return std::nullopt;
  DynamicLayout::Most most;
  setWorkspace(*program.dynamic, layout.order, plan->bytes, most);
  if (most.workspaceBytes > mostTensorBytes)
    return std::nullopt;
  most.inputs = *inputs;
  most.outputs = *outputs;
  return most;
}

/// Sets sizes that \p program accepts: small ones, for examples.
void setSamples(const Program &program, DynamicLayout &layout) {
  constexpr int64_t small[] = {4, 3, 2, 1, 8, 16, 32, 64, 128, 224, 256, 512};
  for (const int64_t size : small) {
    std::vector<int64_t> values;
    for (const BundleSize &each : layout.sizes)
      values.push_back(std::min(size, each.most.value_or(size)));
    const auto parameters = parametersAt(program, layout.parameters, values);
    if (!parameters || !checkGuards(program, *parameters) ||
        !planAt(program, *parameters))
      continue;
    for (auto [each, value] : llvm::zip_equal(layout.sizes, values))
      each.sample = value;
    return;
  }
}

bool isBounded(const BundleSize &size) { return size.most.has_value(); }

} // namespace

std::vector<uint32_t> cpu::givenParameters(const DynamicProgram &dynamic) {
  std::vector<bool> isGiven(dynamic.parameters.size(), false);
  for (const std::vector<SizeExpression> &input : dynamic.inputs)
    for (const SizeExpression &size : input)
      if (const std::optional<uint32_t> parameter = size.asParameter())
        isGiven[*parameter] = true;
  for (const FollowingSize &each : dynamic.following)
    isGiven[each.parameter] = false;
  std::vector<uint32_t> given;
  for (uint32_t i = 0; i < isGiven.size(); ++i)
    if (isGiven[i])
      given.push_back(i);
  return given;
}

Result<void> cpu::checkSizesFollow(const Program &program) {
  const DynamicProgram &dynamic = *program.dynamic;
  const size_t given = givenParameters(dynamic).size();
  const bool areComputed =
      given == 0 ||
      given + dynamic.following.size() != dynamic.parameters.size() ||
      llvm::any_of(program.steps, [](const Step &step) {
        return step.kind == StepKind::Size;
      });
  if (areComputed)
    return unsupported("sizes depend on values that are known only at run "
                       "time, which code without a runtime library does not "
                       "support yet");
  return checkDynamicSizes(program);
}

BufferReference cpu::placeOf(const Program &program,
                             const BufferReference &buffer) {
  if (!program.dynamic)
    return buffer;
  const DynamicSlot &slot = program.dynamic->slots[buffer.offset];
  return {slot.space, buffer.access, slot.index, 0, 0};
}

Result<DynamicLayout>
DynamicLayout::of(const Program &program,
                  const std::map<std::string, int64_t> &bounds) {
  DynamicLayout layout;
  layout.parameters = givenParameters(*program.dynamic);
  for (const uint32_t parameter : layout.parameters) {
    BundleSize &size = layout.sizes.emplace_back();
    size.name = program.dynamic->parameters[parameter];
    if (const auto bound = bounds.find(size.name); bound != bounds.end())
      size.most = bound->second;
  }
  setSamples(program, layout);
  const SlotPlan plan = referencePlan(program, layout);
  layout.order = SlotOrder::of(program.dynamic->slots, plan);
  if (!llvm::all_of(layout.sizes, isBounded))
    return layout;
  layout.most = mostOf(program, layout);
  if (!layout.most)
    return usageError(optionText("max") +
                      ": the model cannot have sizes so large");
  return layout;
}
