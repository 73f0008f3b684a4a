// Every operation says how its dimensions correspond, and the oracle agrees.

#include "differential/RandomProgram.h"
#include "graph/Model.h"
#include "graph/axes/AxesCheck.h"
#include "graph/axes/AxesSamples.h"
#include "graph/interfaces/Interfaces.h"
#include "interpreter/Interpreter.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/Parser/Parser.h"

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
    add("values are the size", {"nn.non_zero"});
    add("what other processes give",
        {"stablehlo.all_gather", "stablehlo.all_reduce",
         "stablehlo.reduce_scatter", "stablehlo.all_to_all",
         "stablehlo.collective_broadcast", "stablehlo.collective_reduce",
         "stablehlo.collective_permute", "stablehlo.cross-replica-sum",
         "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send",
         "stablehlo.recv"});
    add("it has no structure yet", {"nn.deferred"});
    return all;
  }();
  return reasons;
}

/// What has axes that cannot be checked so.
bool isWithoutStaticForm(StringRef name) {
  return name == "stablehlo.set_dimension_size";
}

AxesFindings findings;

/// Operations of other dialects say nothing to the graph language.
bool isOfGraph(StringRef name) {
  return name.starts_with("stablehlo.") || name.starts_with("nn.") ||
         name.starts_with("chlo.") || name.starts_with("func.");
}

bool isStatic(Operation *op) {
  auto fits = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           !isa<quant::UniformQuantizedPerAxisType>(tensor.getElementType());
  };
  return llvm::all_of(op->getOperandTypes(), fits) &&
         llvm::all_of(op->getResultTypes(), fits);
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
        [&](ArrayRef<Tensor> moved) { return evaluate(op, moved); }, seed,
        findings);
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
                          Shape(shapeOf(operand)));
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
      [&](ArrayRef<Tensor> moved) {
        return interpret(decomposed.entry(), moved);
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
