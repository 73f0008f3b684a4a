//===- Differentiate.cpp - a function that also returns gradients ---------===//

#include "autodiff/Differentiate.h"

#include "autodiff/BoundLoops.h"
#include "autodiff/Recompute.h"
#include "graph/Model.h"
#include "graph/gradient/Gradient.h"
#include "graph/stablehlo/OpenTuples.h"

using namespace mlir;

namespace sinter::autodiff {

/// Fails unless \p value can have a gradient, as result or as argument.
static LogicalResult checkDifferentiable(func::FuncOp function, Value value,
                                         const char *what, unsigned number) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.hasStaticShape() && isa<FloatType>(type.getElementType()))
    return success();
  return function.emitError()
         << what << " " << number << " is a " << value.getType()
         << ": only tensors of floating-point numbers of known sizes have "
            "gradients";
}

FailureOr<SmallVector<Value>> buildGradients(func::FuncOp function,
                                             ValueRange results,
                                             ValueRange arguments) {
  for (auto [number, value] : llvm::enumerate(results))
    if (failed(checkDifferentiable(function, value, "result", number)))
      return failure();
  for (auto [number, value] : llvm::enumerate(arguments))
    if (failed(checkDifferentiable(function, value, "argument", number)))
      return failure();
  OpBuilder builder(function.front().getTerminator());
  SmallVector<Value> seeds;
  for (Value result : results)
    seeds.push_back(
        nn::TensorBuilder(builder, result.getLoc()).splat(1, tensorOf(result)));
  auto gradients = backpropagate(builder, results, seeds, arguments);
  if (failed(gradients))
    return failure();
  for (auto [argument, gradient] : llvm::zip_equal(arguments, *gradients))
    if (!gradient)
      gradient = nn::TensorBuilder(builder, argument.getLoc())
                     .splat(0, tensorOf(argument));
  return gradients;
}

namespace {
struct Differentiate : PassWrapper<Differentiate, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Differentiate)
  Differentiate() = default;
  Differentiate(const Differentiate &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "differentiate"; }
  StringRef getDescription() const final {
    return "Append gradients to the results of the entry function";
  }

  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect, stablehlo::StablehloDialect>();
  }

  void runOnOperation() final {
    func::FuncOp entry = entryOf(getOperation());
    if (!entry) {
      getOperation().emitError(whyNoEntry(getOperation()));
      return signalPassFailure();
    }
    if (failed(differentiate(entry)))
      signalPassFailure();
  }

  LogicalResult differentiate(func::FuncOp entry) {
    inlineFutures(entry);
    openTuples(entry);
    if (mostTrips > 0)
      boundLoops(entry, mostTrips);
    Operation *end = entry.front().getTerminator();
    SmallVector<Value> from, by;
    for (unsigned number : results) {
      if (number >= end->getNumOperands())
        return entry.emitError() << "there is no result " << number;
      from.push_back(end->getOperand(number));
    }
    for (unsigned number : arguments) {
      if (number >= entry.getNumArguments())
        return entry.emitError() << "there is no argument " << number;
      by.push_back(entry.getArgument(number));
    }
    if (results.empty() && end->getNumOperands() != 0)
      from.push_back(end->getOperand(0));
    if (arguments.empty())
      for (Value argument : entry.getArguments())
        if (isa<RankedTensorType>(argument.getType()) &&
            gradient::isDifferentiable(argument))
          by.push_back(argument);
    Operation *last = end->getPrevNode();
    auto gradients = buildGradients(entry, from, by);
    if (failed(gradients))
      return failure();
    for (Value gradient : *gradients) {
      entry.insertResult(entry.getNumResults(), gradient.getType(), {});
      end->insertOperands(end->getNumOperands(), gradient);
    }
    return memoryLimit && last ? limitMemory(entry, last) : success();
  }

  LogicalResult limitMemory(func::FuncOp entry, Operation *last) {
    const std::vector<RecomputeEstimate> plans = recomputePlans(entry, last);
    for (const RecomputeEstimate &each : plans)
      if (each.peakBytes <= static_cast<double>(memoryLimit)) {
        recompute(entry, last, each.plan);
        return success();
      }
    return entry.emitError()
           << "memory-limit: the values that live at one time take at least "
           << static_cast<uint64_t>(plans.back().peakBytes) << " bytes";
  }

  ListOption<unsigned> results{*this, "results",
                               llvm::cl::desc("what is differentiated")};
  ListOption<unsigned> arguments{*this, "arguments", llvm::cl::desc("by what")};
  Option<uint64_t> memoryLimit{
      *this, "memory-limit", llvm::cl::init(0),
      llvm::cl::desc("how many bytes may live at one time; 0: any")};
  Option<int64_t> mostTrips{
      *this, "max-trips",
      llvm::cl::desc("how often loops run at most where that is not known"),
      llvm::cl::init(0)};
};
} // namespace

std::unique_ptr<Pass> createDifferentiate() {
  return std::make_unique<Differentiate>();
}

} // namespace sinter::autodiff
