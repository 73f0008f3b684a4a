//===- DynamicPrograms.cpp - a session's programs for more than some sizes ===//

#include "engine/DynamicPrograms.h"

#include "runtime/DynamicProgram.h"

#include <algorithm>

namespace sinter {

bool isForAllSizes(const Program &program) {
  return program.dynamic &&
         std::ranges::any_of(program.inputs, [](const TensorSpec &input) {
           return std::ranges::find(input.shape, -1) != input.shape.end();
         });
}

Result<void> serves(const Program &program, std::span<const Tensor> inputs) {
  Result<std::vector<int64_t>> parameters = parametersOf(program, inputs);
  // What is wrong with the inputs shows when they are run.
  return parameters ? checkGuards(program, *parameters) : Result<void>();
}

bool DynamicPrograms::areFor(const CompileRequest &request) const {
  return !programs.empty() &&
         shapes == (request.dynamic.empty() ? request.shapes : request.dynamic);
}

std::shared_ptr<const Program>
DynamicPrograms::find(std::span<const Tensor> inputs) const {
  const auto found = std::ranges::find_if(
      programs, [&](const auto &each) { return bool(serves(*each, inputs)); });
  return found == programs.end() ? nullptr : *found;
}

bool DynamicPrograms::add(std::shared_ptr<const Program> program,
                          const CompileRequest &request) {
  const bool isForAll = isForAllSizes(*program);
  if (!isForAll && !programs.empty() && isForAllSizes(*programs.front()))
    return false;
  const std::vector<Shape> &of = isForAll ? request.dynamic : request.shapes;
  if (shapes != of) {
    programs.clear();
    shapes = of;
  }
  programs.push_back(std::move(program));
  return true;
}

} // namespace sinter
