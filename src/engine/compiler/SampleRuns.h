//===- SampleRuns.h - a graph, run on samples -----------------------------===//

#ifndef SINTER_ENGINE_COMPILER_SAMPLERUNS_H
#define SINTER_ENGINE_COMPILER_SAMPLERUNS_H

#include "engine/Quantize.h"
#include "graph/Model.h"
#include "passes/Observe.h"
#include "passes/Specialize.h"
#include "runtime/Executor.h"

#include <map>
#include <memory>

namespace sinter {

/// Compiles a graph for the CPU, once for each set of shapes that samples have,
/// and runs it.
class SampleRuns {
public:
  /// \p model is a graph of its own, in which the values with numbers are told
  /// of.
  SampleRuns(Model model, const QuantizeRequest &request,
             const ModelDescription &description,
             std::vector<NumberedValue> observed = {});

  Result<std::vector<Tensor>> run(const std::vector<Tensor> &inputs,
                                  const ValueObserver &observer = {});
  /// The milliseconds of each layer of one run, by the names that kernels have.
  Result<std::map<std::string, double>>
  layerTimes(const std::vector<Tensor> &inputs);
  /// Of all runs but the first of each set of shapes; 0 if there was none.
  double medianMilliseconds() const;

private:
  Result<Executor *> executorFor(const std::vector<Tensor> &inputs);

  Model model;
  const QuantizeRequest &request;
  const ModelDescription &description;
  std::map<std::string, std::unique_ptr<Executor>> executors;
  std::vector<double> times;
};

/// What \p inputs say of the inputs of \p description: their shapes, and values
/// that feed shapes.
SpecializeOptions knownOf(const ModelDescription &description,
                          const std::vector<Tensor> &inputs);

/// The arguments of the entry function and the results of all of its
/// operations, in the order of the text: a copy of a graph has the same.
std::vector<mlir::Value> valuesInOrder(const Model &model);
/// Which value of \p copy is a copy of which value of \p model.
llvm::DenseMap<mlir::Value, mlir::Value> copiesIn(const Model &copy,
                                                  const Model &model);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_SAMPLERUNS_H
