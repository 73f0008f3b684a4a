//===- GuardedCompiler.cpp - the compiler, safe from fatal errors ---------===//

#include "engine/compiler/GuardedCompiler.h"

#include "engine/Quantize.h"
#include "engine/TestFile.h"
#include "engine/Train.h"
#include "runtime/DeepStack.h"
#include "runtime/GuardedThread.h"
#include "runtime/OutOfMemory.h"

#include "llvm/Support/ErrorHandling.h"

#include <malloc.h>

namespace sinter {

[[noreturn]] static void stopForError(void *, const char *reason, bool) {
  GuardedThread::stop(unsupported("LLVM cannot compile it: " +
                                  llvm::StringRef(reason).rtrim(". \n").str()));
}

[[noreturn]] static void stopForMemory(void *, const char *, bool) {
  GuardedThread::stop(systemError("not enough memory"));
}

GuardedCompiler::GuardedCompiler() {
  llvm::install_fatal_error_handler(stopForError);
  llvm::install_bad_alloc_error_handler(stopForMemory);
  stopThreadsWithoutMemory();
}

/// The result of \p work on a guarded thread; \p path is the model's.
template <typename Work>
static std::invoke_result_t<Work> guarded(const std::string &path, Work work) {
  std::optional<std::invoke_result_t<Work>> result;
  Result<void> done = catchingOutOfMemory("the model", [&] {
    return onOwnDeepStack([&] { result.emplace(work()); });
  });
  if (!done)
    return inFile(done.takeError(), path);
  return std::move(*result);
}

/// Destroys \p model, whose operations nest. If no thread can be started, its
/// owner's destructor does.
template <typename Model> static void destroy(std::unique_ptr<Model> &model) {
  static_cast<void>(onDeepStack([&] { model.reset(); }));
}

/// Returns to the system what compiling has freed, some 50 MB: the C library
/// keeps it, beside the memory of the program's runs.
static void returnFreeMemory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

namespace {

class GuardedModel : public CompilerModel {
public:
  GuardedModel(std::unique_ptr<CompilerModel> model, std::string path)
      : model(std::move(model)), path(std::move(path)) {}
  ~GuardedModel() override { destroy(model); }

  const ModelDescription &description() const override {
    return model->description();
  }
  Result<GraphFacts> facts() override {
    return guarded(path, [&] { return model->facts(); });
  }
  Result<FileCounts> counts() override {
    return guarded(path, [&] { return model->counts(); });
  }
  Result<SizedFacts> sizedFacts(const NamedShapes &shapes) override {
    return guarded(path, [&] { return model->sizedFacts(shapes); });
  }
  Result<std::shared_ptr<const Program>>
  compile(const CompileRequest &request) override {
    auto program = guarded(path, [&] { return model->compile(request); });
    returnFreeMemory();
    return program;
  }
  Result<Bundle> bundle(const BundleRequest &request) override {
    return guarded(path, [&] { return model->bundle(request); });
  }
  Result<void> accepts(const CompileRequest &request) override {
    return guarded(path, [&] { return model->accepts(request); });
  }
  Result<RunFacts> runFacts(const CompileRequest &request,
                            bool compiled) override {
    return guarded(path, [&] { return model->runFacts(request, compiled); });
  }
  Result<ModelWeights> weights(const CompileRequest &request,
                               bool folds) override {
    return guarded(path, [&] { return model->weights(request, folds); });
  }
  Result<ModelView> view(const CompileRequest &request) override {
    return guarded(path, [&] { return model->view(request); });
  }
  Result<std::unique_ptr<Executor>>
  interpret(const CompileRequest &request) override {
    return guarded(path, [&] { return model->interpret(request); });
  }

private:
  std::unique_ptr<CompilerModel> model;
  std::string path;
};

class GuardedTraining : public TrainableModel {
public:
  GuardedTraining(std::unique_ptr<TrainableModel> model, std::string path)
      : model(std::move(model)), path(std::move(path)) {}
  ~GuardedTraining() override { destroy(model); }

