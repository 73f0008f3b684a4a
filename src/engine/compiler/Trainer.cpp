//===- Trainer.cpp - the programs that train a model ----------------------===//

#include "engine/Train.h"

#include "autodiff/TrainingStep.h"
#include "engine/compiler/MlirCompiler.h"
#include "graph/Constants.h"
#include "graph/storage/Storage.h"
#include "interpreter/InterpreterExecutor.h"
#include "passes/Specialize.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter {

namespace {

class Trainer : public TrainableModel {
public:
  Trainer(TrainRequest request, std::unique_ptr<ModelSource> source)
      : request(std::move(request)), source(std::move(source)) {}

  const ModelDescription &description() const override {
    return source->description();
  }
  Result<TrainingProgram> step(std::span<const Tensor> inputs,
                               const Tensor &target) override;
  Result<TrainingProgram> evaluation(std::span<const Tensor> inputs,
                                     const Tensor &target) override;
  const std::vector<std::string> &weights() const override {
    return trained.weights;
  }
  const std::vector<std::string> &statistics() const override {
    return trained.statistics;
  }
  Result<void> checkLabels(const Tensor &target) const override;
  Result<void> writeStep(std::span<const Tensor> inputs, const Tensor &target,
                         const std::string &output) override;
  Result<void> write(const NamedTensors &values, const std::string &output,
                     bool mayOverwrite) override;

private:
  struct Lifted {
    Model model;
    std::vector<autodiff::LiftedWeight> weights;
  };
  Result<Lifted> lifted(std::span<const Tensor> inputs);
  Result<Model> stepGraph(std::span<const Tensor> inputs, const Tensor &target);
  Result<TrainingProgram> programOf(Model model) const;

  TrainRequest request;
  std::unique_ptr<ModelSource> source;
  autodiff::TrainedTensors trained;
};

} // namespace

static TensorSpec specOf(const Tensor &target) {
  return {std::string(autodiff::targetName), target.type(), target.shape()};
}

/// The model for inputs like these, its weights as arguments.
Result<Trainer::Lifted> Trainer::lifted(std::span<const Tensor> inputs) {
  const std::vector<ModelInput> &wanted = description().inputs;
  SpecializeOptions known;
  std::vector<Shape> shapes;
  std::vector<std::optional<Tensor>> values(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes.push_back(inputs[i].shape());
    known.shapes[wanted[i].spec.name] = inputs[i].shape();
  }
  Result<Model> model = source->specialized(shapes, values);
  if (!model)
    return model.takeError();
  Result<Storage> storage = Storage::of(*model);
  if (!storage)
    return storage.takeError();
  if (!storage->states().empty())
    return unsupported(model->path + ": the state '" +
                       storage->states().front().spec.name +
                       "': a model that keeps states is not trained");
  Result<std::vector<autodiff::LiftedWeight>> weights =
      autodiff::liftWeights(*model);
  if (!weights)
    return inFile(weights.takeError(), request.input.path);
  if (Result<void> ready = specializeForPasses(*model, known); !ready)
    return ready.takeError();
  return Lifted{std::move(*model), std::move(*weights)};
}

Result<Model> Trainer::stepGraph(std::span<const Tensor> inputs,
                                 const Tensor &target) {
  Result<Lifted> ready = lifted(inputs);
  if (!ready)
    return ready.takeError();
  auto names = autodiff::makeTrainingStep(
      ready->model, std::move(ready->weights), specOf(target), request.options);
  if (!names)
    return inFile(names.takeError(), request.input.path);
  trained = std::move(*names);
  return std::move(ready->model);
}

Result<TrainingProgram> Trainer::programOf(Model model) const {
  TrainingProgram program;
  if (request.interprets) {
    auto executor = InterpreterExecutor::create(
        std::make_shared<const Model>(std::move(model)));
    if (!executor)
      return executor.takeError();
    program.interpreted = std::move(*executor);
    return program;
  }
  CompileRequest compile;
  compile.passes = request.passes;
  compile.threads = request.threads;
  compile.kernelFolder = request.kernelFolder;
  compile.compiler = request.compiler;
  compile.ceilings = request.ceilings;
  compile.fastConvolution = request.fastConvolution;
  compile.cpu = request.cpu;
  compile.denormals = request.denormals;
  auto compiled = compileModel(std::move(model), {}, compile);
  if (!compiled)
    return inFile(compiled.takeError(), request.input.path);
  program.compiled = std::move(*compiled);
  return program;
}

