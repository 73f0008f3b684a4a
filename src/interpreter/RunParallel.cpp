//===- RunParallel.cpp - the processes of interpreter.run_parallel --------===//

#include "graph/check/CheckOps.h"
#include "interpreter/Environment.h"
#include "interpreter/Evaluation.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/ThreadGroup.h"

#include <mutex>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// A process's function, arguments and results.
struct Program {
  func::FuncOp function;
  Tensors arguments, results;
};

} // namespace

/// The programs in the order of the ranks, each with its arguments.
static std::vector<Program> programsOf(const Call &call) {
  auto op = call.as<check::RunParallelOp>();
  std::vector<Program> programs;
  size_t next = 0;
  for (Attribute replica : op.getPrograms())
    for (Attribute name : cast<ArrayAttr>(replica)) {
      Program program;
      program.function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          op, cast<FlatSymbolRefAttr>(name).getAttr());
      const size_t count = program.function.getNumArguments();
      ArrayRef<Tensor> arguments = call.operands.slice(next, count);
      program.arguments.assign(arguments.begin(), arguments.end());
      next += count;
      programs.push_back(std::move(program));
    }
  return programs;
}

/// The limit on nesting of run_parallel.
static constexpr unsigned mostNested = 16;

/// The results of the functions of `infeed`, each a list of values.
static Result<std::deque<Tensors>> infeedOf(const Call &call) {
  auto op = call.as<check::RunParallelOp>();
  std::deque<Tensors> infeed;
  const ArrayAttr names = op.getInfeedAttr();
  if (!names)
    return infeed;
  for (auto name : names.getAsRange<FlatSymbolRefAttr>()) {
    auto function =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name.getAttr());
    Result<Tensors> values = callFunction(function, {}, call.scope.machine);
    if (!values)
      return values.takeError();
    infeed.push_back(std::move(*values));
  }
  return infeed;
}

/// Every process has a thread. They share the module, so only one runs at a
/// time, until it ends or waits for others.
static Result<Tensors> evaluateRunParallel(const Call &call) {
  auto op = call.as<check::RunParallelOp>();
  if (environmentOf(call).parallelDepth >= mostNested)
    return unsupported("processes run processes more than " +
                       std::to_string(mostNested) + " times over");
  std::vector<Program> programs = programsOf(call);
  Result<std::deque<Tensors>> infeed = infeedOf(call);
  if (!infeed)
    return infeed.takeError();
  const auto replicas = static_cast<uint32_t>(op.getPrograms().size());
  ThreadGroup group(
      {replicas, static_cast<uint32_t>(programs.size()) / replicas});
  std::mutex turn;
  group.setTurns([&] { turn.unlock(); }, [&] { turn.lock(); });
  const Environment &outer = environmentOf(call);
  Result<void> done = group.run([&](Communicator &communicator) {
    std::lock_guard<std::mutex> lock(turn);
    Program &program = programs[communicator.rank()];
    communicator.infeed = *infeed;
    Environment environment = outer;
    ++environment.parallelDepth;
    // The group owns it and outlives the call.
    environment.communicator =
        std::shared_ptr<Communicator>(std::shared_ptr<void>(), &communicator);
    Result<Tensors> results =
        interpret(program.function, program.arguments, {}, &environment);
    if (!results)
      return Result<void>(results.takeError());
    program.results = std::move(*results);
    return Result<void>();
  });
  if (!done)
    return done.takeError();
  Tensors all;
  for (Program &program : programs)
    for (Tensor &result : program.results)
      all.push_back(std::move(result));
  return all;
}

void registerRunParallel(Registry &registry) {
  registry.add<check::RunParallelOp>(evaluateRunParallel);
}

} // namespace sinter::interpreter
