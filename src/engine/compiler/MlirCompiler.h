//===- MlirCompiler.h - implements the compiler's interface ---------------===//

#ifndef SINTER_ENGINE_COMPILER_MLIRCOMPILER_H
#define SINTER_ENGINE_COMPILER_MLIRCOMPILER_H

#include "engine/Compiler.h"
#include "engine/compiler/ModelSource.h"
#include "graph/WeightConstants.h"
#include "passes/PatternLabels.h"
#include "passes/Specialize.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace sinter {

class MlirCompiler : public Compiler {
public:
  Result<std::unique_ptr<CompilerModel>>
  open(const ModelRequest &request) override;
  Result<std::vector<FunctionDescription>>
  functions(const ModelRequest &request) override;
  Result<OptimizeReport> optimize(const OptimizeRequest &request) override;
  Result<void> convert(const ConvertRequest &request) override;
  Result<QuantizeReport> quantize(const QuantizeRequest &request) override;
  Result<std::unique_ptr<TrainableModel>>
  train(const TrainRequest &request) override;
  Result<void> test(const std::string &path, size_t first,
                    const TestRequest &request,
                    TestObserver &observer) override;
  std::vector<PatternDescription> patterns() override;
  std::vector<FormatDescription> formats() override;
  bool isModelFolder(const std::string &path) override;
  std::string outputFor(const std::string &input,
                        const std::string &output) override;
  Result<ReduceOutcome> reduce(const ReduceRequest &request) override;
  Result<MachineCeilings> measureMachine(double seconds) override;
  Result<std::vector<TargetFacts>> targets(const std::string &triple) override;
};

/// Compiles \p model, whose entry function's inputs have these shapes and, if
/// they feed shapes, values, to native code.
Result<std::shared_ptr<const Program>>
compileModel(Model model, const SpecializeOptions &known,
             const CompileRequest &request);

/// The same without code: its steps, and its memory.
Result<Program> planModel(Model model, const SpecializeOptions &known,
                          const CompileRequest &request);

class MlirCompilerModel : public CompilerModel {
public:
  explicit MlirCompilerModel(std::unique_ptr<ModelSource> source)
      : source(std::move(source)) {}

  const ModelDescription &description() const override {
    return source->description();
  }
  Result<GraphFacts> facts() override;
  Result<FileCounts> counts() override { return source->counts(); }
  Result<SizedFacts> sizedFacts(const NamedShapes &shapes) override;
  Result<std::shared_ptr<const Program>>
  compile(const CompileRequest &request) override;
  Result<std::shared_ptr<const Program>>
  compileDynamic(const CompileRequest &request);
  Result<Bundle> bundle(const BundleRequest &request) override;
  Result<void> accepts(const CompileRequest &request) override;
  Result<RunFacts> runFacts(const CompileRequest &request,
                            bool compiled) override;
  Result<ModelWeights> weights(const CompileRequest &request,
                               bool folds) override;
  Result<ModelView> view(const CompileRequest &request) override;
  Result<std::unique_ptr<Executor>>
  interpret(const CompileRequest &request) override;

private:
  /// Compiles a graph, which is specialised as the second argument says.
  using CompileGraph =
      llvm::function_ref<Result<void>(Model, const SpecializeOptions &)>;
  Result<void> compileForAnyValues(const CompileRequest &request,
                                   CompileGraph compileGraph,
                                   bool &hasDynamicSizes);
  Result<void> compileForShapes(const CompileRequest &request,
                                CompileGraph compileGraph);
  Result<void> compileForSizes(const CompileRequest &request,
                               CompileGraph compileGraph);
  Result<TranslatedGraph> translate(GraphKind kind,
                                    const CompileRequest &request) {
    return source->translate(
        {.kind = kind, .shapes = request.shapes, .values = request.values});
  }
  Result<ModelView> viewFor(const CompileRequest &request);
  Result<Model> modelFor(const CompileRequest &request);
  /// A graph, and its specialisation.
  struct ModelForValues {
    Model model;
    SpecializeOptions known;
  };
  /// The graph for the given values. Nodes that depend on computed values
  /// become operations of dynamic sizes; with \p needsSizes all do if some
  /// sizes are known only at run time.
  Result<ModelForValues> modelForValues(const CompileRequest &request,
                                        bool needsSizes);
  /// The graph for all sizes of the dimensions to keep dynamic.
  Result<ModelForValues> modelOfDynamicSizes(const CompileRequest &request);
  Result<std::unique_ptr<Executor>>
  interpretDynamic(const CompileRequest &request);
  SpecializeOptions knownOf(const CompileRequest &request) const;
  /// With the dimensions dynamic that the request keeps so.
  SpecializeOptions dynamicOf(const CompileRequest &request) const;

  std::unique_ptr<ModelSource> source;
};

/// Prepares \p model for passes: inlines calls, infers sizes.
Result<void> specializeForPasses(Model &model, const SpecializeOptions &known);
/// Simplifies and raises for kernels; \p watcher, if there is one, follows
/// values. `passSteps` and `lastStep` are those of both.
struct Rewriting {
  std::vector<std::pair<std::string, uint64_t>> passSteps;
  PatternApplication lastStep;
};
Result<Rewriting> rewriteForKernels(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher = nullptr);

/// What constants without a name are in files of \p format.
UnnamedConstants unnamedOf(const Format &format);

/// A model as it is in its file, to be written again.
struct ModelToRewrite {
  Model model;
  const Format *format;
  /// Facts about its inputs.
  ModelDescription description;
  /// What the file consists of.
  FileCounts counts;
};
/// Reads it to be written in format \p to; null: its own.
Result<ModelToRewrite> readToRewrite(const ModelRequest &request,
                                     const Format *to,
                                     const RewriteOptions &options = {});

/// Checks that writing \p output (and files of weights beside it) does not
/// replace a file of the model at \p path, or its folder, by whatever name: a
/// Usage error unless \p allowed.
Result<void> checkOverwrite(const std::string &path,
                            const ModelDescription &model,
                            const std::string &output, Overwrite allowed);
/// Writes \p model in the format of \p path's extension.
Result<void> writeModel(const Model &model, const std::string &path,
                        const WriteOptions &options = {});
/// Writes a model; the error for what the format cannot express names the input
/// at \p path.
Error ofInput(Error error, const std::string &path);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_MLIRCOMPILER_H
