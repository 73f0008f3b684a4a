//===- MlirCompiler.h - the compiler behind its interface -----------------===//

#ifndef SINTER_ENGINE_COMPILER_MLIRCOMPILER_H
#define SINTER_ENGINE_COMPILER_MLIRCOMPILER_H

#include "engine/Compiler.h"
#include "engine/compiler/ModelSource.h"
#include "passes/PatternLabels.h"
#include "passes/Specialize.h"

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
};

/// \p model, whose entry function's inputs have these shapes and, where they
/// feed shapes, values, as native code.
Result<std::shared_ptr<const Program>>
compileModel(Model model, const SpecializeOptions &known,
             const CompileRequest &request);

/// The same without code: its steps, and the memory that it needs.
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
  Result<std::shared_ptr<const Program>>
  compile(const CompileRequest &request) override;
  Result<std::shared_ptr<const Program>>
  compileOpen(const CompileRequest &request);
  Result<std::shared_ptr<const Program>>
  compileForAnyValues(const CompileRequest &request, bool &hasOpenSizes);
  Result<RunFacts> runFacts(const CompileRequest &request,
                            bool compiled) override;
  Result<std::unique_ptr<Executor>>
  interpret(const CompileRequest &request) override;

private:
  SpecializeOptions knownOf(const CompileRequest &request) const;

  std::unique_ptr<ModelSource> source;
};

/// Makes \p model ready for passes: calls inlined, sizes known.
Result<void> specializeForPasses(Model &model, const SpecializeOptions &known);
/// Simplifies and raises for kernels; \p watcher, if there is one, is told
/// where values go. `passSteps` and `lastStep` are those of both.
struct Rewriting {
  std::vector<std::pair<std::string, uint64_t>> passSteps;
  PatternApplication lastStep;
};
Result<Rewriting> rewriteForKernels(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher = nullptr);

/// A model as it is in its file, to be written anew.
struct ModelToRewrite {
  Model model;
  const Format *format;
  /// What is known of it.
  ModelDescription description;
};
/// Reads it to be written in format \p to, or its own where that is null. In
/// its own, inputs with a default become constants with \p freezesDefaults.
Result<ModelToRewrite> readToRewrite(const ModelRequest &request,
                                     const Format *to,
                                     bool freezesDefaults = false);

/// Whether what is written to \p output (and beside it, for weights) takes the
/// place of a file of the model at \p path, or of its folder, by whatever name:
/// a Usage error but for what is \p allowed.
Result<void> checkOverwrite(const std::string &path,
                            const ModelDescription &model,
                            const std::string &output, Overwrite allowed);
/// Writes \p model in the format that \p path's extension names, for readers of
/// its version \p targetVersion (empty: the newest).
Result<void> writeModel(const Model &model, const std::string &path,
                        const std::string &targetVersion = "");
/// An error of writeModel: what cannot be expressed is of the input at \p path.
Error ofInput(Error error, const std::string &path);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_MLIRCOMPILER_H
