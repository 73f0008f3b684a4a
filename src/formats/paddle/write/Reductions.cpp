// Reductions, and operators that search or sum along an axis.

#include "formats/paddle/write/Combining.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Comparators.h"

using namespace mlir;

namespace sinter::paddle {

using stablehlo::Combination;

Combining namesOf(Combination combination) {
  switch (combination) {
  case Combination::Sum:
    return {"reduce_sum", "elementwise_add"};
  case Combination::Product:
    return {"reduce_prod", "elementwise_mul"};
  case Combination::Max:
    return {"reduce_max", "elementwise_max"};
  case Combination::Min:
    return {"reduce_min", "elementwise_min"};
  case Combination::Any:
    return {"reduce_any", "logical_or"};
  case Combination::All:
    return {"reduce_all", "logical_and"};
  }
  llvm_unreachable("a combination without a name");
}

/// The index of a maximum or minimum, as i64, without the dimension unless it
/// is kept. Paddle finds the first of several: to find the last, the operand is
/// reversed.
static std::optional<Var> argMinMax(OperatorWriter &e, Value operand,
                                    stablehlo::ArgReduction search, bool keep) {
  Var x = e.operand(operand);
  const int64_t axis = search.dimension, size = x.shape()[axis];
  if (search.selectsLast && ShapedType::isDynamic(size))
    return std::nullopt;
  if (search.selectsLast)
    x = e.reverse(x, {axis});
  Ints shape(x.shape());
  if (keep)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  Var position = e.make(search.isGreatest ? "arg_max" : "arg_min", {{"X", x}},
                        {{"axis", axis},
                         {"keepdims", keep},
                         {"flatten", false},
                         {"dtype", *e.typeNumber(e.i64())}},
                        e.typed(shape, e.i64()));
  if (!search.selectsLast)
    return position;
  return e.binary("elementwise_sub",
                  e.scalarFor(position, static_cast<double>(size - 1)),
                  position);
}

/// A reduction of elements and their indices: argmax, argmin.
static LogicalResult writeSearch(OperatorWriter &e, stablehlo::ReduceOp op) {
  auto search = stablehlo::argReductionOf(op);
  if (!search)
    return e.unsupported("of several tensors");
  auto position = argMinMax(e, op.getInputs()[0], *search, /*keep=*/false);
  if (!position)
    return e.unsupported("for the last of an unknown number of elements");
  if (failed(e.alias(e.cast(*position, elementOf(op.getResult(1))), 1)))
    return failure();
  if (op.getResult(0).use_empty())
    return success();
  return e.alias(e.reduce(search->isGreatest ? "reduce_max" : "reduce_min",
                          e.operand(op.getInputs()[0]), op.getDimensions(),
                          /*keep=*/false),
                 0);
}

static LogicalResult writeReduce(OperatorWriter &e, stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return writeSearch(e, op);
  Value initial = op.getInitValues()[0];
  Type element = elementOf(op.getInputs()[0]);
  auto combination = stablehlo::combinationOf(op.getBody(), element);
  if (!combination || !e.typeNumber(element))
    return e.unsupported("by more than one operation");
  const Combining names = namesOf(*combination);
  Var reduced = e.reduce(names.reduce, e.operand(op.getInputs()[0]),
                         op.getDimensions(), /*keep=*/false);
  if (!stablehlo::isNeutral(initial, *combination)) {
    Var start = e.operand(initial);
    reduced = e.binary(names.binary, reduced,
                       reduced.rank() == 0 ? start : e.reshape(start, {1}));
  }
  return e.alias(reduced);
}

template <typename Op>
static LogicalResult writeArg(OperatorWriter &e, Op op, bool isGreatest) {
  auto position = argMinMax(
      e, op.getOperand(),
      {static_cast<int64_t>(op.getAxis()), isGreatest, op.getSelectLast()},
      op.getKeepDimension());
  return position
             ? e.alias(*position)
             : e.unsupported("for the last of an unknown number of elements");
}
static LogicalResult writeArgMax(OperatorWriter &e, nn::ArgMaxOp op) {
  return writeArg(e, op, /*isGreatest=*/true);
}
static LogicalResult writeArgMin(OperatorWriter &e, nn::ArgMinOp op) {
  return writeArg(e, op, /*isGreatest=*/false);
}

/// Sorts by the last key first: each sort is stable, so equal elements keep
/// their order.
static LogicalResult writeSort(OperatorWriter &e, stablehlo::SortOp op) {
  auto keys = stablehlo::sortKeys(op);
  if (!keys)
    return e.unsupported("by this comparator");
  if (llvm::any_of(*keys, [](auto &key) { return key.ordersZeros; }))
    return e.unsupported(
        "that puts -0 before 0, which argsort takes for equal");
  auto type = tensorOf(op.getInputs()[0]);
  const auto given = static_cast<int64_t>(op.getDimension());
  const int64_t axis = given < 0 ? given + type.getRank() : given;
  auto takeAlong = [&](const Var &x, const Var &permutation) {
    return e.make("take_along_axis", {{"Input", x}, {"Index", permutation}},
                  {{"Axis", axis}}, x.type, "Result");
  };
  std::optional<Var> sorted, permutation;
  for (const stablehlo::SortKey &key : llvm::reverse(*keys)) {
    Var x = e.operand(op.getInputs()[key.input]);
    if (permutation)
      x = takeAlong(x, *permutation);
    Settings settings = {{"axis", axis}, {"descending", key.isDescending}};
    if (keys->size() > 1 || (op.getIsStable() && op.getInputs().size() > 1))
      settings.push_back({"stable", true});
    sorted = e.declare(x.type);
    Var order = e.declare(e.typed(x.shape(), e.i64()));
    if (failed(e.resultsOf("argsort", {{"X", x}}, std::move(settings),
                           {{"Out", *sorted}, {"Indices", order}})))
      return failure();
    permutation = permutation ? takeAlong(*permutation, order) : order;
  }
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    const bool isFirstKey = i == keys->front().input;
    Var result =
        isFirstKey ? *sorted : takeAlong(e.operand(input), *permutation);
    if (failed(e.alias(result, i)))
      return failure();
  }
  return success();
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
      writerRule<writeReduce>(), writerRule<writeSort>(),
      writerRule<writeArgMax>(), writerRule<writeArgMin>(),
      writerRule<writeTopK>(),   writerRule<writeCumulativeSum>()};
  return rules;
}

} // namespace sinter::paddle
