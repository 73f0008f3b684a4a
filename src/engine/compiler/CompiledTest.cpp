#include "engine/compiler/CompiledTest.h"

#include "engine/compiler/LiftConstants.h"
#include "engine/compiler/MlirCompiler.h"
#include "graph/Constants.h"
#include "graph/check/CheckOps.h"
#include "passes/FlattenSignature.h"
#include "passes/InlineCalls.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/TensorText.h"
#include "runtime/ThreadGroup.h"

#include <map>
#include <mutex>

using namespace mlir;

namespace sinter {

namespace {

/// A program that another one runs, and which of its arguments and results are
/// tensors: tokens are left out.
struct ParallelProgram {
  std::string function;
  std::vector<bool> isTensorArgument, isTensorResult;
};

struct ParallelRun {
  ProcessGrid grid;
  /// By rank.
  std::vector<ParallelProgram> programs;
  std::vector<std::string> infeed;
};

class CompiledTest {
public:
  CompiledTest(const Model &original, const TestRequest &request)
      : model(original.clone()), request(request) {}

  Result<void> run(const std::string &name,
                   const std::vector<Tensor> &arguments) {
    if (Result<void> done = lowerOperations(); !done)
      return done;
    std::vector<Tensor> inputs = arguments;
    Result<Model> program = programOf(name);
    if (!program)
      return program.takeError();
    llvm::append_range(inputs, liftConstants(program->entry()));
    Result<Compiled> compiled = compile(std::move(*program));
    if (!compiled)
      return compiled.takeError();
    auto executor = executorOf(std::move(*compiled), request.threads);
    if (!executor)
      return executor.takeError();
    auto results = (*executor)->run(inputs);
    return results ? Result<void>() : results.takeError();
  }

private:
  using Compiled = std::shared_ptr<const Program>;

  //===--------------------------------------------------------------------===//
  // Operations as calls
  //===--------------------------------------------------------------------===//

  /// Of the functions' names.
  static constexpr const char *prefix = "test function ";

  Result<void> lowerOperations() {
    SmallVector<Operation *> found;
    bool usesNames = false;
    model.module().walk([&](Operation *op) {
      if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
        usesNames |= call.getCallTargetName().starts_with(prefix);
      if (check::checkOf(op) ||
          isa<check::CheckDialect, check::InterpreterDialect>(op->getDialect()))
        found.push_back(op);
    });
    if (usesNames)
      return unsupported(std::string("a program may not call '") + prefix +
                         "...' itself");
    for (Operation *op : found) {
      Result<HostFunction> function = functionOf(op);
      if (!function)
        return function.takeError();
      replace(op, std::move(*function));
    }
    return {};
  }

  Result<HostFunction> functionOf(Operation *op) {
    if (const std::optional<check::Check> found = check::checkOf(op))
      return checkFunction(*found);
    if (auto probe = dyn_cast<check::ProbeOp>(op))
      return HostFunction(
          [this, id = probe.getProbeId().str()](const HostCall &call) {
            std::lock_guard<std::mutex> lock(mutex);
            probes[id].push_back(call.inputs[0].owned());
            return Result<void>();
          });
    if (auto serialized = dyn_cast<check::ExpectSerializedEqOp>(op))
      return HostFunction(
          [this, id = serialized.getProbeId().str(),
           iteration = serialized.getIteration()](const HostCall &call) {
            return checkProbe(id, iteration, call.inputs[0]);
          });
    if (isa<check::PrintOp>(op)) {
      std::string name;
      llvm::raw_string_ostream stream(name);
      op->getOperand(0).printAsOperand(stream, OpPrintingFlags());
      return HostFunction([this, name](const HostCall &call) {
        print(name + " = " + tensorText(call.inputs[0]) + "\n");
        return Result<void>();
      });
    }
    if (auto parallel = dyn_cast<check::RunParallelOp>(op))
      return HostFunction([this, what = runOf(parallel)](const HostCall &call) {
        return runParallel(what, call);
      });
    return unsupported(op->getName().getStringRef().str() +
                       " runs on the interpreter only");
  }

