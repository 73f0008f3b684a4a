#include "graph/gradient/Gradient.h"

#include "graph/interfaces/Interfaces.h"
#include "llvm/ADT/SetVector.h"

#include "graph/interfaces/Differentiable.cpp.inc"

using namespace mlir;

namespace sinter {

void attachGradients(MLIRContext *context) {
  gradient::attachElementwise(context);
  gradient::attachMovement(context);
  gradient::attachIndexing(context);
  gradient::attachProducts(context);
  gradient::attachReductions(context);
}

StringRef gradient::combinerOf(Region &region) {
  if (!region.hasOneBlock())
    return "";
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return "";
  Operation &op = block.front(), &end = block.back();
  bool combines = op.getNumOperands() == 2 && op.getNumResults() == 1 &&
                  end.getNumOperands() == 1 &&
                  end.getOperand(0) == op.getResult(0) &&
                  llvm::is_contained(op.getOperands(), block.getArgument(0)) &&
                  llvm::is_contained(op.getOperands(), block.getArgument(1));
  return combines ? op.getName().getStringRef() : "";
}

namespace {

/// One walk back through a block.
class Backpropagation {
public:
  Backpropagation(OpBuilder &builder, ValueRange inputs)
      : builder(builder), inputs(inputs.begin(), inputs.end()) {}

  FailureOr<SmallVector<Value>> run(ValueRange outputs, ValueRange seeds) {
    for (auto [output, seed] : llvm::zip_equal(outputs, seeds))
      add(output, seed);
    for (Operation *op : operationsBehind(outputs))
      if (failed(step(op)))
        return failure();
    SmallVector<Value> gradients;
    for (Value input : inputs)
      gradients.push_back(gradientOf.lookup(input));
    return gradients;
  }

private:
  void add(Value value, Value gradient) {
    if (!gradient)
      return;
    Value &sum = gradientOf[value];
    sum =
        sum ? builder.create<stablehlo::AddOp>(gradient.getLoc(), sum, gradient)
                  .getResult()
            : gradient;
  }

  /// The operations between the inputs and the outputs, the last first.
  SmallVector<Operation *> operationsBehind(ValueRange outputs) {
    llvm::SetVector<Operation *> found;
    SmallVector<Value> open(outputs);
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || llvm::is_contained(inputs, value) || !found.insert(op))
        continue;
      llvm::append_range(open, op->getOperands());
    }
    // What does not lead to an input needs no gradient.
    SmallVector<Operation *> ordered(found.begin(), found.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    llvm::DenseSet<Value> leading(inputs.begin(), inputs.end());
    SmallVector<Operation *> needed;
    for (Operation *op : ordered)
      if (llvm::any_of(op->getOperands(), [&](Value operand) {
            return leading.contains(operand);
          })) {
        leading.insert(op->result_begin(), op->result_end());
        needed.push_back(op);
      }
    std::reverse(needed.begin(), needed.end());
    return needed;
  }

  LogicalResult step(Operation *op) {
    SmallVector<Value> known;
    for (Value result : op->getResults())
      known.push_back(gradientOf.lookup(result));
    if (llvm::none_of(known, [](Value each) { return bool(each); }))
      return success();
    auto gradients = gradientsOf(op, known);
    if (failed(gradients))
      return op->emitOpError("has no gradient");
    for (auto [operand, gradient] :
         llvm::zip_equal(op->getOperands(), *gradients))
      add(operand, gradient);
    return success();
  }

  FailureOr<SmallVector<Value>> gradientsOf(Operation *op,
                                            ArrayRef<Value> known) {
    if (auto direct = dyn_cast<DifferentiableOpInterface>(op))
      return direct.buildGradients(builder, known);
    auto composed = dyn_cast<DecomposableOpInterface>(op);
    if (!composed)
      return failure();
    OpBuilder before(op);
    auto results = composed.decompose(before);
    if (failed(results))
      return failure();
    SmallVector<Value> outputs, seeds;
    for (auto [result, gradient] : llvm::zip_equal(*results, known))
      if (gradient) {
        outputs.push_back(result);
        seeds.push_back(gradient);
      }
    // An operand may be there twice, and its gradient counts once.
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    auto gradients =
        backpropagate(builder, outputs, seeds, operands.getArrayRef());
    if (failed(gradients))
      return failure();
    SmallVector<Value> all;
    llvm::DenseSet<Value> told;
    for (Value operand : op->getOperands())
      all.push_back(
          told.insert(operand).second
              ? (*gradients)[llvm::find(operands, operand) - operands.begin()]
              : Value());
    return all;
  }

  OpBuilder &builder;
  SmallVector<Value> inputs;
  DenseMap<Value, Value> gradientOf;
};

} // namespace

FailureOr<SmallVector<Value>> backpropagate(OpBuilder &builder,
                                            ValueRange outputs,
                                            ValueRange seeds,
                                            ValueRange inputs) {
  return Backpropagation(builder, inputs).run(outputs, seeds);
}

} // namespace sinter
