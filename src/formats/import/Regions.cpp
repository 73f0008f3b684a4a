#include "formats/import/Regions.h"

using namespace mlir;

namespace sinter::formats {

Value scalarOf(GraphBuilder &builder, Value value) {
  if (!value || builder.rank(value) == 0)
    return value;
  return builder.reshape(value, ArrayRef<int64_t>());
}

Operation *makeHolder(GraphBuilder &builder, StringRef name,
                      ValueRange operands, TypeRange types) {
  OperationState state(builder.location(), name, operands, types, {});
  state.addRegion();
  state.addRegion();
  return builder.builder().create(state);
}

Operation *closeHolder(GraphBuilder &builder, Operation *holder,
                       TypeRange types) {
  OperationState state(builder.location(), holder->getName().getStringRef(),
                       holder->getOperands(), types, {});
  for (Region &region : holder->getRegions())
    state.addRegion()->takeBody(region);
  holder->erase();
  return builder.create(state);
}

Value whileLoop(GraphBuilder &builder, ValueRange starts,
                function_ref<Value(ValueRange)> condition,
                function_ref<Values(ValueRange)> body, unsigned result) {
  if (llvm::is_contained(starts, Value()))
    return {};
  OpBuilder &ops = builder.builder();
  Location loc = builder.location();
  const SmallVector<Type> types(starts.getTypes());
  Operation *holder = makeHolder(
      builder, stablehlo::WhileOp::getOperationName(), starts, types);
  auto fill = [&](Region &region, function_ref<Values(ValueRange)> make) {
    OpBuilder::InsertionGuard guard(ops);
    Block &block = region.emplaceBlock();
    block.addArguments(types, SmallVector<Location>(types.size(), loc));
    ops.setInsertionPointToStart(&block);
    Values given = make(block.getArguments());
    if (!builder.failed() && !llvm::is_contained(given, Value()))
      ops.create<stablehlo::ReturnOp>(loc, given);
  };
  fill(holder->getRegion(0),
       [&](ValueRange states) -> Values { return {condition(states)}; });
  fill(holder->getRegion(1), body);
  if (builder.failed()) {
    holder->erase();
    return {};
  }
  Operation *loop = closeHolder(builder, holder, types);
  return loop ? loop->getResult(result) : Value();
}

SmallVector<Type> returnedTypes(Region &region) {
  return llvm::to_vector(region.front().getTerminator()->getOperandTypes());
}

Type joinTypes(Type lhs, Type rhs) {
  auto left = cast<RankedTensorType>(lhs), right = cast<RankedTensorType>(rhs);
  if (left.getElementType() != right.getElementType() ||
      left.getRank() != right.getRank())
    return {};
  Ints shape(left.getShape());
  for (auto [size, other] : llvm::zip_equal(shape, right.getShape()))
    if (size != other)
      size = ShapedType::kDynamic;
  return RankedTensorType::get(shape, left.getElementType());
}

//===----------------------------------------------------------------------===//
// Loop-carried values
//===----------------------------------------------------------------------===//

std::optional<Element> Carried::sizeAt(KnownValues &known, int64_t i) const {
  if (!stays[i])
    return std::nullopt;
  return known.sizeOf(start, i);
}

void Carried::mark(KnownValues &known, Value value) const {
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (auto size = sizeAt(known, i); size && size->kind == Element::Symbol)
      known.setSymbol(value, i, size->value);
}

bool Carried::admit(KnownValues &known, Value next, bool &changed) {
  auto other = cast<RankedTensorType>(next.getType());
  if (!joinTypes(type, other))
    return false;
  Ints shape(type.getShape());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    auto size = sizeAt(known, i);
    if (!size || known.sizeOf(next, i) == *size)
      continue;
    stays[i] = false;
    shape[i] = ShapedType::kDynamic;
    changed = true;
  }
  type = RankedTensorType::get(shape, type.getElementType());
  return true;
}

bool admitAll(GraphBuilder &builder, MutableArrayRef<Carried> states,
              ValueRange next, bool &changed) {
  for (auto [state, value] : llvm::zip_equal(states, next))
    if (!state.admit(builder.known(), value, changed)) {
      builder.unknown(
          "a loop whose values change their rank or element type and "
          "whose number of iterations is known only at run time");
      return false;
    }
  return true;
}

} // namespace sinter::formats