Result<TrainingProgram> Trainer::step(std::span<const Tensor> inputs,
                                      const Tensor &target) {
  Result<Model> graph = stepGraph(inputs, target);
  if (!graph)
    return graph.takeError();
  return programOf(std::move(*graph));
}

Result<TrainingProgram> Trainer::evaluation(std::span<const Tensor> inputs,
                                            const Tensor &target) {
  Result<Lifted> ready = lifted(inputs);
  if (!ready)
    return ready.takeError();
  if (Result<void> made =
          autodiff::makeEvaluation(ready->model, std::move(ready->weights),
                                   trained, specOf(target), request.options);
      !made)
    return inFile(made.takeError(), request.input.path);
  return programOf(std::move(ready->model));
}

Result<void> Trainer::checkLabels(const Tensor &target) const {
  if (!trained.classes)
    return {};
  for (int64_t i = 0; i < target.size(); ++i) {
    const int64_t label = target.toInteger(i);
    if ((label < 0 || label >= *trained.classes) &&
        label != request.options.loss.ignoredLabel)
      return usageError("the target has the label " + std::to_string(label) +
                        ", and the model " + std::to_string(*trained.classes) +
                        " classes, from 0 on");
  }
  return {};
}

/// Arguments and results without attributes of our own, for other tools.
static void dropOwnAttributes(Model &model) {
  func::FuncOp entry = model.entry();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    entry.setArgAttrs(i, ArrayRef<NamedAttribute>());
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    entry.setResultAttrs(i, ArrayRef<NamedAttribute>());
  model.module().walk([](Operation *op) { op->removeAttr(nameAttribute); });
}

Result<void> Trainer::writeStep(std::span<const Tensor> inputs,
                                const Tensor &target,
                                const std::string &output) {
  Result<Model> graph = stepGraph(inputs, target);
  if (!graph)
    return graph.takeError();
  dropOwnAttributes(*graph);
  if (Result<void> written = writeModel(*graph, output); !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

Result<void> Trainer::write(const NamedTensors &values,
                            const std::string &output, bool mayOverwrite) {
  Result<WrittenForm> form = writtenForm(output);
  if (!form)
    return form.takeError();
  Result<ModelToRewrite> read = readToRewrite(request.input, form->format);
  if (!read)
    return inFile(read.takeError(), request.input.path);
  if (!mayOverwrite)
    if (Result<void> good =
            checkOverwrite(request.input.path, read->description, output);
        !good)
      return good;
  llvm::StringMap<const Tensor *> byName;
  for (const auto &[name, tensor] : values)
    byName[name] = &tensor;
  llvm::StringMap<unsigned> replaced;
  func::FuncOp entry = read->model.entry();
  for (auto constant : entry.front().getOps<stablehlo::ConstantOp>()) {
    const StringRef name = constantName(constant.getResult());
    auto found = byName.find(name);
    if (name.empty() || found == byName.end())
      continue;
    constant.setValueAttr(
        toAttribute(*found->second, name, read->model.context()));
    ++replaced[name];
  }
  for (const auto &[name, tensor] : values)
    if (!replaced.contains(name))
      return unsupported(request.input.path + ": the weight '" + name +
                         "' has no place in the file that is written");
  if (Result<void> written = writeModel(read->model, output); !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

Result<std::unique_ptr<TrainableModel>>
MlirCompiler::train(const TrainRequest &request) {
  auto source = ModelSource::open(request.input);
  if (!source)
    return source.takeError();
  if (Result<void> described = (*source)->describe(); !described)
    return described.takeError();
  return std::unique_ptr<TrainableModel>(
      std::make_unique<Trainer>(request, std::move(*source)));
}

} // namespace sinter