  static Result<HostFunction> checkFunction(const check::Check &found) {
    std::optional<Tensor> constant;
    if (found.constant) {
      constant = toTensor(found.constant);
      if (!constant)
        return unsupported("cannot read what is expected");
      constant = constant->owned();
    }
    return HostFunction([constant, found](const HostCall &call) {
      const Tensor *got = &call.inputs[0];
      const Tensor *expected = constant ? &*constant : &call.inputs[1];
      if (found.expectedFirst)
        std::swap(got, expected);
      // A check's call returns true if it holds.
      for (Tensor &output : call.outputs)
        std::memset(output.mutableBytes(), 1, output.bytes());
      return expect(*got, *expected, found.expectation);
    });
  }

  /// A call of \p function instead of \p op. A probe's result is its operand.
  void replace(Operation *op, HostFunction function) {
    const std::string name = prefix + std::to_string(functions.size());
    OpBuilder builder(op);
    const bool isProbe = isa<check::ProbeOp>(op);
    auto call = builder.create<stablehlo::CustomCallOp>(
        op->getLoc(), isProbe ? TypeRange() : TypeRange(op->getResultTypes()),
        op->getOperands(),
        ArrayRef<NamedAttribute>{
            builder.getNamedAttr("call_target_name",
                                 builder.getStringAttr(name)),
            builder.getNamedAttr("has_side_effect",
                                 builder.getBoolAttr(true))});
    op->replaceAllUsesWith(isProbe ? ValueRange(op->getOperands())
                                   : ValueRange(call.getResults()));
    if (auto parallel = dyn_cast<check::RunParallelOp>(op))
      runs[name] = runOf(parallel);
    functions[name] = std::move(function);
    op->erase();
  }

  static ParallelRun runOf(check::RunParallelOp op) {
    const auto areTensors = [](TypeRange types) {
      std::vector<bool> are;
      for (Type type : types)
        are.push_back(isa<RankedTensorType>(type));
      return are;
    };
    ParallelRun run;
    run.grid.replicas = static_cast<uint32_t>(op.getPrograms().size());
    for (Attribute replica : op.getPrograms())
      for (Attribute name : cast<ArrayAttr>(replica)) {
        auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            op, cast<FlatSymbolRefAttr>(name).getAttr());
        run.programs.push_back({function.getName().str(),
                                areTensors(function.getArgumentTypes()),
                                areTensors(function.getResultTypes())});
      }
    run.grid.partitions =
        static_cast<uint32_t>(run.programs.size()) / run.grid.replicas;
    if (const ArrayAttr names = op.getInfeedAttr())
      for (auto name : names.getAsRange<FlatSymbolRefAttr>())
        run.infeed.push_back(name.getValue().str());
    return run;
  }

  //===--------------------------------------------------------------------===//
  // Compiling
  //===--------------------------------------------------------------------===//

  /// A module with that function as its entry.
  Result<Model> programOf(const std::string &name) {
    Model program = model.clone();
    auto function = program.module().lookupSymbol<func::FuncOp>(name);
    if (!function || function.isExternal() || !function.getBody().hasOneBlock())
      return invalidModel("there is no function '" + name + "' of one block");
    if (Result<void> done = inlineCalls(function); !done)
      return done.takeError();
    if (name != entryName) {
      if (Operation *other = program.module().lookupSymbol(entryName))
        other->erase();
      function.setName(entryName);
    }
    function.setPublic();
    flattenSignature(program);
    return program;
  }

  Result<Compiled> compile(Model program) {
    if (Result<void> done = compileParallel(program); !done)
      return done.takeError();
    CompileRequest compilation;
    compilation.passes = request.passes;
    static_cast<CodeOptions &>(compilation) = request;
    compilation.threads = request.threads;
    return compileModel(std::move(program), {}, compilation);
  }

  /// \p program's parallel functions are compiled first.
  Result<void> compileParallel(const Model &program) {
    SmallVector<std::string> needed;
    program.entry().walk([&](stablehlo::CustomCallOp call) {
      const auto run = runs.find(call.getCallTargetName().str());
      if (run == runs.end())
        return;
      for (const ParallelProgram &parallel : run->second.programs)
        needed.push_back(parallel.function);
      llvm::append_range(needed, run->second.infeed);
    });
    for (const std::string &name : needed) {
      auto [place, isNew] = programs.try_emplace(name);
      if (!isNew && !place->second)
        return unsupported("the function '" + name +
                           "' runs itself in parallel");
      if (!isNew)
        continue;
      Result<Model> source = programOf(name);
      if (!source)
        return source.takeError();
      Result<Compiled> compiled = compile(std::move(*source));
      if (!compiled)
        return compiled.takeError();
      programs[name] = std::move(*compiled);
    }
    return {};
  }

