//===- Trainer.cpp - the programs that train a model ----------------------===//

#include "engine/Train.h"

#include "autodiff/ReplaceHead.h"
#include "autodiff/TrainingStep.h"
#include "engine/compiler/LossFile.h"
#include "engine/compiler/MemoryLimit.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/StoredWeights.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/nn/NnOps.h"
#include "graph/storage/Storage.h"
#include "interpreter/InterpreterExecutor.h"
#include "passes/Observe.h"
#include "passes/Pipelines.h"
#include "passes/Specialize.h"
#include "runtime/OptionNames.h"
#include "runtime/TensorText.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

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
  size_t lossCount() const override { return request.options.losses.size(); }
  Result<TrainingProgram> step(const Batch &batch, uint32_t replicas) override;
  Result<CheckedStep> checkedStep(const Batch &batch,
                                  uint32_t replicas) override;
  Result<TrainingProgram> evaluation(const Batch &batch) override;
  const std::vector<std::string> &weights() const override {
    return trained.weights;
  }
  const std::vector<std::string> &statistics() const override {
    return trained.statistics;
  }
  std::string resultOf(const std::string &weight) const override;
  Result<void> checkLabels(const Batch &batch) const override;
  Result<void> writeStep(const Batch &batch, uint32_t replicas, StepForm form,
                         const std::string &output) override;
  Result<void> write(const NamedTensors &values, const std::string &output,
                     Overwrite overwrite) override;

private:
  struct Lifted {
    Model model;
    std::vector<autodiff::LiftedWeight> weights;
  };
  Result<Lifted> lifted(std::span<const Tensor> inputs);
  Result<void> changeHead(Model &model);
  Result<Model> stepGraph(const Batch &batch, uint32_t replicas);
  Result<Model> boundedStep(const Batch &batch, uint32_t replicas);
  std::vector<TensorSpec> targetsOf(const Batch &batch) const;
  autodiff::LossFacts lossFacts(autodiff::FileLoss fileLoss) const;
  Result<mlir::Value> fileLoss(const autodiff::LossOptions &loss,
                               nn::TensorBuilder &emit,
                               mlir::ValueRange arguments);
  CompileRequest compileRequest() const;
  Result<TrainingProgram> programOf(Model model) const;
  void tellOfWeights();
  Result<void> writeStored(Model &model,
                           const llvm::StringMap<const Tensor *> &values,
                           llvm::StringMap<unsigned> &replaced) const;

  TrainRequest request;
  std::unique_ptr<ModelSource> source;
  /// By path.
  std::map<std::string, LossFile> lossFiles;
  autodiff::TrainedTensors trained;
  /// Weights that the file stores as integers, and those that are not trained.
  StoredWeights stored;
  /// Batch norms in training mode.
  size_t trainingNorms = 0;
  std::vector<std::string> integers;
  /// What became of the last layer, for the user.
  std::string headText;
  bool hasTold = false;
};

} // namespace

std::vector<TensorSpec> Trainer::targetsOf(const Batch &batch) const {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < batch.targets.size(); ++i)
    specs.push_back({request.options.targets[i], batch.targets[i].type(),
                     batch.targets[i].shape()});
  return specs;
}

/// A dynamic dimension is no number of classes, whatever its size in this
/// batch.
autodiff::LossFacts Trainer::lossFacts(autodiff::FileLoss fileLoss) const {
  autodiff::LossFacts facts{fileLoss, {}};
  for (const TensorSpec &output : description().outputs) {
    const auto last = static_cast<int64_t>(output.shape.size()) - 1;
    facts.classes.emplace_back();
    if (last > 1 && (output.shape[1] < 0) != (output.shape[last] < 0))
      facts.classes.back() = output.shape[1] < 0 ? last : 1;
  }
  return facts;
}

Result<Value> Trainer::fileLoss(const autodiff::LossOptions &loss,
                                nn::TensorBuilder &emit, ValueRange arguments) {
  auto found = lossFiles.find(loss.file);
  if (found == lossFiles.end()) {
    Result<LossFile> file = LossFile::open(loss.file);
    if (!file)
      return file.takeError();
    found = lossFiles.emplace(loss.file, std::move(*file)).first;
  }
  return found->second.build(emit, arguments);
}

/// Raises quantisation and dequantisation to operations, since the arithmetic
/// of rounding has no gradient. Integer arithmetic stays.
static Result<void> raiseRounding(Model &model) {
  SimplifyOptions rounding;
  rounding.disabledPatterns = {"all"};
  rounding.enabledPatterns = {"raise-quantize", "raise-dequantize",
                              "cancel-bitcasts"};
  Result<SimplifyReport> raised = raiseQuantized(model, rounding);
  return raised ? Result<void>() : raised.takeError();
}

