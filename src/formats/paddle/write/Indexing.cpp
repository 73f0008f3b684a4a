// Elements that indices name.

#include "formats/paddle/write/WriterRules.h"
#include "graph/IntegerRange.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::paddle {

/// Indices that count from the beginning: Paddle knows no negative ones.
static std::optional<Var> fromBeginning(OperatorWriter &e, Value indices,
                                        int64_t size) {
  Var var = e.operand(indices);
  if (IntegerRange::of(indices).low >= 0)
    return var;
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  Var zero = e.splat(var.element(), 0, {1});
  Var isNegative = e.make("less_than", {{"X", var}, {"Y", zero}},
                          {{"axis", -1}}, e.typed(var.shape(), e.boolean()));
  Var more = e.cast(isNegative, var.element());
  Var whole = e.splat(var.element(), static_cast<double>(size), {1});
  return e.binary("elementwise_add", var,
                  e.binary("elementwise_mul", more, whole));
}

static LogicalResult writeTake(OperatorWriter &e, nn::TakeOp op) {
  auto type = tensorOf(op.getOperand());
  const auto axis = static_cast<int64_t>(op.getAxis());
  auto indices = fromBeginning(e, op.getIndices(), type.getDimSize(axis));
  if (!indices)
    return e.unsupported("along a dimension of unknown size");
  // The index operator takes a list.
  Var x = e.operand(op.getOperand());
  const int64_t rank = indices->rank();
  if (rank == 1)
    return e.result("gather", {{"X", x}, {"Index", *indices}},
                    {{"axis", axis}});
  if (llvm::count_if(tensorOf(op.getResult()).getShape(),
                     ShapedType::isDynamic) > 1)
    return e.unsupported("of several unknown sizes");
  int64_t count = 1;
  for (int64_t size : indices->shape())
    count = ShapedType::isDynamic(size) || ShapedType::isDynamic(count)
                ? ShapedType::kDynamic
                : count * size;
  Ints shape(x.shape());
  shape[axis] = count;
  Var list = e.reshape(*indices, {count});
  Var taken = e.make("gather", {{"X", x}, {"Index", list}}, {{"axis", axis}},
                     e.typed(shape, x.element()));
  return e.alias(e.reshape(taken, tensorOf(op.getResult()).getShape()));
}

static LogicalResult writeTakeAlong(OperatorWriter &e, nn::TakeAlongOp op) {
  const auto axis = static_cast<int64_t>(op.getAxis());
  auto indices = fromBeginning(e, op.getIndices(),
                               tensorOf(op.getOperand()).getDimSize(axis));
  if (!indices)
    return e.unsupported("along a dimension of unknown size");
  return e.result("take_along_axis",
                  {{"Input", e.operand(op.getOperand())}, {"Index", *indices}},
                  {{"Axis", axis}}, "Result");
}

WriterRules indexingRules() {
  static const WriterRule rules[] = {writerRule<writeTake>(),
                                     writerRule<writeTakeAlong>()};
  return rules;
}

} // namespace sinter::paddle
