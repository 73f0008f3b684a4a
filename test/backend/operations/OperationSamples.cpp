#include "backend/operations/OperationSamples.h"

#include "backend/cpu/program/Compiler.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "graph/Constants.h"
#include "graph/axes/AxesSamples.h"
#include "graph/interfaces/Interfaces.h"
#include "interpreter/Interpreter.h"
#include "passes/Pipelines.h"
#include "runtime/GuardedThread.h"
#include "runtime/ProgramExecutor.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <regex>

using namespace mlir;

namespace sinter::test {

/// The functions of a file of samples, each called main.
static std::vector<OperationSample> samplesOf(const std::string &file) {
  auto buffer =
      llvm::MemoryBuffer::getFile(std::string(SINTER_SOURCE_DIR) + file);
  std::vector<OperationSample> samples;
  if (!buffer)
    return samples;
  const std::string text = (*buffer)->getBuffer().str();
  const std::regex function(R"(func\.func @(\w+)(\([^]*?\n\}\n))");
  for (std::sregex_iterator it(text.begin(), text.end(), function), end;
       it != end; ++it)
    samples.push_back({(*it)[1].str(), "func.func @main" + (*it)[2].str()});
  return samples;
}

/// Those of the axes, with sizes for letters: 2, 3, 4, 5.
static std::vector<OperationSample>
axesSamplesWith(std::optional<size_t> changed, int64_t size) {
  int64_t sizes[4] = {2, 3, 4, 5};
  if (changed)
    sizes[*changed] = size;
  std::vector<OperationSample> samples;
  auto add = [&](const AxesSample &sample) {
    if (llvm::StringRef(sample.name).starts_with("chlo._"))
      return;
    samples.push_back({sample.name, sampleFunction(sample, sizes)});
  };
  for (const AxesSample &sample : axesSampleTexts())
    add(sample);
  for (const ElementwiseSamples &sample : elementwiseAxesSamples()) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(sample.names).split(names, ' ');
    for (llvm::StringRef name : names)
      add({name.str(), sample.attributes, sample.operands, sample.results});
  }
  return samples;
}

std::vector<OperationSample> operationSamples() {
  std::vector<OperationSample> samples = axesSamplesWith({}, 0);
  for (const char *file :
       {"/test/graph/nn-samples.mlir", "/test/graph/stablehlo/samples.mlir"})
    llvm::append_range(samples, samplesOf(file));
  return samples;
}

/// \p text with \p to for each dimension \p from of a tensor's type.
static std::string replaceSize(const std::string &text, const std::string &from,
                               const std::string &to) {
  static const std::regex tensor(R"(tensor<((?:[0-9?]+x)+))");
  std::string result;
  size_t last = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), tensor), end;
       it != end; ++it) {
    result += text.substr(last, it->position(1) - last);
    llvm::SmallVector<llvm::StringRef> sizes;
    const std::string list = (*it)[1].str();
    llvm::StringRef(list).drop_back().split(sizes, 'x');
    for (llvm::StringRef size : sizes)
      result += (size == from ? to : size.str()) + "x";
    last = it->position(1) + it->length(1);
  }
  return result + text.substr(last);
}

static std::vector<std::string> sizesOf(const std::string &text) {
  static const std::regex size(R"((\d+)(?=x))");
  std::map<std::string, bool> found;
  for (std::sregex_iterator it(text.begin(), text.end(), size), end; it != end;
       ++it)
    found[(*it)[1].str()] = true;
  std::vector<std::string> sizes;
  for (const auto &[each, ignored] : found)
    sizes.push_back(each);
  return sizes;
}

std::vector<OperationSample> samplesWithSize(const std::string &size) {
  std::vector<OperationSample> samples;
  auto add = [&](const OperationSample &sample, const std::string &from) {
    OperationSample changed{sample.name + " with " + size + " for " + from,
                            replaceSize(sample.text, from, size),
                            std::stoll(from)};
    if (changed.text != sample.text)
      samples.push_back(std::move(changed));
  };
  for (const OperationSample &sample : operationSamples())
    for (const std::string &from : sizesOf(sample.text))
      add(sample, from);
  if (size != "?")
    for (size_t letter = 0; letter < 4; ++letter)
      for (OperationSample &sample : axesSamplesWith(letter, std::stoll(size)))
        samples.push_back({sample.name + " with " + size + " for " +
                               std::string(1, static_cast<char>('A' + letter)),
                           std::move(sample.text)});
  return samples;
}

