//===- QuantizerSizes.cpp - what integers cost at other sizes -------------===//

#include "engine/compiler/Quantizer.h"

#include "engine/compiler/MlirCompiler.h"

using namespace mlir;

namespace sinter {

/// Whether the float model accepts inputs of \p shapes, with the values of \p
/// inputs if these feed shapes.
bool Quantizer::takes(const std::vector<Tensor> &inputs,
                      const std::vector<Shape> &shapes) const {
  SpecializeOptions known = knownOf(description, inputs);
  for (size_t i = 0; i < shapes.size(); ++i)
    known.shapes[description.inputs[i].spec.name] = shapes[i];
  Model sized = model.clone();
  return static_cast<bool>(specializeForPasses(sized, known));
}

/// Both models on an evaluated sample at several sizes of dynamic dimensions:
/// samples are often all of one size.
Result<void> Quantizer::judgeSizes(const QuantizedModel &quantized) {
  std::vector<Shape> dynamic;
  for (const ModelInput &input : description.inputs)
    dynamic.push_back(input.spec.shape);
  const bool isDynamic = llvm::any_of(dynamic, [](const Shape &shape) {
    return llvm::is_contained(shape, -1);
  });
  if (!isDynamic || request.samples.count == 0)
    return {};
  Result<std::vector<Tensor>> sample =
      request.samples.load(setsAside() ? 4 : 0);
  if (!sample)
    return sample.takeError();
  if (llvm::any_of(*sample, [](const Tensor &t) { return t.size() == 0; }))
    return {};
  SampleRuns runs(quantized.model.clone(), request, description);
  for (const SampleSizes &sizes :
       sampleSizes(description, dynamic, [&](const std::vector<Shape> &shapes) {
         return takes(*sample, shapes);
       })) {
    std::vector<Tensor> inputs;
    for (auto [tensor, shape] : llvm::zip_equal(*sample, sizes.shapes))
      inputs.push_back(repeatedTo(tensor, shape));
    Result<std::vector<Tensor>> before = floatRuns->run(inputs);
    // Sizes that turn out to be invalid at run time.
    if (!before && before.error().kind == ErrorKind::InvalidModel)
      continue;
    if (!before)
      return inFile(before.takeError(), request.input.path);
    Result<std::vector<Tensor>> after = runs.run(inputs);
    if (!after)
      return inFile(after.takeError(), request.input.path);
    OutputAgreement judged;
    judged.add(*before, *after, /*label=*/-1);
    report.sizes.push_back({sizes, judged.decibels()});
  }
  return {};
}

} // namespace sinter
