// Reductions, and what searches or sums along an axis.

#include "formats/paddle/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace sinter::paddle {

namespace {
/// How Paddle combines elements as a region's only op does.
struct Combination {
  StringRef op, reduce, binary;
  /// The value that changes nothing.
  enum { Zero, One, Least, Greatest } neutral;
};
} // namespace

static const Combination combinations[] = {
    {"stablehlo.add", "reduce_sum", "elementwise_add", Combination::Zero},
    {"stablehlo.multiply", "reduce_prod", "elementwise_mul", Combination::One},
    {"stablehlo.maximum", "reduce_max", "elementwise_max", Combination::Least},
    {"stablehlo.minimum", "reduce_min", "elementwise_min",
     Combination::Greatest},
    {"stablehlo.or", "reduce_any", "logical_or", Combination::Zero},
    {"stablehlo.and", "reduce_all", "logical_and", Combination::One},
};

static const Combination *combinationOf(Region &body, Type element) {
  auto name = stablehlo::soleOperation(body);
  if (!name)
    return nullptr;
  StringRef op = *name;
  const bool isBool = element.isInteger(1);
  if (isBool)
    op = llvm::StringSwitch<StringRef>(op)
             .Cases("stablehlo.add", "stablehlo.maximum", "stablehlo.or")
             .Cases("stablehlo.multiply", "stablehlo.minimum", "stablehlo.and")
             .Default(op);
  const bool isLogical = op == "stablehlo.or" || op == "stablehlo.and";
  if (isBool != isLogical)
    return nullptr;
  for (const Combination &each : combinations)
    if (each.op == op)
      return &each;
  return nullptr;
}

/// Whether a constant changes nothing when it is combined.
static bool isNeutral(Value value, const Combination &combination) {
  auto number = splatNumber(value);
  auto tensor = constantTensor(value);
  if (!number && tensor && tensor->size() == 1)
    number = tensor->toDouble(0);
  if (!number)
    return false;
  if (combination.neutral == Combination::Zero)
    return *number == 0;
  if (combination.neutral == Combination::One)
    return *number == 1;
  return isa<FloatType>(elementOf(value)) && std::isinf(*number) &&
         (*number < 0) == (combination.neutral == Combination::Least);
}

static LogicalResult writeReduce(OperatorWriter &e, stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  Value initial = op.getInitValues()[0];
  Type element = elementOf(op.getInputs()[0]);
  const Combination *combination = combinationOf(op.getBody(), element);
  if (!combination || !e.typeNumber(element))
    return e.unsupported("by more than one operation");
  Var reduced = e.reduce(combination->reduce, e.operand(op.getInputs()[0]),
                         op.getDimensions(), /*keep=*/false);
  if (!isNeutral(initial, *combination))
    reduced = e.binary(combination->binary, reduced, e.operand(initial));
  return e.alias(reduced);
}

template <typename Op>
static LogicalResult writeArg(OperatorWriter &e, Op op, StringRef name) {
  if (op.getSelectLast())
    return e.unsupported("of the last of several");
  return e.result(name, {{"X", e.operand(op.getOperand())}},
                  {{"axis", static_cast<int64_t>(op.getAxis())},
                   {"keepdims", op.getKeepDimension()},
                   {"flatten", false},
                   {"dtype", 3}});
}
static LogicalResult writeArgMax(OperatorWriter &e, nn::ArgMaxOp op) {
  return writeArg(e, op, "arg_max");
}
static LogicalResult writeArgMin(OperatorWriter &e, nn::ArgMinOp op) {
  return writeArg(e, op, "arg_min");
}

static LogicalResult writeTopK(OperatorWriter &e, nn::TopKOp op) {
  return e.resultsOf("top_k_v2", {{"X", e.operand(op.getOperand())}},
                     {{"k", static_cast<int64_t>(op.getK())},
                      {"axis", static_cast<int64_t>(op.getAxis())},
                      {"largest", op.getLargest()},
                      {"sorted", true}},
                     {{"Out", Var()}, {"Indices", Var()}});
}

static LogicalResult writeCumulativeSum(OperatorWriter &e,
                                        nn::CumulativeSumOp op) {
  return e.result("cumsum", {{"X", e.operand(op.getOperand())}},
                  {{"axis", static_cast<int64_t>(op.getAxis())},
                   {"flatten", false},
                   {"exclusive", op.getExclusive()},
                   {"reverse", op.getReverse()}});
}

WriterRules reductionRules() {
  static const WriterRule rules[] = {
      writerRule<writeReduce>(), writerRule<writeArgMax>(),
      writerRule<writeArgMin>(), writerRule<writeTopK>(),
      writerRule<writeCumulativeSum>()};
  return rules;
}

} // namespace sinter::paddle
