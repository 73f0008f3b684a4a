//===- Checks.cpp - expectations, probes, printing ------------------------===//

#include "graph/Constants.h"
#include "graph/check/CheckOps.h"
#include "graph/nn/NnAssume.h"
#include "graph/sdy/DropShardings.h"
#include "interpreter/CustomCalls.h"
#include "interpreter/Environment.h"
#include "runtime/TensorText.h"

using namespace mlir;

namespace sinter::interpreter {

Result<Tensors> evaluateCheck(const Call &call) {
  const std::optional<check::Check> wanted = check::checkOf(call.op);
  if (!wanted)
    return invalidModel("a check takes a value and what is expected");
  Tensor got = call[0], expected;
  if (wanted->constant) {
    std::optional<Tensor> constant = toTensor(wanted->constant);
    if (!constant)
      return unsupported("cannot read what is expected");
    expected = std::move(*constant);
  } else {
    expected = call[1];
  }
  if (wanted->expectedFirst)
    std::swap(got, expected);
  if (Result<void> good = expect(got, expected, wanted->expectation); !good)
    return good.takeError();
  Tensors results;
  if (call.op->getNumResults() == 1) {
    results.emplace_back(ElementType::I1, Shape{});
    results.front().set<uint8_t>(0, 1);
  }
  return results;
}

static Result<Tensors> evaluateAssume(const Call &call) {
  auto op = call.as<nn::AssumeOp>();
  if ((call[0].toInteger(0) != 0) == op.getHolds())
    return Tensors();
  return unsupported("the graph is for one branch of '" + op.getNode().str() +
                     "' only, and the other one is taken");
}

static Result<Tensors> evaluateProbe(const Call &call) {
  auto op = call.as<check::ProbeOp>();
  Environment &environment = environmentOf(call);
  if (environment.observer)
    environment.observer(op.getProbeId(), call[0]);
  if (!op.getProbeId().starts_with(observedPrefix))
    (*environment.probes)[op.getProbeId().str()].push_back(call[0]);
  return single(call[0]);
}

static Result<Tensors> evaluateSerialized(const Call &call) {
  auto op = call.as<check::ExpectSerializedEqOp>();
  const Probes &probes = *environmentOf(call).probes;
  const auto seen = probes.find(op.getProbeId().str());
  const size_t count = seen == probes.end() ? 0 : seen->second.size();
  if (op.getIteration() >= count)
    return Error{ErrorKind::WrongResult, "the probe '" + op.getProbeId().str() +
                                             "' has run " +
                                             std::to_string(count) + " times"};
  Result<void> good =
      expect(seen->second[op.getIteration()], call[0], Expectation::equal());
  if (!good)
    return good.takeError();
  return Tensors();
}

static Result<Tensors> evaluatePrint(const Call &call) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  call.op->getOperand(0).printAsOperand(stream, OpPrintingFlags());
  environmentOf(call).print(oneLine(name) + " = " + tensorText(call[0]) + "\n");
  return Tensors();
}

/// An operation that asserts something about its operand, and returns it.
static Result<Tensors> evaluateIdentity(const Call &call) {
  return single(call[0]);
}

static Result<Tensors> evaluateNothing(const Call &) { return Tensors(); }

static Result<Tensors> evaluateManualComputation(const Call &call) {
  auto op = call.as<sdy::ManualComputationOp>();
  if (!sdy::isOnWholeTensors(op))
    return unsupported("computes on shards of its operands, one per device");
  return runRegion(op.getBody(),
                   Tensors(call.operands.begin(), call.operands.end()),
                   call.scope);
}

void registerChecks(Registry &registry) {
  for (llvm::StringRef name : {check::ExpectEqOp::getOperationName(),
                               check::ExpectEqConstOp::getOperationName(),
                               check::ExpectAlmostEqOp::getOperationName(),
                               check::ExpectAlmostEqConstOp::getOperationName(),
                               check::ExpectCloseOp::getOperationName()})
    registry.addStored(name, evaluateCheck);
  registry.addStored<check::ExpectSerializedEqOp>(evaluateSerialized);
  registry.add<nn::AssumeOp>(evaluateAssume);
  registry.addStored<check::ProbeOp>(evaluateProbe);
  registry.addStored<check::PrintOp>(evaluatePrint);
  registry.addStored<sdy::ShardingConstraintOp>(evaluateIdentity);
  registry.addStored<sdy::ReshardOp>(evaluateIdentity);
  registry.addStored<sdy::ShardingGroupOp>(evaluateNothing);
  registry.addStored<sdy::ManualComputationOp>(evaluateManualComputation);
}

} // namespace sinter::interpreter
