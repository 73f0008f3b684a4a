//===- SampleRuns.h - runs a graph on samples -----------------------------===//

#ifndef SINTER_ENGINE_COMPILER_SAMPLERUNS_H
#define SINTER_ENGINE_COMPILER_SAMPLERUNS_H

#include "engine/Quantize.h"
#include "graph/Model.h"
#include "passes/Observe.h"
#include "passes/Specialize.h"
#include "runtime/ProgramExecutor.h"

#include <map>
#include <memory>
#include <set>

namespace sinter {

/// Compiles a graph for the CPU, once for all sizes of its dynamic dimensions,
/// and runs it. If that is impossible, a guard rejects the sizes of a sample,
/// or values are observed, it is compiled for each set of shapes among the
/// samples.
class SampleRuns {
public:
  /// \p model is a graph of its own, whose numbered values are observed.
  SampleRuns(Model model, const QuantizeRequest &request,
             const ModelDescription &description,
             std::vector<NumberedValue> observed = {});

  Result<std::vector<Tensor>> run(const std::vector<Tensor> &inputs,
                                  const ValueObserver &observer = {});
  /// The milliseconds of each layer in a run, by kernel name.
  Result<std::map<std::string, double>>
  layerTimes(const std::vector<Tensor> &inputs);
  /// Over all runs but the first of each program; 0 if there was none.
  double medianMilliseconds() const;
  /// Why some ran in static programs though dimensions are dynamic; empty if
  /// none did.
  const std::string &whyStatic() const { return refusal; }

private:
  using MadeExecutor = Result<std::unique_ptr<ProgramExecutor>>;
  MadeExecutor compile(const SpecializeOptions &known,
                       std::shared_ptr<const Program> &program) const;
  Result<void> compileDynamic();
  Result<Executor *> executorFor(const std::vector<Tensor> &inputs);

  Model model;
  const QuantizeRequest &request;
  const ModelDescription &description;
  bool isObserved;
  /// The shape-generic program, once it was compiled.
  std::shared_ptr<const Program> dynamic;
  std::unique_ptr<Executor> dynamicExecutor;
  bool triedDynamic = false;
  std::string refusal;
  std::map<std::string, std::unique_ptr<Executor>> executors;
  /// Those that have run.
  std::set<const Executor *> warm;
  std::vector<double> times;
};

/// The facts in \p inputs about the inputs of \p description: shapes, and
/// values that feed shapes.
SpecializeOptions knownOf(const ModelDescription &description,
                          const std::vector<Tensor> &inputs);

/// The arguments of the entry function and the results of all of its
/// operations, in program order: the same for a copy of a graph.
std::vector<mlir::Value> valuesInOrder(const Model &model);
/// Maps the values of \p model to those of its \p copy.
llvm::DenseMap<mlir::Value, mlir::Value> copiesIn(const Model &copy,
                                                  const Model &model);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_SAMPLERUNS_H