/// Gives \p model the number of classes that is asked for.
Result<void> Trainer::changeHead(Model &model) {
  if (!request.head)
    return {};
  Result<autodiff::ReplacedHead> done =
      autodiff::replaceHead(model, *request.head, unnamedOf(source->format()));
  if (!done)
    return inFile(done.takeError(), request.input.path);
  headText = done->text(request.head->classes);
  return {};
}

/// The model for inputs like these, with its weights as arguments.
Result<Trainer::Lifted> Trainer::lifted(std::span<const Tensor> inputs) {
  const std::vector<ModelInput> &wanted = description().inputs;
  SpecializeOptions known;
  std::vector<Shape> shapes;
  std::vector<std::optional<Tensor>> values(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape &shape = wanted[i].spec.shape;
    if (!shape.empty() && shape[0] >= 0 && !inputs[i].shape().empty() &&
        shape[0] != inputs[i].shape()[0])
      return inFile(usageError("the input '" + wanted[i].spec.name +
                               "' takes " + std::to_string(shape[0]) +
                               " samples at a time, and a batch has " +
                               std::to_string(inputs[i].shape()[0]) + " (" +
                               optionText("batch") + " " +
                               std::to_string(shape[0]) + "; " +
                               optionText("drop-last") +
                               " leaves out training samples that fill none)"),
                    request.input.path);
    shapes.push_back(inputs[i].shape());
    known.shapes[wanted[i].spec.name] = inputs[i].shape();
  }
  Result<TranslatedGraph> graph =
      source->translate({.kind = GraphKind::Static,
                         .shapes = std::move(shapes),
                         .values = std::move(values)});
  if (!graph)
    return graph.takeError();
  Model &model = graph->model;
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  if (!storage->states().empty())
    return inFile(
        withHint("`sinter optimize --freeze` makes constants of states",
                 unsupported("the state '" +
                             storage->states().front().spec.name +
                             "': a model with states is not trained, since the "
                             "results of a sample would depend on the batches "
                             "before it")),
        model.path);
  if (Result<void> changed = changeHead(model); !changed)
    return changed.takeError();
  // Before scales become arguments.
  if (Result<void> raised = raiseRounding(model); !raised)
    return inFile(raised.takeError(), request.input.path);
  StoredWeights rounded = expandStoredWeights(model);
  if (!hasTold) {
    stored = std::move(rounded);
    model.entry().walk([&](nn::MeanVarNormOp) { ++trainingNorms; });
    integers = integerWeights(model);
  }
  Result<std::vector<autodiff::LiftedWeight>> weights =
      autodiff::liftWeights(model, unnamedOf(source->format()));
  if (!weights)
    return inFile(weights.takeError(), request.input.path);
  if (Result<void> ready = specializeForPasses(model, known); !ready)
    return ready.takeError();
  return Lifted{std::move(model), std::move(*weights)};
}

Result<Model> Trainer::stepGraph(const Batch &batch, uint32_t replicas) {
  Result<Lifted> ready = lifted(batch.inputs);
  if (!ready)
    return ready.takeError();
  autodiff::TrainingOptions options = request.options;
  options.replicas = replicas;
  auto build = [&](auto &&...of) { return fileLoss(of...); };
  auto names =
      autodiff::makeTrainingStep(ready->model, std::move(ready->weights),
                                 targetsOf(batch), options, lossFacts(build));
  if (!names)
    return inFile(names.takeError(), request.input.path);
  trained = std::move(*names);
  tellOfWeights();
  return std::move(ready->model);
}

void Trainer::tellOfWeights() {
  if (std::exchange(hasTold, true) || !request.input.note)
    return;
  if (!headText.empty() && !request.goesOn)
    request.input.note(request.input.path + ": " + headText);
  if (trainingNorms)
    request.input.note(request.input.path +
                       ": holds batch norms in training mode (" +
                       std::to_string(trainingNorms) +
                       "), which norm by the batch wherever it runs, in "
                       "validation, too");
  std::vector<std::string> rounded;
  for (const std::string &name : trained.weights)
    if (stored.contains(name))
      rounded.push_back(name);
  if (!rounded.empty())
    request.input.note(request.input.path +
                       ": trained as floats, which are rounded to the "
                       "integers of the file: " +
                       llvm::join(rounded, ", "));
  if (!integers.empty())
    request.input.note(
        request.input.path +
        ": not trained, since the file holds them as integers that are not "
        "only dequantised to f32: " +
        llvm::join(integers, ", "));
  if (!trained.askedFor.empty())
    request.input.note(
        request.input.path +
        ": not trained, since they look like constants of " +
        "the computation: " + llvm::join(trained.askedFor, ", ") + " (" +
        optionText("trainable") + " asks for them)");
  if (!trained.reinitialized.empty() && !request.goesOn)
    request.input.note(request.input.path + ": these begin afresh: " +
                       llvm::join(trained.reinitialized, ", "));
}

