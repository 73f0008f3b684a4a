// Every operation says how its dimensions correspond, and the oracle agrees.
//
// Covers: graph/axes Distribution Elementwise Indexing Movement Products
// Covers: graph/axes Reductions Reshapes Structured
// Covers: graph/interfaces Axes
// Covers: graph/stablehlo Products

#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/axes/AxesCheck.h"
#include "graph/axes/AxesSamples.h"
#include "graph/interfaces/Interfaces.h"
#include "interpreter/Environment.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "random/RandomProgram.h"
#include "runtime/ThreadGroup.h"
#include <mutex>

using namespace mlir;
using namespace sinter;

namespace {

/// What has no axes, and why.
const std::map<std::string, std::string> &withoutAxes() {
  static const std::map<std::string, std::string> reasons = [] {
    std::map<std::string, std::string> all;
    auto add = [&](const char *reason,
                   std::initializer_list<const char *> ops) {
      for (const char *op : ops)
        all.emplace(op, reason);
    };
    add("no operands",
        {"stablehlo.constant", "chlo.constant", "stablehlo.create_token",
         "stablehlo.replica_id", "stablehlo.partition_id"});
    add("the region says", {"stablehlo.if", "stablehlo.case", "stablehlo.while",
                            "chlo.scan", "stablehlo.async_start"});
    add("what is called says",
        {"stablehlo.composite", "stablehlo.custom_call", "func.call",
         "func.call_indirect", "func.constant"});
    add("ends a region", {"stablehlo.return", "func.return", "sdy.return",
                          "builtin.unrealized_conversion_cast"});
    add("no tensors of its own",
        {"stablehlo.after_all", "stablehlo.async_done", "stablehlo.tuple",
         "stablehlo.get_tuple_element", "func.func", "builtin.module"});
    add("random", {"stablehlo.rng", "stablehlo.rng_bit_generator"});
    add("values are the size", {"nn.non_zero", "nn.non_max_suppression"});
    add("no result is made of an operand",
        {"nn.assume", "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send",
         "stablehlo.recv"});
    add("it has no structure yet", {"nn.deferred"});
    return all;
  }();
  return reasons;
}

/// What has axes that cannot be checked so.
bool isWithoutStaticForm(StringRef name) {
  // Not every text is a number, and texts say how many parts they have.
  return name == "stablehlo.set_dimension_size" || name == "text.parse" ||
         name == "text.split";
}

AxesFindings findings;

/// Operations of other dialects say nothing to the graph language: those of a
/// backend come after all who ask for axes.
bool isOfGraph(StringRef name) {
  return name.starts_with("stablehlo.") || name.starts_with("nn.") ||
         name.starts_with("chlo.") || name.starts_with("text.") ||
         name.starts_with("func.");
}

bool isStatic(Operation *op) {
  auto fits = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), fits) &&
         llvm::all_of(op->getResultTypes(), fits);
}

Result<std::vector<Tensor>>
evaluateChosen(Operation *op, ArrayRef<Tensor> operands, const Choice *choice) {
  if (!choice || (llvm::none_of(op->getOperandTypes(), isQuantizedPerAxis) &&
                  llvm::none_of(op->getResultTypes(), isQuantizedPerAxis)))
    return evaluate(op, operands);
  return withChosenTypes(op, *choice, [&](Operation *changed) {
    return evaluate(changed, operands);
  });
}

bool isCollective(Operation *op) {
  return op->hasAttr("replica_groups") || op->hasAttr("source_target_pairs");
}

/// What one of two processes gets from \p function, the other having other
/// elements in the same places.
Result<std::vector<Tensor>>
runTogether(func::FuncOp function, ArrayRef<Tensor> inputs, uint64_t shown) {
  std::vector<Tensor> given[2], results[2];
  for (const Tensor &input : inputs) {
    Tensor other(input.type(), input.shape());
    for (int64_t i = 0; i < input.size(); ++i)
      other.set<float>(i, 3 * input.at<float>(i) + 1);
    given[shown].push_back(input);
    given[1 - shown].push_back(std::move(other));
  }
  ThreadGroup group({2, 1});
  // They share the module, and so take turns.
  std::mutex turn;
  group.setTurns([&] { turn.unlock(); }, [&] { turn.lock(); });
  Result<void> done = group.run([&](Communicator &communicator) {
    std::lock_guard<std::mutex> lock(turn);
    Environment environment;
    environment.communicator =
        std::shared_ptr<Communicator>(std::shared_ptr<void>(), &communicator);
    auto own =
        interpret(function, given[communicator.rank()], {}, &environment);
    if (!own)
      return Result<void>(own.takeError());
    results[communicator.rank()] = std::move(*own);
    return Result<void>();
  });
  if (!done)
    return done.takeError();
  return results[shown];
}

