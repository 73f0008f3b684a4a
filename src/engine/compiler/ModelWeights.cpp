//===- ModelWeights.cpp - the weights of a model, and where they are used -===//

#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/Simplification.h"
#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/Quantization.h"
#include "graph/WeightConstants.h"
#include "interpreter/Quantized.h"
#include "passes/Weight.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter {

UnnamedConstants unnamedOf(const Format &format) {
  return format.hasUnnamedConstants ? UnnamedConstants::OfTheFile
                                    : UnnamedConstants::MadeByReader;
}

/// \p weight in the shape of the operand that it is of \p at.
static std::optional<WeightFacts> weightFacts(const Weight &weight,
                                              Operation *at) {
  std::optional<std::vector<double>> numbers = weight.numbers();
  if (!numbers)
    return std::nullopt;
  return WeightFacts{weight.name(), originOf(at),
                     at->getName().getStringRef().str(),
                     tensorOfDoubles(weight.type(), weight.shape(), *numbers)};
}

/// The real values of a constant of quantised elements.
static std::optional<WeightFacts> dequantizedWeight(Value value,
                                                    Operation *at) {
  std::optional<Tensor> elements = constantTensor(value);
  if (!elements || !quantizedOf(value.getType()))
    return std::nullopt;
  Result<Tensor> numbers = interpreter::dequantized(*elements, value.getType());
  if (!numbers)
    return std::nullopt;
  return WeightFacts{constantName(value).str(), originOf(at),
                     at->getName().getStringRef().str(), std::move(*numbers)};
}

/// The constant that is added to the result of \p product, and nothing else is
/// done with it.
static std::optional<Weight> biasOf(Operation *product) {
  Value result = product->getResult(0);
  while (result.hasOneUse() &&
         isa<stablehlo::ReshapeOp>(*result.getUsers().begin()))
    result = (*result.getUsers().begin())->getResult(0);
  if (!result.hasOneUse())
    return std::nullopt;
  OpOperand &use = *result.use_begin();
  if (!isa<stablehlo::AddOp>(use.getOwner()))
    return std::nullopt;
  Value bias = use.getOwner()->getOperand(1 - use.getOperandNumber());
  while (std::optional<Broadcast> broadcast = Broadcast::of(bias))
    bias = broadcast->operand;
  return Weight::find(bias);
}

/// The constant operands of the matmuls and convolutions of \p entry, and their
/// biases.
static std::vector<WeightFacts> productWeights(func::FuncOp entry) {
  std::vector<WeightFacts> all;
  const auto add = [&](std::optional<WeightFacts> facts) {
    if (facts)
      all.push_back(std::move(*facts));
  };
  entry.walk([&](Operation *op) {
    if (!isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op))
      return;
    const size_t before = all.size();
    for (Value operand : op->getOperands())
      if (std::optional<Weight> weight = Weight::find(operand))
        add(weightFacts(*weight, op));
      else
        add(dequantizedWeight(operand, op));
    if (all.size() == before)
      return;
    if (std::optional<Weight> bias = biasOf(op))
      add(weightFacts(*bias, op));
  });
  return all;
}

static std::vector<WeightFacts> storedWeights(func::FuncOp entry,
                                              UnnamedConstants unnamed) {
  std::vector<WeightFacts> all;
  for (WeightConstant &each : weightConstants(entry, unnamed)) {
    Value value = each.constant.getResult();
    if (value.use_empty())
      continue;
    // The earliest user; use lists have no order.
    Operation *first = nullptr;
    for (Operation *user : value.getUsers())
      if (Operation *own = entry.front().findAncestorOpInBlock(*user))
        if (!first || own->isBeforeInBlock(first))
          first = own;
    if (first)
      all.push_back({each.name, originOf(first),
                     first->getName().getStringRef().str(),
                     constantTensor(value)->owned()});
  }
  return all;
}

/// Whether values of \p model, whose quantisation was raised, are quantised: it
/// has quantised types, or stores matrices of integers of 8 bits or fewer.
static bool isQuantizedModel(Model &model) {
  return model.module()
      ->walk([](Operation *op) {
        for (Type type : op->getResultTypes())
          if (quantizedOf(type))
            return WalkResult::interrupt();
        auto constant = dyn_cast<stablehlo::ConstantOp>(op);
        if (!constant || constantName(constant.getResult()).empty())
          return WalkResult::advance();
        auto type = tensorOf(constant.getResult());
        const bool isNarrow = type.getElementType().isIntOrIndex() &&
                              !type.getElementType().isIndex() &&
                              type.getElementTypeBitWidth() <= 8 &&
                              type.getElementTypeBitWidth() > 1;
        return isNarrow && type.getRank() > 1 ? WalkResult::interrupt()
                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

Result<ModelWeights> MlirCompilerModel::weights(const CompileRequest &request,
                                                bool folds) {
  Result<Model> model = modelFor(request);
  if (!model)
    return model.takeError();
  ModelWeights found;
  found.stored = storedWeights(model->entry(), unnamedOf(source->format()));
  Model raised = model->clone();
  if (Result<void> done = raiseQuantizeOperators(raised); !done)
    return done.takeError();
  found.isQuantized = isQuantizedModel(raised);
  if (!folds)
    return found;
  SimplifyOptions options;
  options.constantByteLimit = std::numeric_limits<int64_t>::max();
  options.cancellation = request.passes.cancellation;
  // The scales of spelled-out dequantisation would be moved away from weights.
  Model &folded = found.isQuantized ? raised : *model;
  if (Result<SimplifyReport> done = simplify(folded, options); !done)
    return done.takeError();
  found.folded = productWeights(folded.entry());
  return found;
}

} // namespace sinter
