//===- DynamicProgram.cpp - a shape-generic program -----------------------===//

#include "runtime/DynamicProgram.h"

#include "runtime/BreakForTest.h"

#include <algorithm>
#include <limits>
#include <ranges>

namespace sinter {

static Error damaged() {
  return systemError("damaged program: its dynamic sizes make no sense");
}

/// Whether each dimension of each tensor has a size.
static bool areSizesOf(const std::vector<std::vector<SizeExpression>> &sizes,
                       const std::vector<TensorSpec> &specs) {
  return std::ranges::equal(sizes, specs,
                            [](const auto &dimensions, const TensorSpec &spec) {
                              return dimensions.size() == spec.shape.size();
                            });
}

/// Whether each step has its sizes. Only those of the program itself define
/// parameters.
/// any.
static bool areSizesOf(const std::vector<DynamicStep> &sizes,
                       std::span<const Step> steps, size_t parameters,
                       unsigned depth) {
  if (depth > maxStepNesting || sizes.size() != steps.size())
    return false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool isCall = steps[i].kind == StepKind::HostCall;
    const bool isSize = steps[i].kind == StepKind::Size;
    if (sizes[i].bodies.size() != steps[i].bodies.size() ||
        (steps[i].kind == StepKind::If &&
         sizes[i].fits.size() != steps[i].bodies.size()) ||
        (isCall && !areSizesOf(sizes[i].tensors, steps[i].tensors)) ||
        (isSize && (depth != 0 || steps[i].buffers.size() != 1 ||
                    steps[i].tensors.size() != 1)) ||
        (!isSize && !sizes[i].defines.empty()))
      return false;
    for (const SizeDefinition &each : sizes[i].defines)
      if (each.parameter >= parameters || each.element < 0)
        return false;
    for (size_t body = 0; body < steps[i].bodies.size(); ++body)
      if (!areSizesOf(sizes[i].bodies[body], steps[i].bodies[body], parameters,
                      depth + 1))
        return false;
  }
  return true;
}

Result<void> checkDynamicSizes(const Program &program) {
  const DynamicProgram &dynamic = *program.dynamic;
  for (const std::vector<SizeExpression> &input : dynamic.inputs)
    for (const SizeExpression &size : input)
      if (std::optional<uint32_t> parameter = size.asParameter();
          parameter && *parameter >= dynamic.parameters.size())
        return damaged();
  for (const ShapeGuard &guard : dynamic.guards)
    if (guard.relation > ShapeGuard::Relation::Broadcast)
      return damaged();
  for (const FollowingSize &each : dynamic.following)
    if (each.parameter >= dynamic.parameters.size() || each.divisor < 1 ||
        each.kind > FollowingKind::Together)
      return damaged();
  if (!areSizesOf(dynamic.inputs, program.inputs) ||
      !areSizesOf(dynamic.outputs, program.outputs) ||
      !areSizesOf(dynamic.steps, program.steps, dynamic.parameters.size(), 0))
    return damaged();
  return {};
}

static std::string dimensionOf(const TensorSpec &spec, size_t dimension) {
  return "dimension " + std::to_string(dimension) + " of input '" + spec.name +
         "'";
}

Result<std::vector<int64_t>> parametersOf(const Program &program,
                                          std::span<const Tensor> inputs) {
  const DynamicProgram &dynamic = *program.dynamic;
  if (Result<void> fit = checkInputs(program.inputs, inputs); !fit)
    return fit.takeError();
  std::vector<int64_t> parameters(dynamic.parameters.size(), unknownParameter);
  for (bool checks : {false, true})
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t dim = 0; dim < inputs[i].shape().size(); ++dim) {
        const SizeExpression &size = dynamic.inputs[i][dim];
        const int64_t given = inputs[i].shape()[dim];
        const std::optional<uint32_t> parameter = size.asParameter();
        if (!checks) {
          if (parameter && parameters[*parameter] == unknownParameter)
            parameters[*parameter] = given;
          continue;
        }
        // A size of an input does not depend on later parameters.
        const std::optional<int64_t> wanted = knownSize(size, parameters);
        if (wanted != given)
          return usageError(dimensionOf(program.inputs[i], dim) + " is " +
                            size.text(dynamic.parameters) + ", which is " +
                            (wanted ? std::to_string(*wanted) : "too large") +
                            " by the other inputs, not " +
                            std::to_string(given));
      }
  if (Result<void> done = setFollowing(dynamic, parameters); !done)
    return done.takeError();
  return parameters;
}

