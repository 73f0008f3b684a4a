//===- CompareWithInterpreter.cpp - the oracle judges the backend ---------===//

#include "backend/cpu/CompareWithInterpreter.h"

#include "interpreter/Interpreter.h"
#include "passes/Pipelines.h"
#include "runtime/ElementDispatch.h"
#include "runtime/Program.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <complex>

using namespace mlir;
using namespace sinter;

Model test::parseModel(const std::string &body) {
  std::shared_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>("func.func @main" + body, context.get());
  return Model(context, std::move(module));
}

/// Element \p i as a complex number, which holds every other.
static std::complex<double> valueAt(const Tensor &tensor, int64_t i) {
  return dispatch(tensor.type(), [&](auto tag) -> std::complex<double> {
    using T = typename decltype(tag)::type;
    T value = tensor.at<T>(i);
    if constexpr (isStdComplex<T>)
      return {double(value.real()), double(value.imag())};
    else
      return {double(value), 0};
  });
}

static bool isClose(double got, double expected, test::Tolerance tolerance) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got))
    return got == expected;
  return std::abs(got - expected) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

static std::string compare(const Tensor &got, const Tensor &expected,
                           test::Tolerance tolerance) {
  if (got.type() != expected.type() || got.shape() != expected.shape())
    return "the types differ";
  for (int64_t i = 0; i < got.size(); ++i) {
    std::complex<double> a = valueAt(got, i), b = valueAt(expected, i);
    if (!isClose(a.real(), b.real(), tolerance) ||
        !isClose(a.imag(), b.imag(), tolerance))
      return "element " + std::to_string(i) + " is " +
             std::to_string(a.real()) + " instead of " +
             std::to_string(b.real());
  }
  return "";
}

static Result<Program> compileAsGiven(const std::string &body,
                                      const cpu::CpuOptions &options) {
  return cpu::compileForCpu(test::parseModel(body), options);
}

Result<Program> test::compileRaised(const std::string &body,
                                    const cpu::CpuOptions &options) {
  Model model = parseModel(body);
  if (auto done = simplify(model); !done)
    return done.takeError();
  if (auto done = raiseForKernels(model); !done)
    return done.takeError();
  return cpu::compileForCpu(model, options);
}

static std::string
compareWithInterpreter(const std::string &body, test::Tolerance tolerance,
                       decltype(&test::compileRaised) compile,
                       std::shared_ptr<Program> *compiled,
                       cpu::CpuOptions options = {}) {
  Model model = test::parseModel(body);
  if (!model.entry())
    return "the text does not parse: " + body;
  std::vector<Tensor> inputs;
  uint64_t seed = 1;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, spec.shape);
    fillRandom(inputs.back(), seed++);
  }
  Result<std::vector<Tensor>> expected = interpret(model.entry(), inputs);
  if (!expected)
    return "interpreter: " + expected.error().message();

  options.threads = 1;
  if (const char *folder = std::getenv("SINTER_DUMP")) {
    options.dumpFolder = folder;
    options.passes.printIrAfter = {"all"};
  }
  Result<Program> program = compile(body, options);
  if (!program)
    return "compiler: " + program.error().message();
  auto shared = std::make_shared<Program>(std::move(*program));
  if (compiled)
    *compiled = shared;
  std::vector<Tensor> first;
  for (unsigned threads : {1, 2}) {
    Result<std::unique_ptr<ProgramExecutor>> executor =
        ProgramExecutor::create(shared, std::make_shared<ThreadPool>(threads));
    if (!executor)
      return "executor: " + executor.error().message();
    Result<std::vector<Tensor>> got = (*executor)->run(inputs);
    if (!got)
      return "run: " + got.error().message();
    for (size_t i = 0; i < got->size(); ++i) {
      if (std::string what = compare((*got)[i], (*expected)[i], tolerance);
          !what.empty())
        return "result " + std::to_string(i) + " on " +
               std::to_string(threads) + " threads: " + what;
      if (threads == 2 &&
          std::memcmp((*got)[i].data(), first[i].data(), first[i].bytes()) != 0)
        return "two threads give other bits than one";
    }
    first = std::move(*got);
  }
  return "";
}

std::string test::differs(const std::string &body, Tolerance tolerance,
                          std::shared_ptr<Program> *compiled,
                          const std::optional<cpu::Target> &target) {
  cpu::CpuOptions options;
  options.target = target;
  return differsWith(body, tolerance, options, compiled);
}

std::string test::differsWith(const std::string &body, Tolerance tolerance,
                              const cpu::CpuOptions &options,
                              std::shared_ptr<Program> *compiled) {
  return compareWithInterpreter(body, tolerance, compileAsGiven, compiled,
                                options);
}

std::vector<cpu::Target> test::lesserTargets() {
  std::vector<cpu::Target> targets;
  const int64_t lanes = cpu::Target::host()->f32Lanes;
  for (auto [least, name] :
       {std::pair(16, "x86-64-v4"), std::pair(8, "x86-64-v3"),
        std::pair(8, "x86-64-v2")})
    if (lanes >= least)
      targets.push_back(*cpu::Target::named("", name, ""));
  return targets;
}

std::string test::differsRaised(const std::string &body, Tolerance tolerance,
                                std::shared_ptr<Program> *compiled,
                                const cpu::CpuOptions &options) {
  return compareWithInterpreter(body, tolerance, compileRaised, compiled,
                                options);
}
