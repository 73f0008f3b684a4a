#include "engine/compiler/ExtractChecks.h"

#include "graph/Constants.h"
#include "graph/check/CheckOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/InlineCalls.h"

#include <map>

using namespace mlir;

namespace sinter {

namespace {

class Extraction {
public:
  Extraction(func::FuncOp function, const std::vector<Tensor> &arguments)
      : function(function), body(function.getBody().front()) {
    extracted.inputs = arguments;
  }

  Result<ExtractedChecks> run() {
    for (Operation &op : llvm::make_early_inc_range(body))
      if (Result<void> done = takeOut(op); !done)
        return done.takeError();
    Operation *terminator = body.getTerminator();
    terminator->setOperands(results);
    makeInputs();
    function.setFunctionType(FunctionType::get(function.getContext(),
                                               body.getArgumentTypes(),
                                               ValueRange(results).getTypes()));
    function.removeResAttrsAttr();
    return std::move(extracted);
  }

private:
  Result<void> takeOut(Operation &op) {
    if (const std::optional<check::Check> found = check::checkOf(&op))
      return takeCheck(op, *found);
    if (auto probe = dyn_cast<check::ProbeOp>(op)) {
      probes[probe.getProbeId()].push_back(probe.getOperand());
      probe.replaceAllUsesWith(probe.getOperand());
      probe.erase();
      return {};
    }
    if (auto serialized = dyn_cast<check::ExpectSerializedEqOp>(op))
      return takeSerialized(serialized);
    if (isa<check::PrintOp>(op)) {
      op.erase();
      return {};
    }
    return refuseNested(op);
  }

  Result<void> takeCheck(Operation &op, const check::Check &found) {
    ExtractedCheck check;
    check.expectation = found.expectation;
    if (found.constant) {
      check.expectedValues = toTensor(found.constant);
      if (!check.expectedValues)
        return unsupported("cannot read what is expected");
      check.got = resultOf(op.getOperand(0));
    } else {
      check.got = resultOf(op.getOperand(found.expectedFirst ? 1 : 0));
      check.expected = resultOf(op.getOperand(found.expectedFirst ? 0 : 1));
    }
    extracted.checks.push_back(std::move(check));
    if (op.getNumResults() == 1 && !op.getResult(0).use_empty()) {
      OpBuilder builder(&op);
      Tensor isGood(ElementType::I1, {});
      isGood.set<uint8_t>(0, 1);
      op.getResult(0).replaceAllUsesWith(
          makeConstant(builder, op.getLoc(), isGood));
    }
    op.erase();
    return {};
  }

  Result<void> takeSerialized(check::ExpectSerializedEqOp op) {
    const SmallVector<Value> &seen = probes[op.getProbeId()];
    if (op.getIteration() >= seen.size())
      return Error{ErrorKind::WrongResult,
                   "the probe '" + op.getProbeId().str() + "' has run " +
                       std::to_string(seen.size()) + " times"};
    ExtractedCheck check;
    check.got = resultOf(seen[op.getIteration()]);
    check.expected = resultOf(op.getExpected());
    extracted.checks.push_back(std::move(check));
    op.erase();
    return {};
  }

  Result<void> refuseNested(Operation &op) {
    Result<void> done;
    op.walk([&](Operation *inner) {
      if (!check::checkOf(inner) &&
          !isa<check::CheckDialect, check::InterpreterDialect>(
              inner->getDialect()))
        return WalkResult::advance();
      done = unsupported(inner->getName().getStringRef().str() +
                         (inner == &op ? "" : " in a region") +
                         " runs on the interpreter only");
      return WalkResult::interrupt();
    });
    return done;
  }

  size_t resultOf(Value value) {
    const auto *known = llvm::find(results, value);
    const size_t number = known - results.begin();
    if (known == results.end())
      results.push_back(value);
    return number;
  }

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  void makeInputs() {
    llvm::DenseSet<Operation *> shapes = decidingShapes();
    for (Operation &op : llvm::make_early_inc_range(body)) {
      auto constant = dyn_cast<stablehlo::ConstantOp>(op);
      if (!constant || shapes.contains(constant) ||
          cast<ShapedType>(constant.getType()).getNumElements() < 2)
        continue;
      std::optional<Tensor> values = toTensor(constant.getValue());
      if (!values ||
          isa<quant::QuantizedType>(getElementTypeOrSelf(constant.getType())))
        continue;
      constant.replaceAllUsesWith(
          body.addArgument(constant.getType(), constant.getLoc()));
      for (Value &result : results)
        if (result == constant.getResult())
          result = body.getArguments().back();
      constant.erase();
      extracted.inputs.push_back(values->owned());
    }
  }

  /// Everything that an operand of integers leads back to, if its user's result
  /// has a shape that is not known without it.
  llvm::DenseSet<Operation *> decidingShapes() {
    llvm::DenseSet<Operation *> found;
    SmallVector<Value> open;
    function.walk([&](Operation *op) {
      const bool isStatic = llvm::all_of(op->getResultTypes(), [](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        return !shaped || shaped.hasStaticShape();
      });
      const bool resizes =
          op->getName().getStringRef().contains("dynamic_") &&
          !isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp>(op);
      if (!isStatic || resizes)
        for (Value operand : op->getOperands())
          if (getElementTypeOrSelf(operand.getType()).isIntOrIndex())
            open.push_back(operand);
    });
    while (!open.empty()) {
      Operation *op = open.pop_back_val().getDefiningOp();
      if (op && found.insert(op).second)
        llvm::append_range(open, op->getOperands());
    }
    return found;
  }

  func::FuncOp function;
  Block &body;
  ExtractedChecks extracted;
  SmallVector<Value> results;
  std::map<StringRef, SmallVector<Value>> probes;
};

} // namespace

Result<ExtractedChecks> extractChecks(Model &model,
                                      const std::vector<Tensor> &arguments) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel("there is no function @main with one block");
  if (Result<void> done = inlineCalls(function); !done)
    return done.takeError();
  return Extraction(function, arguments).run();
}

} // namespace sinter