  Result<std::unique_ptr<ProgramExecutor>> executorOf(Compiled program,
                                                      unsigned threads) {
    ProgramExecutorOptions how;
    how.threads = threads;
    how.denormals = request.denormals;
    how.functions = functions;
    return ProgramExecutor::create(
        std::move(program), ThreadPool::ofProcess(threads), std::move(how));
  }

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  void print(const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex);
    if (request.print)
      request.print(text);
    else
      std::fputs(text.c_str(), stdout);
  }

  Result<void> checkProbe(const std::string &id, uint32_t iteration,
                          const Tensor &expected) {
    std::lock_guard<std::mutex> lock(mutex);
    const std::vector<Tensor> &seen = probes[id];
    if (iteration >= seen.size())
      return Error{ErrorKind::WrongResult, "the probe '" + id + "' has run " +
                                               std::to_string(seen.size()) +
                                               " times"};
    return expect(seen[iteration], expected, Expectation::equal());
  }

  Result<std::deque<Tensors>> infeedOf(const ParallelRun &what) {
    std::deque<Tensors> infeed;
    for (const std::string &name : what.infeed) {
      auto executor = executorOf(programs.at(name), 1);
      if (!executor)
        return executor.takeError();
      Result<std::vector<Tensor>> values = (*executor)->run({});
      if (!values)
        return values.takeError();
      infeed.push_back(std::move(*values));
    }
    return infeed;
  }

  Result<void> runParallel(const ParallelRun &what, const HostCall &call) {
    Result<std::deque<Tensors>> infeed = infeedOf(what);
    if (!infeed)
      return infeed.takeError();
    std::vector<std::unique_ptr<ProgramExecutor>> executors;
    std::vector<size_t> firstInputs, firstOutputs;
    size_t input = 0, output = 0;
    for (const ParallelProgram &program : what.programs) {
      auto executor = executorOf(programs.at(program.function), 1);
      if (!executor)
        return executor.takeError();
      executors.push_back(std::move(*executor));
      firstInputs.push_back(
          std::exchange(input, input + program.isTensorArgument.size()));
      firstOutputs.push_back(
          std::exchange(output, output + program.isTensorResult.size()));
    }
    return ThreadGroup(what.grid).run([&](Communicator &communicator) {
      const Rank rank = communicator.rank();
      communicator.infeed = *infeed;
      executors[rank]->setHostContext(&communicator);
      return runProcess(what.programs[rank], *executors[rank],
                        call.inputs.subspan(firstInputs[rank]),
                        call.outputs.subspan(firstOutputs[rank]));
    });
  }

  static Result<void> runProcess(const ParallelProgram &program,
                                 ProgramExecutor &executor,
                                 std::span<const Tensor> inputs,
                                 std::span<Tensor> outputs) {
    std::vector<Tensor> arguments;
    for (auto [i, isTensor] : llvm::enumerate(program.isTensorArgument))
      if (isTensor)
        arguments.push_back(inputs[i]);
    Result<std::vector<Tensor>> results = executor.run(arguments);
    if (!results)
      return results.takeError();
    size_t next = 0;
    for (auto [i, isTensor] : llvm::enumerate(program.isTensorResult))
      if (isTensor)
        std::memcpy(outputs[i].mutableBytes(), (*results)[next++].data(),
                    outputs[i].bytes());
    return {};
  }

  /// With all lowered operations as calls.
  Model model;
  const TestRequest &request;
  HostFunctionTable functions;
  /// By the name of the function that runs it.
  std::map<std::string, ParallelRun> runs;
  /// The functions that run in parallel, by name; null during compilation.
  std::map<std::string, Compiled> programs;
  /// Held while processes use shared state.
  std::mutex mutex;
  std::map<std::string, std::vector<Tensor>> probes;
};

} // namespace

Result<void> runCompiledTest(const Model &model, const std::string &function,
                             const std::vector<Tensor> &arguments,
                             const TestRequest &request) {
  return CompiledTest(model, request).run(function, arguments);
}

} // namespace sinter