OperationSample withElement(OperationSample sample,
                            const std::string &element) {
  static const std::regex f32(R"(\bf32\b|(x)f32)");
  sample.text = std::regex_replace(sample.text, f32, "$1" + element);
  sample.name += " of " + element;
  return sample;
}

std::optional<Model> validModel(const std::string &text) {
  std::shared_ptr<MLIRContext> context = makeContext();
  // Whatever is wrong, it is no sample then.
  context->getDiagEngine().registerHandler([](Diagnostic &) {});
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    return std::nullopt;
  Model model(context, std::move(module));
  if (!model.entry() || !llvm::all_of(model.entry().getArgumentTypes(),
                                      llvm::IsaPred<RankedTensorType>))
    return std::nullopt;
  // The interpreter knows of chlo what it is made of.
  if (StringRef(text).contains("\"chlo.")) {
    Result<Model> made = decomposed(model);
    if (!made)
      return std::nullopt;
    return std::move(*made);
  }
  return model;
}

void setNumber(Tensor &tensor, int64_t place, double number) {
  const Tensor one = tensorOfDoubles(tensor.type(), {}, number);
  std::memcpy(tensor.mutableBytes() + place * one.bytes(), one.data(),
              one.bytes());
}

std::vector<Tensor> sampleInputs(const Model &model, int64_t unknown) {
  std::vector<Tensor> inputs;
  uint64_t seed = 1;
  for (const TensorSpec &spec : model.inputs()) {
    Shape shape = spec.shape;
    for (int64_t &size : shape)
      size = size < 0 ? unknown : size;
    inputs.emplace_back(spec.type, shape);
    fillRandom(inputs.back(), seed++);
    if (isInteger(spec.type))
      for (int64_t i = 0; i < inputs.back().size(); ++i)
        setNumber(inputs.back(), i, static_cast<double>(i % 2));
  }
  return inputs;
}

/// From now on LLVM's fatal errors stop guarded threads.
static void installHandler() {
  static const bool isInstalled = [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
      GuardedThread::stop(systemError(reason));
    });
    return true;
  }();
  static_cast<void>(isInstalled);
}

static Result<std::unique_ptr<Executor>> compile(Model model) {
  if (auto done = raiseQuantized(model); !done)
    return done.takeError();
  if (auto done = simplify(model); !done)
    return done.takeError();
  if (cpu::hasUnknownSizes(model.entry()))
    cpu::dropRepetitions(model.entry());
  if (auto done = raiseForKernels(model); !done)
    return done.takeError();
  cpu::CpuOptions options;
  options.threads = 1;
  Result<Program> program = cpu::compileForCpu(model, options);
  if (!program)
    return program.takeError();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

Result<std::unique_ptr<Executor>> compiledExecutor(const Model &model) {
  installHandler();
  std::optional<Result<std::unique_ptr<Executor>>> executor;
  if (Result<void> done =
          runGuarded([&] { executor.emplace(compile(model.clone())); });
      !done)
    return done.takeError();
  return std::move(*executor);
}

/// Replaces operations until none is left that is built of others.
static Result<void> decompose(Model &model) {
  while (true) {
    DecomposableOpInterface next;
    model.entry().walk([&](DecomposableOpInterface op) {
      next = op;
      return WalkResult::interrupt();
    });
    if (!next)
      return {};
    OpBuilder builder(next);
    auto values = next.decompose(builder);
    if (failed(values))
      return unsupported("no decomposition");
    for (auto [was, is] : llvm::zip_equal(next->getResults(), *values)) {
      was.replaceAllUsesWith(is);
    }
    next->erase();
  }
}

Result<Model> decomposed(const Model &model) {
  installHandler();
  Model copy = model.clone();
  Result<void> result = {};
  if (Result<void> done = runGuarded([&] { result = decompose(copy); }); !done)
    return done.takeError();
  if (!result)
    return result.takeError();
  return copy;
}

Result<std::vector<Tensor>> interpretGuarded(const Model &model,
                                             std::span<const Tensor> inputs) {
  installHandler();
  std::optional<Result<std::vector<Tensor>>> results;
  if (Result<void> done = runGuarded([&] {
        results.emplace(interpret(
            model.entry(), llvm::ArrayRef(inputs.data(), inputs.size())));
      });
      !done)
    return done.takeError();
  return std::move(*results);
}

} // namespace sinter::test