/// Checks each operation of the program on the values that it has there.
void checkProgram(const Model &model, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (Type type : model.entry().getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !elementTypeOf(tensor.getElementType()))
      return;
    Tensor input(*elementTypeOf(tensor.getElementType()),
                 Shape(tensor.getShape()));
    fillRandom(input, seed * 100 + inputs.size(), {-2, 2, 5});
    inputs.push_back(std::move(input));
  }
  llvm::DenseMap<Value, Tensor> values;
  for (auto [argument, input] :
       llvm::zip_equal(model.entry().getArguments(), inputs))
    values[argument] = input;
  auto observe = [&](Operation *op, ArrayRef<Tensor> results) {
    for (auto [value, result] : llvm::zip(op->getResults(), results))
      values[value] = result;
  };
  if (!interpret(model.entry(), inputs, observe))
    return;
  for (Operation &each : model.entry().front().without_terminator()) {
    Operation *op = &each;
    if (!isa<AxesOpInterface>(op) || !isStatic(op) || !canEvaluate(op))
      continue;
    std::vector<Tensor> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values.lookup(operand));
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    checkAxes(
        op, operands,
        [&](ArrayRef<Tensor> moved, const Choice *choice) {
          return evaluateChosen(op, moved, choice);
        },
        seed, findings);
  }
}

/// Checks the operation of a function of nothing else; what the oracle does not
/// know by its decomposition.
void checkSample(const std::string &text, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
  auto context = makeContext();
  Model model(context, parseSourceString<ModuleOp>(text, context.get()));
  ASSERT_TRUE(model.module());
  Operation *op = model.entry().front().getTerminator()->getPrevNode();
  ASSERT_TRUE(isa<AxesOpInterface>(op));
  std::vector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    operands.emplace_back(*elementTypeOf(tensorOf(operand).getElementType()),
                          Shape(tensorOf(operand).getShape()));
    fillRandom(operands.back(), seed * 100 + operands.size(), {0.1, 2, 3});
  }
  Model decomposed = model.clone();
  if (!canEvaluate(op)) {
    Operation *end = decomposed.entry().front().getTerminator();
    OpBuilder builder(end->getPrevNode());
    auto values =
        cast<DecomposableOpInterface>(end->getPrevNode()).decompose(builder);
    ASSERT_TRUE(succeeded(values));
    end->setOperands(*values);
    end->getPrevNode()->erase();
  }
  checkAxes(
      op, operands,
      [&](ArrayRef<Tensor> moved, const Choice *choice) {
        if (isCollective(op))
          return runTogether(decomposed.entry(), moved, seed % 2);
        return canEvaluate(op) ? evaluateChosen(op, moved, choice)
                               : interpret(decomposed.entry(), moved);
      },
      seed, findings);
  EXPECT_TRUE(findings.checked.count(op->getName().getStringRef().str()))
      << "it was not computed";
}

void checkRandomPrograms() {
  for (const std::string &name : drawableOperations()) {
    RandomProgramOptions options;
    options.only = {name};
    options.operations = 3;
    for (uint64_t seed = 1; seed <= 12; ++seed)
      checkProgram(randomProgram(seed, options), seed);
  }
}

void checkSamples() {
  for (uint64_t seed = 1; seed <= 8; ++seed)
    for (const std::string &text : axesSamples(seed))
      checkSample(text, seed);
}

} // namespace

TEST(Axes, EveryOperation) {
  findings = {};
  checkRandomPrograms();
  checkSamples();
  auto context = makeContext();
  for (RegisteredOperationName name : context->getRegisteredOperations()) {
    std::string text = name.getStringRef().str();
    if (!isOfGraph(text))
      continue;
    if (name.hasInterface<AxesOpInterface>()) {
      EXPECT_FALSE(withoutAxes().count(text)) << text;
      EXPECT_TRUE(findings.checked.count(text) || isWithoutStaticForm(text))
          << text << " was not checked";
    } else {
      EXPECT_TRUE(withoutAxes().count(text)) << text << " has no axes";
    }
  }
  // A claim that is too weak is none.
  for (const std::string &name : findings.mixed)
    EXPECT_TRUE(findings.refuted.count(name))
        << name << " keeps what it says it mixes";
}
