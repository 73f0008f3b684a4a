#include "graph/gradient/Gradient.h"

#include "graph/Quantization.h"
#include "graph/interfaces/Interfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

#include "graph/interfaces/Differentiable.cpp.inc"

using namespace mlir;

namespace sinter {

void attachGradients(MLIRContext *context) {
  gradient::attachAlgebra(context);
  gradient::attachComplex(context);
  gradient::attachControlFlow(context);
  gradient::attachDistribution(context);
  gradient::attachDraws(context);
  gradient::attachElementwise(context);
  gradient::attachMovement(context);
  gradient::attachIndexing(context);
  gradient::attachOrder(context);
  gradient::attachProducts(context);
  gradient::attachQuantized(context);
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

/// Backpropagation through one block.
class Backpropagation {
public:
  Backpropagation(OpBuilder &builder, ValueRange inputs)
      : builder(builder), inputs(inputs.begin(), inputs.end()),
        leading(inputs.begin(), inputs.end()) {}

  FailureOr<SmallVector<Value>> run(ValueRange outputs, ValueRange seeds) {
    for (auto [output, seed] : llvm::zip_equal(outputs, seeds))
      add(output, seed);
    for (Operation *op : operationsBefore(outputs))
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

  /// The operations of the block between the inputs and the outputs, in reverse
  /// order.
  SmallVector<Operation *> operationsBefore(ValueRange outputs) {
    llvm::DenseSet<Operation *> found;
    SmallVector<Value> open(outputs);
    Block *block = builder.getInsertionBlock();
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != block || leading.contains(value) ||
          !found.insert(op).second)
        continue;
      for (Value source : gradient::sourcesOf(op)) {
        open.push_back(source);
        if (Operation *before = source.getDefiningOp())
          userOf.try_emplace(before, op);
      }
    }
    SmallVector<Operation *> needed(found.begin(), found.end());
    llvm::sort(needed, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    // Operations that do not depend on an input need no gradient.
    llvm::erase_if(needed, [&](Operation *op) {
      bool leads = llvm::any_of(gradient::sourcesOf(op), [&](Value source) {
        return leading.contains(source);
      });
      if (leads)
        leading.insert(op->result_begin(), op->result_end());
      return !leads;
    });
    std::reverse(needed.begin(), needed.end());
    return needed;
  }

  LogicalResult step(Operation *op) {
    SmallVector<Value> known;
    for (Value result : op->getResults())
      known.push_back(gradientOf.lookup(result));
    if (llvm::none_of(known, [](Value each) { return bool(each); }))
      return success();
    SmallVector<Value> sources = gradient::sourcesOf(op);
    // A diagnostic of a region or a decomposition names the cause: it is the
    // only error.
    SmallVector<Diagnostic> causes;
    FailureOr<SmallVector<Value>> gradients = failure();
    {
      ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &each) {
        causes.push_back(std::move(each));
        return success();
      });
      gradients = gradientsOf(op, known, sources);
    }
    for (Diagnostic &each : causes)
      op->getContext()->getDiagEngine().emit(std::move(each));
    if (failed(gradients))
      return causes.empty() ? complain(makerOf(op)) : failure();
    for (auto [source, gradient] : llvm::zip_equal(sources, *gradients))
      add(source, gradient);
    return success();
  }

  LogicalResult complain(Operation *op) {
    return op->emitOpError("has no gradient") << reasonOf(op) << wayTo(op);
  }

  /// The producer of the tuple, or the future, that \p op unpacks: the cause
  /// where one is left; else \p op itself.
  static Operation *makerOf(Operation *op) {
    while (isa<stablehlo::GetTupleElementOp, stablehlo::AsyncDoneOp>(op)) {
      Operation *maker = op->getOperand(0).getDefiningOp();
      if (!maker || maker->getBlock() != op->getBlock())
        break;
      op = maker;
    }
    return op;
  }