std::string Trainer::resultOf(const std::string &weight) const {
  return request.options.average ? weight + autodiff::averageSuffix.str()
                                 : weight;
}

CompileRequest Trainer::compileRequest() const {
  CompileRequest compile;
  compile.passes = request.passes;
  compile.threads = request.threads;
  compile.kernelFolder = request.kernelFolder;
  compile.compiler = request.compiler;
  compile.ceilings = request.ceilings;
  compile.progress = request.progress;
  static_cast<CodeOptions &>(compile) = request;
  return compile;
}

/// A step within the memory limit.
Result<Model> Trainer::boundedStep(const Batch &batch, uint32_t replicas) {
  Result<Model> graph = stepGraph(batch, replicas);
  if (!graph || !request.memoryLimit)
    return graph;
  Result<Model> bounded = withinMemory(*graph, *request.memoryLimit,
                                       compileRequest(), request.input.note);
  if (!bounded)
    return inFile(bounded.takeError(), request.input.path);
  return bounded;
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
  auto compiled = compileModel(std::move(model), {}, compileRequest());
  if (!compiled)
    return inFile(compiled.takeError(), request.input.path);
  program.compiled = std::move(*compiled);
  return program;
}

Result<TrainingProgram> Trainer::step(const Batch &batch, uint32_t replicas) {
  Result<Model> graph = boundedStep(batch, replicas);
  if (!graph)
    return graph.takeError();
  return programOf(std::move(*graph));
}

/// Whether all operands of \p op are constants.
static bool isOfConstants(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    Operation *from = operand.getDefiningOp();
    return from && from->hasTrait<OpTrait::ConstantLike>();
  });
}

Result<CheckedStep> Trainer::checkedStep(const Batch &batch,
                                         uint32_t replicas) {
  Result<Model> graph = stepGraph(batch, replicas);
  if (!graph)
    return graph.takeError();
  Operation *end = graph->entry().front().getTerminator();
  Operation *loss = end->getOperand(0).getDefiningOp();
  CheckedStep checked;
  SmallVector<NumberedValue> values;
  bool isBehindLoss = false;
  for (Operation &op : graph->entry().front().without_terminator()) {
    if (!isOfConstants(&op))
      for (Value value : op.getResults()) {
        if (!isa<FloatType>(getElementTypeOrSelf(value.getType())) ||
            !canBeObserved(value))
          continue;
        values.push_back({value, static_cast<int64_t>(checked.values.size())});
        checked.values.push_back(
            "'" + originOf(&op) + "' (" + op.getName().getStringRef().str() +
            (isBehindLoss ? ", in the backward pass)" : ")"));
      }
    isBehindLoss |= &op == loss;
  }
  observe(values);
  Result<TrainingProgram> program = programOf(std::move(*graph));
  if (!program)
    return program.takeError();
  checked.program = std::move(*program);
  return checked;
}

Result<TrainingProgram> Trainer::evaluation(const Batch &batch) {
  Result<Lifted> ready = lifted(batch.inputs);
  if (!ready)
    return ready.takeError();
  auto build = [&](auto &&...of) { return fileLoss(of...); };
  if (Result<void> made = autodiff::makeEvaluation(
          ready->model, std::move(ready->weights), trained, targetsOf(batch),
          request.options, lossFacts(build));
      !made)
    return inFile(made.takeError(), request.input.path);
  return programOf(std::move(ready->model));
}

Result<void> Trainer::checkLabels(const Batch &batch) const {
  for (const autodiff::LossOptions &loss : request.options.losses) {
    // A process without samples so far has no step.
    if (loss.target >= trained.classes.size())
      continue;
    const std::optional<int64_t> classes = trained.classes[loss.target];
    if (!classes || loss.kind != autodiff::Loss::CrossEntropy)
      continue;
    const Tensor &target = batch.targets[loss.target];
    if (!isInteger(target.type()))
      continue;
    for (int64_t i = 0; i < target.size(); ++i) {
      // Labels beyond int64 are negative here.
      const int64_t label = target.toInteger(i);
      const bool isTooLarge = label < 0 && target.type() == ElementType::UI64;
      if (isTooLarge ||
          ((label < 0 || label >= *classes) && label != loss.ignoredLabel))
        return usageError("the target has the label " + elementText(target, i) +
                          ", and the model " + std::to_string(*classes) +
                          " classes, from 0 on (" + optionText("classes") +
                          " auto gives it those of the data)");
    }
  }
  return {};
}