static int64_t valueOf(const FollowingSize &each, int64_t size, int64_t other) {
  switch (each.kind) {
  case FollowingKind::Quotient:
    return size < 0 ? -1 : size / each.divisor;
  case FollowingKind::Least:
    return std::min(size, other);
  case FollowingKind::Greatest:
    return std::max(size, other);
  case FollowingKind::Together:
    return size == other || other == 1 ? size : size == 1 ? other : -1;
  }
  return -1;
}

Result<void> setFollowing(const DynamicProgram &dynamic,
                          std::span<int64_t> parameters) {
  for (const FollowingSize &each : dynamic.following) {
    const std::optional<int64_t> size = knownSize(each.size, parameters),
                                 other = knownSize(each.other, parameters);
    if (!size || !other)
      continue;
    for (const auto &[value, expression] :
         {std::pair(*size, &each.size), {*other, &each.other}})
      if (value == std::numeric_limits<int64_t>::min())
        return usageError(expression->text(dynamic.parameters) +
                          " is too large");
    parameters[each.parameter] = valueOf(each, *size, *other);
  }
  return {};
}

std::optional<int64_t> knownSize(const SizeExpression &size,
                                 std::span<const int64_t> parameters) {
  for (const SizeExpression::Term &term : size.terms())
    for (uint32_t parameter : term.parameters)
      if (parameter >= parameters.size() ||
          parameters[parameter] == unknownParameter)
        return std::nullopt;
  return size.at(parameters).value_or(std::numeric_limits<int64_t>::min());
}

std::string textOf(const DynamicProgram &dynamic,
                   std::span<const int64_t> parameters) {
  std::string text;
  for (size_t i = 0; i < dynamic.parameters.size(); ++i)
    if (parameters[i] != unknownParameter)
      text += (text.empty() ? "" : ", ") + dynamic.parameters[i] + " = " +
              std::to_string(parameters[i]);
  return text;
}

/// "N = 3, width = 40": the parameters in \p sizes.
static std::string
textOfSources(const DynamicProgram &dynamic,
              std::initializer_list<const SizeExpression *> sizes,
              std::span<const int64_t> parameters) {
  std::vector<bool> isSource(parameters.size());
  auto add = [&](const SizeExpression &from) {
    for (const SizeExpression::Term &term : from.terms())
      for (uint32_t parameter : term.parameters)
        isSource[parameter] = true;
  };
  for (const SizeExpression *size : sizes)
    add(*size);
  std::vector<int64_t> sources(parameters.begin(), parameters.end());
  // Each follows from earlier ones.
  for (const FollowingSize &each : std::views::reverse(dynamic.following)) {
    if (isSource[each.parameter]) {
      add(each.size);
      add(each.other);
    }
    isSource[each.parameter] = false;
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (!isSource[i])
      sources[i] = unknownParameter;
  return textOf(dynamic, sources);
}

Result<void> checkGuards(const Program &program,
                         std::span<const int64_t> parameters) {
  constexpr int64_t overflow = std::numeric_limits<int64_t>::min();
  static const bool areDropped = brokenForTest() == "guard";
  const DynamicProgram &dynamic = *program.dynamic;
  if (areDropped)
    return {};
  for (const ShapeGuard &guard : dynamic.guards) {
    const std::optional<int64_t> left = knownSize(guard.left, parameters),
                                 right = knownSize(guard.right, parameters);
    if (!left || !right ||
        (*left != overflow && *right != overflow && guard.holds(*left, *right)))
      continue;
    Error error = guard.error(dynamic.parameters, *left, *right);
    const std::string sources =
        textOfSources(dynamic, {&guard.left, &guard.right}, parameters);
    if (!sources.empty())
      error.what += " (" + oneLine(sources) + ")";
    return error;
  }
  return {};
}

} // namespace sinter