  const ModelDescription &description() const override {
    return model->description();
  }
  size_t lossCount() const override { return model->lossCount(); }
  Result<TrainingProgram> step(const Batch &batch, uint32_t replicas) override {
    return guarded(path, [&] { return model->step(batch, replicas); });
  }
  Result<CheckedStep> checkedStep(const Batch &batch,
                                  uint32_t replicas) override {
    return guarded(path, [&] { return model->checkedStep(batch, replicas); });
  }
  Result<TrainingProgram> evaluation(const Batch &batch) override {
    return guarded(path, [&] { return model->evaluation(batch); });
  }
  const std::vector<std::string> &weights() const override {
    return model->weights();
  }
  const std::vector<std::string> &statistics() const override {
    return model->statistics();
  }
  std::string resultOf(const std::string &weight) const override {
    return model->resultOf(weight);
  }
  Result<void> checkLabels(const Batch &batch) const override {
    return model->checkLabels(batch);
  }
  Result<void> writeStep(const Batch &batch, uint32_t replicas, StepForm form,
                         const std::string &output) override {
    return guarded(
        path, [&] { return model->writeStep(batch, replicas, form, output); });
  }
  Result<void> write(const NamedTensors &values, const std::string &output,
                     Overwrite overwrite) override {
    return guarded(path,
                   [&] { return model->write(values, output, overwrite); });
  }

private:
  std::unique_ptr<TrainableModel> model;
  std::string path;
};

} // namespace

Result<std::unique_ptr<CompilerModel>>
GuardedCompiler::open(const ModelRequest &request) {
  auto model =
      guarded(request.path, [&] { return MlirCompiler::open(request); });
  if (!model)
    return model;
  return std::unique_ptr<CompilerModel>(
      std::make_unique<GuardedModel>(std::move(*model), request.path));
}

Result<std::vector<FunctionDescription>>
GuardedCompiler::functions(const ModelRequest &request) {
  return guarded(request.path,
                 [&] { return MlirCompiler::functions(request); });
}

Result<OptimizeReport>
GuardedCompiler::optimize(const OptimizeRequest &request) {
  return guarded(request.input.path,
                 [&] { return MlirCompiler::optimize(request); });
}

Result<void> GuardedCompiler::convert(const ConvertRequest &request) {
  return guarded(request.input.path,
                 [&] { return MlirCompiler::convert(request); });
}

Result<QuantizeReport>
GuardedCompiler::quantize(const QuantizeRequest &request) {
  return guarded(request.input.path,
                 [&] { return MlirCompiler::quantize(request); });
}

Result<std::unique_ptr<TrainableModel>>
GuardedCompiler::train(const TrainRequest &request) {
  const std::string &path = request.input.path;
  auto model = guarded(path, [&] { return MlirCompiler::train(request); });
  if (!model)
    return model;
  return std::unique_ptr<TrainableModel>(
      std::make_unique<GuardedTraining>(std::move(*model), path));
}

Result<void> GuardedCompiler::test(const std::string &path, size_t first,
                                   const TestRequest &request,
                                   TestObserver &observer) {
  return guarded(
      path, [&] { return MlirCompiler::test(path, first, request, observer); });
}

Result<ReduceOutcome> GuardedCompiler::reduce(const ReduceRequest &request) {
  return guarded(request.input, [&] { return MlirCompiler::reduce(request); });
}

Result<MachineCeilings> GuardedCompiler::measureMachine(double seconds) {
  return resultOnOwnDeepStack(
      [&] { return MlirCompiler::measureMachine(seconds); });
}

Result<std::vector<TargetFacts>>
GuardedCompiler::targets(const std::string &triple) {
  return resultOnOwnDeepStack([&] { return MlirCompiler::targets(triple); });
}

} // namespace sinter
