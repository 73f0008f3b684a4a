//===- OperationSamples.h - an example of every operation -----------------===//
//
// Those of the axes (AxesSamples.h), of `nn` (nn-samples.mlir) and of
// `stablehlo` (samples.mlir), each a function `main`, with other sizes and
// element types.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_BACKEND_OPERATIONS_OPERATIONSAMPLES_H
#define SINTER_TEST_BACKEND_OPERATIONS_OPERATIONSAMPLES_H

#include "graph/Model.h"
#include "runtime/Executor.h"

#include <string>
#include <vector>

namespace sinter::test {

struct OperationSample {
  /// The operation, with what the sizes are.
  std::string name;
  std::string text;
  /// What "?" stands for.
  int64_t unknown = 2;
};

/// All samples as they stand.
std::vector<OperationSample> operationSamples();

/// For each size that occurs in a sample's types: the sample with \p size, "0"
/// or "?", wherever that occurs. Where no operation allows it, the text is no
/// valid program.
std::vector<OperationSample> samplesWithSize(const std::string &size);

/// The sample with floats of \p element instead of f32.
OperationSample withElement(OperationSample sample, const std::string &element);

/// The program of \p text, or nothing if it is none.
std::optional<Model> validModel(const std::string &text);

/// Sets element \p place of \p tensor, of real or integer elements.
void setNumber(Tensor &tensor, int64_t place, double number);

/// Random inputs of \p model; dimensions that are not known are \p unknown.
/// Integers are 0 or 1.
std::vector<Tensor> sampleInputs(const Model &model, int64_t unknown);

/// \p model as the commands run it: rewritten and compiled. What LLVM ends a
/// process for is an error of kind System.
Result<std::unique_ptr<Executor>> compiledExecutor(const Model &model);
/// \p model with what its operations are built of in their place, as writers
/// and backends without a kernel of theirs have it; fatal errors likewise.
Result<Model> decomposed(const Model &model);
/// What the interpreter makes of it; fatal errors likewise.
Result<std::vector<Tensor>> interpretGuarded(const Model &model,
                                             std::span<const Tensor> inputs);

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_OPERATIONS_OPERATIONSAMPLES_H