  /// An operation in a region of \p op that may behave differently when the
  /// backward pass runs the region again; null if there is none.
  static Operation *unrepeatable(Operation *op) {
    Operation *found = nullptr;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        auto call = dyn_cast<stablehlo::CustomCallOp>(inner);
        if (!isa<stablehlo::RngOp, stablehlo::InfeedOp, stablehlo::OutfeedOp,
                 stablehlo::SendOp, stablehlo::RecvOp>(inner) &&
            !(call && call.getHasSideEffect()))
          return WalkResult::advance();
        found = inner;
        return WalkResult::interrupt();
      });
    return found;
  }

  /// Why \p op has no gradient though others of its name do, for a message.
  static std::string reasonOf(Operation *op) {
    if (Operation *inner = unrepeatable(op))
      return (", since its region runs again in the backward pass, where " +
              inner->getName().getStringRef() + " would not do the same")
          .str();
    auto loop = dyn_cast<stablehlo::WhileOp>(op);
    if (loop && nn::isStatic(op) && !gradient::tripsOf(loop))
      return ", since it is not known how often it runs (max-trips bounds it)";
    if (isa<stablehlo::AllReduceOp, stablehlo::ReduceScatterOp,
            stablehlo::CollectiveReduceOp>(op) &&
        nn::isStatic(op) && !gradient::groupSizeOf(op))
      return ", since it does not say how many processes a group of it has";
    if (isa<DifferentiableOpInterface>(op) && !nn::isStatic(op))
      return ", since its sizes are not known";
    return "";
  }

  /// The operations between the scalar and \p op, and between \p op and an
  /// input, for a message; only the ends of a long path.
  std::string wayTo(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    constexpr size_t most = 4;
    auto print = [&](ArrayRef<Operation *> way) {
      for (auto [i, each] : llvm::enumerate(way))
        if (i < most || i + most >= way.size())
          os << (i ? ", " : "") << each->getName() << " at " << each->getLoc();
        else if (i == most)
          os << ", ...";
    };
    SmallVector<Operation *> before, after;
    for (Operation *user = userOf.lookup(op); user; user = userOf.lookup(user))
      before.push_back(user);
    std::reverse(before.begin(), before.end());
    for (Operation *each = op; each;) {
      SmallVector<Value> sources = gradient::sourcesOf(each);
      auto next = llvm::find_if(
          sources, [&](Value source) { return leading.contains(source); });
      each = next == sources.end() ? nullptr : next->getDefiningOp();
      if (each && (each->getBlock() != op->getBlock() ||
                   llvm::is_contained(inputs, *next)))
        each = nullptr;
      if (each)
        after.push_back(each);
    }
    if (!before.empty()) {
      os << "; what is differentiated depends on it through ";
      print(before);
    }
    if (!after.empty()) {
      os << "; it depends on what is differentiated by through ";
      print(after);
    }
    return text;
  }

  /// The results of \p op, rebuilt from other operations before it.
  FailureOr<SmallVector<Value>> partsOf(Operation *op, bool isOfQuantized) {
    OpBuilder before(op);
    if (isOfQuantized)
      return gradient::quantizedParts(before, op);
    auto composed = dyn_cast<DecomposableOpInterface>(op);
    if (!composed)
      return failure();
    return composed.decompose(before);
  }

  /// The gradients of \p op, one for each of \p sources.
  FailureOr<SmallVector<Value>>
  gradientsOf(Operation *op, ArrayRef<Value> known, ArrayRef<Value> sources) {
    // No single value can hold the gradients of several tensors.
    if (llvm::any_of(sources, [&](Value each) {
          return isa<TupleType, stablehlo::FutureType>(each.getType()) &&
                 leading.contains(each);
        }))
      return failure();
    const bool isOfQuantized =
        hasQuantizedType(op) &&
        !isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp,
             nn::QuantizeOp>(op);
    auto direct = dyn_cast<DifferentiableOpInterface>(op);
    if (direct && unrepeatable(op))
      return failure();
    if (direct && !isOfQuantized) {
      auto gradients = direct.buildGradients(builder, known);
      // A rule for the operands alone does not cover a region that captures a
      // value that depends on an input.
      if (succeeded(gradients) && gradients->size() < sources.size()) {
        if (llvm::any_of(sources.drop_front(gradients->size()),
                         [&](Value each) { return leading.contains(each); }))
          return failure();
        gradients->resize(sources.size());
      }
      return gradients;
    }
    auto results = partsOf(op, isOfQuantized);
    if (failed(results))
      return failure();
    return gradient::backpropagateKnown(builder, *results, known, sources);
  }

  OpBuilder &builder;
  SmallVector<Value> inputs;
  /// The inputs and all values that depend on them.
  llvm::DenseSet<Value> leading;
  DenseMap<Value, Value> gradientOf;
  /// A user of each operation on the path to the outputs.
  DenseMap<Operation *, Operation *> userOf;
};

} // namespace

FailureOr<SmallVector<Value>> backpropagate(OpBuilder &builder,
                                            ValueRange outputs,
                                            ValueRange seeds,
                                            ValueRange inputs) {
  return Backpropagation(builder, inputs).run(outputs, seeds);
}

} // namespace sinter