/// Only standard operations.
static void dropOwnAttributes(Model &model) {
  func::FuncOp entry = model.entry();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    entry.setArgAttrs(i, ArrayRef<NamedAttribute>());
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    entry.setResultAttrs(i, ArrayRef<NamedAttribute>());
  model.module().walk([](Operation *op) {
    for (NamedAttribute each : llvm::to_vector(op->getDiscardableAttrs()))
      if (each.getName().getValue().starts_with("sinter."))
        op->removeDiscardableAttr(each.getName());
  });
}

Result<void> Trainer::writeStep(const Batch &batch, uint32_t replicas,
                                StepForm form, const std::string &output) {
  Result<Model> graph = boundedStep(batch, replicas);
  if (!graph)
    return graph.takeError();
  if (form == StepForm::Public)
    dropOwnAttributes(*graph);
  if (Result<void> written = writeModel(*graph, output); !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

/// The elements of \p tensor, an average, rounded to the weight's type.
static Tensor ofType(const Tensor &tensor, ElementType type) {
  if (tensor.type() == type)
    return tensor;
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.size(); ++i)
    numbers.push_back(tensor.toDouble(i));
  return tensorOfDoubles(type, tensor.shape(), numbers);
}

/// Sets the integers of \p model that store weights to \p values.
Result<void> Trainer::writeStored(Model &model,
                                  const llvm::StringMap<const Tensor *> &values,
                                  llvm::StringMap<unsigned> &replaced) const {
  for (auto constant : model.entry().front().getOps<stablehlo::ConstantOp>()) {
    const StringRef name = constantName(constant.getResult());
    auto weight = stored.find(name);
    auto found = values.find(name);
    if (weight == stored.end() || found == values.end())
      continue;
    Result<Tensor> elements =
        elementsOf(weight->second, ofType(*found->second, ElementType::F32),
                   model.context());
    if (!elements)
      return elements.takeError();
    constant.setValueAttr(toAttribute(*elements, name, model.context()));
    ++replaced[name];
  }
  return {};
}

Result<void> Trainer::write(const NamedTensors &values,
                            const std::string &output, Overwrite overwrite) {
  Result<WrittenForm> form = writtenForm(output);
  if (!form)
    return form.takeError();
  Result<ModelToRewrite> read = readToRewrite(request.input, form->format);
  if (!read)
    return inFile(read.takeError(), request.input.path);
  if (Result<void> good = checkOverwrite(request.input.path, read->description,
                                         output, overwrite);
      !good)
    return good;
  if (Result<void> changed = changeHead(read->model); !changed)
    return changed;
  llvm::StringMap<const Tensor *> byName;
  for (const auto &[name, tensor] : values)
    byName[name] = &tensor;
  llvm::StringMap<unsigned> replaced;
  for (WeightConstant &each :
       weightConstants(read->model.entry(), unnamedOf(*read->format))) {
    auto found = byName.find(each.name);
    if (found == byName.end())
      continue;
    const ElementType type =
        *elementTypeOf(tensorOf(each.constant.getResult()).getElementType());
    each.constant.setValueAttr(toAttribute(ofType(*found->second, type),
                                           each.name, read->model.context()));
    ++replaced[each.name];
  }
  if (Result<void> rounded = writeStored(read->model, byName, replaced);
      !rounded)
    return inFile(rounded.takeError(), request.input.path);
  for (const auto &[name, tensor] : values)
    if (!replaced.contains(name))
      return inFile(unsupported("the weight '" + name +
                                "' cannot be stored in the written file"),
                    request.input.path);
  if (Result<void> written = writeModel(read->model, output); !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

Result<std::unique_ptr<TrainableModel>>
MlirCompiler::train(const TrainRequest &given) {
  // The file is read twice, and again to be written.
  TrainRequest request = given;
  if (given.input.note)
    request.input.note = [note = given.input.note,
                          told = std::make_shared<std::set<std::string>>()](
                             const std::string &text) {
      if (told->insert(text).second)
        note(text);
    };
  auto source = ModelSource::open(request.input);
  if (!source)
    return source.takeError();
  if (Result<void> described = (*source)->describe(); !described)
    return described.takeError();
  return std::unique_ptr<TrainableModel>(
      std::make_unique<Trainer>(request, std::move(*source)));
}

} // namespace sinter
