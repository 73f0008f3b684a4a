#include "backend/cpu/weights/ComputeWeights.h"

#include "backend/cpu/ir/OperationKind.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "runtime/MappedPages.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::cpu {

static constexpr size_t mostOperations = 64;
/// The greatest ratio of a computed weight's size to that of its constants.
static constexpr double mostGrowth = 4;

static double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<ElementType> element =
      type && type.hasStaticShape() ? elementTypeOf(type.getElementType())
                                    : std::nullopt;
  std::optional<int64_t> bytes =
      element ? byteCount(*element, type.getShape()) : std::nullopt;
  return bytes ? double(*bytes) : std::numeric_limits<double>::infinity();
}

/// Whether \p op is cheap per element.
static bool isComputable(Operation *op) {
  using namespace stablehlo;
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         (op->hasTrait<OpTrait::Elementwise>() ||
          isa<ConvertOp, SelectOp, ClampOp, ReshapeOp, TransposeOp,
              BroadcastInDimOp, IotaOp, SliceOp, ReverseOp, PadOp,
              ConcatenateOp, BitcastConvertOp>(op)) &&
         isMemoryEffectFree(op) && canEvaluate(op);
}

/// The operations that compute \p value, including constants, in topological
/// order; empty if it is not computed from constants.
static SmallVector<Operation *> sourcesOf(Value value) {
  llvm::SetVector<Operation *> found;
  const double most = mostGrowth * bytesOf(value);
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value each = open.pop_back_val();
    Operation *op = each.getDefiningOp();
    if (!op || found.size() == mostOperations || bytesOf(each) > most)
      return {};
    if (!found.insert(op) || isConstant(op))
      continue;
    if (!isComputable(op))
      return {};
    llvm::append_range(open, op->getOperands());
  }
  return found.takeVector();
}

/// A topological order of operations that may be in nested blocks.
static SmallVector<Operation *> inOrder(Value value,
                                        ArrayRef<Operation *> sources) {
  llvm::DenseSet<Operation *> left(sources.begin(), sources.end());
  SmallVector<Operation *> order;
  auto visit = [&](auto &self, Operation *op) -> void {
    if (!left.erase(op))
      return;
    for (Value operand : op->getOperands())
      self(self, operand.getDefiningOp());
    order.push_back(op);
  };
  visit(visit, value.getDefiningOp());
  return order;
}

bool isWeight(Value value) { return !sourcesOf(value).empty(); }

/// Evaluates \p order and returns \p value. Tensors are freed after their last
/// use.
static Result<Tensor> evaluateAll(ArrayRef<Operation *> order, Value value) {
  llvm::DenseMap<Value, unsigned> readers;
  for (Operation *op : order)
    for (Value operand : op->getOperands())
      ++readers[operand];
  llvm::DenseMap<Value, Tensor> known;
  for (Operation *op : order) {
    if (isConstant(op)) {
      Result<Tensor> tensor = weightValue(op->getResult(0));
      if (!tensor)
        return tensor;
      known.try_emplace(op->getResult(0), std::move(*tensor));
      continue;
    }
    std::vector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(known.find(operand)->second);
      if (--readers[operand] == 0)
        known.erase(operand);
    }
    Result<std::vector<Tensor>> results = evaluate(op, operands);
    if (!results)
      return results.takeError();
    // A weight in a mapped file is not used again.
    for (const Tensor &operand : operands)
      releasePages({operand.data(), operand.bytes()});
    known.try_emplace(op->getResult(0), std::move(results->front()));
  }
  return known.find(value)->second;
}

Result<Tensor> weightValue(Value value) {
  if (auto computed = value.getDefiningOp<ComputedConstantOp>()) {
    SmallVector<Operation *> order;
    Block &body = computed.getBody().front();
    for (Operation &op : body.without_terminator())
      order.push_back(&op);
    return evaluateAll(order, body.getTerminator()->getOperand(0));
  }
  if (std::optional<Tensor> tensor = constantTensor(value))
    return std::move(*tensor);
  return unsupported("a constant has no readable value");
}

std::optional<Tensor> computedWeight(Value value) {
  SmallVector<Operation *> sources = sourcesOf(value);
  if (sources.empty())
    return std::nullopt;
  Result<Tensor> tensor = evaluateAll(inOrder(value, sources), value);
  return tensor ? std::optional(std::move(*tensor)) : std::nullopt;
}

static constexpr llvm::StringLiteral kernelLabel = "compute-kernel",
                                     operandLabel = "compute-operand";

ArrayRef<PatternInfo> computeWeightsPatterns() {
  static const PatternInfo infos[] = {
      {kernelLabel, "convolution(x, convert(w)) -> convolution(x, w')",
       "cpu-compute-kernels"},
      {operandLabel,
       "dot_general(x, convert(w)) -> dot_general(x, cpu.computed_constant)",
       "cpu-compute-operands"}};
  return infos;
}

/// Replaces \p value by \p by.
static void replaceValue(PatternRun &run, StringRef label, Value value,
                         Value by) {
  run.count(label);
  run.replaced(label, value, by);
  value.replaceAllUsesWith(by);
  run.graphIsWhole(label);
}

void computeKernels(func::FuncOp function,
                    llvm::function_ref<bool(stablehlo::ConvolutionOp)> isRead,
                    PatternRun &run) {
  if (!run.isEnabled(kernelLabel))
    return;
  function.walk([&](stablehlo::ConvolutionOp op) {
    Operation *definition = op.getRhs().getDefiningOp();
    if (!definition || isConstant(definition) || isRead(op))
      return;
    SmallVector<Operation *> sources = sourcesOf(op.getRhs());
    if (sources.empty())
      return;
    // An error is left for the run to report.
    Result<Tensor> value =
        evaluateAll(inOrder(op.getRhs(), sources), op.getRhs());
    if (!value)
      return;
    OpBuilder builder(definition);
    StringRef name;
    for (Operation *source : sources)
      if (name.empty() && isa<stablehlo::ConstantOp>(source))
        name = constantName(source->getResult(0));
    Value constant = makeConstant(builder, definition->getLoc(), *value, name);
    replaceValue(run, kernelLabel, op.getRhs(), constant);
  });
}

Value computedLater(Value value) {
  Operation *definition = value.getDefiningOp();
  if (isConstant(definition))
    return value;
  OpBuilder builder(definition);
  auto computed =
      builder.create<ComputedConstantOp>(definition->getLoc(), value.getType());
  builder.createBlock(&computed.getBody());
  IRMapping mapping;
  for (Operation *source : inOrder(value, sourcesOf(value)))
    builder.clone(*source, mapping);
  builder.create<YieldOp>(definition->getLoc(), mapping.lookup(value));
  return computed.getResult();
}

void computeOperands(func::FuncOp function, int64_t byteLimit,
                     PatternRun &run) {
  if (!run.isEnabled(operandLabel))
    return;
  SmallVector<Value> found;
  function.walk([&](stablehlo::DotGeneralOp op) {
    llvm::append_range(found, op->getOperands());
  });
  for (Value value : found) {
    Operation *definition = value.getDefiningOp();
    if (!definition || isConstant(definition) || value.use_empty() ||
        bytesOf(value) <= double(byteLimit))
      continue;
    if (isWeight(value))
      replaceValue(run, operandLabel, value, computedLater(value));
  }
}

} // namespace sinter::cpu
