//===- VerifyDynamic.cpp - holds a dynamic program against the interpreter ===//

#include "engine/VerifyDynamic.h"

#include "engine/DynamicPrograms.h"
#include "runtime/Comparison.h"

#include <algorithm>

namespace sinter {

std::vector<NamedShapes> shapesToVerify(const ModelDescription &model,
                                        std::span<const Tensor> inputs,
                                        const std::vector<Shape> &dynamic,
                                        const AllowsShapes &allows) {
  constexpr size_t most = 3;
  std::vector<Shape> own;
  for (const Tensor &input : inputs)
    own.push_back(input.shape());
  std::vector<std::vector<Shape>> all = {own};
  for (const SampleSizes &each : sampleSizes(model, dynamic, allows))
    if (all.size() < most && std::ranges::find(all, each.shapes) == all.end())
      all.push_back(each.shapes);
  std::vector<NamedShapes> named;
  for (const std::vector<Shape> &shapes : all) {
    NamedShapes &those = named.emplace_back();
    for (size_t i = 0; i < shapes.size(); ++i)
      those[model.inputs[i].spec.name] = shapes[i];
  }
  return named;
}

/// Whether \p got, of the program, is what the interpreter gives.
static Result<void> expectSame(std::span<const TensorSpec> outputs,
                               std::span<const Tensor> got,
                               std::span<const Tensor> expected) {
  // Kernels add in another order than definitions do.
  constexpr Tolerance tolerance{1e-3, 1e-7, 1e-4};
  for (size_t i = 0; i < got.size(); ++i)
    if (Result<void> same =
            expect(got[i], expected[i], Expectation::within(tolerance));
        !same)
      return Error{ErrorKind::WrongResult,
                   "output '" + outputs[i].name +
                       "' of the program is not what the interpreter gives: " +
                       same.error().message()};
  return {};
}

/// Whether the program and the interpreter, which may say something else, both
/// run \p inputs repeated to \p shapes.
static Result<bool> verifyAt(const NamedShapes &shapes, const Program &program,
                             const MakeRun &makeRun, CompilerModel &graph,
                             const CompileRequest &request,
                             std::span<const Tensor> inputs) {
  std::vector<Tensor> sized;
  CompileRequest interpreted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape &shape = shapes.at(graph.description().inputs[i].spec.name);
    if (inputs[i].size() == 0 && shape != inputs[i].shape())
      return false;
    sized.push_back(shape == inputs[i].shape() ? inputs[i]
                                               : repeatedTo(inputs[i], shape));
    interpreted.shapes.push_back(shape);
    interpreted.values.push_back(request.values[i]);
  }
  if (!serves(program, sized))
    return false;
  auto run = makeRun();
  if (!run)
    return run.takeError();
  auto oracle = graph.interpret(interpreted);
  Result<std::vector<Tensor>> expected =
      oracle ? (*oracle)->run(sized)
             : Result<std::vector<Tensor>>(oracle.takeError());
  if (!expected && expected.error().kind != ErrorKind::InvalidModel)
    return expected.takeError();
  Result<std::vector<Tensor>> got = (*run)->run(sized);
  if (!got)
    return expected || got.error().kind != ErrorKind::InvalidModel
               ? Result<bool>(got.takeError())
               : Result<bool>(false);
  if (!expected)
    return Error{ErrorKind::WrongResult, "the program computes what is "
                                         "refused: " +
                                             expected.error().message()};
  if (Result<void> same = expectSame((*run)->outputs(), *got, *expected); !same)
    return same.takeError();
  return true;
}

Result<std::string> verifyDynamic(const Program &program,
                                  const MakeRun &makeRun, CompilerModel &graph,
                                  const CompileRequest &request,
                                  std::span<const Tensor> inputs) {
  std::string verified;
  for (const NamedShapes &shapes : request.passes.verifyShapes) {
    std::string text;
    for (const ModelInput &input : graph.description().inputs)
      text += (text.empty() ? "" : ", ") + input.spec.name + " " +
              toString(input.spec.type, shapes.at(input.spec.name));
    Result<bool> same =
        verifyAt(shapes, program, makeRun, graph, request, inputs);
    if (!same)
      return inside("at " + text, same.takeError());
    if (*same)
      verified += (verified.empty() ? "" : "; ") + text;
  }
  return verified;
}

} // namespace sinter
