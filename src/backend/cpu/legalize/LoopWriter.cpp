//===- LoopWriter.cpp - builds loops over elements in the graph -----------===//

#include "backend/cpu/legalize/LoopWriter.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value LoopWriter::quotient(Value a, int64_t b) {
  return b == 1 ? a : div(a, position(b));
}

Value LoopWriter::remainder(Value a, int64_t b) {
  return make<stablehlo::RemOp>(a, position(b));
}

Value LoopWriter::isWithin(Value value, int64_t size) {
  using stablehlo::ComparisonDirection;
  return both(compare(ComparisonDirection::GE, value, position(0)),
              compare(ComparisonDirection::LT, value, position(size)));
}

Values LoopWriter::loop(int64_t count, ValueRange carried,
                        llvm::function_ref<Values(Value, ValueRange)> body) {
  Values initial = {position(0)};
  llvm::append_range(initial, carried);
  SmallVector<Type> types(ValueRange(initial).getTypes());
  SmallVector<Location> locations(types.size(), location);
  auto whileOp = builder.create<stablehlo::WhileOp>(location, types, initial);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition =
      builder.createBlock(&whileOp.getCond(), {}, types, locations);
  Value again = compare(stablehlo::ComparisonDirection::LT,
                        condition->getArgument(0), position(count));
  builder.create<stablehlo::ReturnOp>(location, again);
  Block *block = builder.createBlock(&whileOp.getBody(), {}, types, locations);
  Value index = block->getArgument(0);
  Values next = body(index, block->getArguments().drop_front());
  next.insert(next.begin(), add(index, position(1)));
  builder.create<stablehlo::ReturnOp>(location, next);
  return llvm::to_vector(ValueRange(whileOp.getResults()).drop_front());
}

Values LoopWriter::branch(Value condition, llvm::function_ref<Values()> then,
                          llvm::function_ref<Values()> otherwise) {
  Block blocks[2];
  SmallVector<Type> types;
  llvm::function_ref<Values()> makers[] = {then, otherwise};
  for (auto [block, make] : llvm::zip(blocks, makers)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&block);
    Values values = make();
    builder.create<stablehlo::ReturnOp>(location, values);
    types = llvm::to_vector(ValueRange(values).getTypes());
  }
  auto op = builder.create<stablehlo::IfOp>(location, types, condition);
  for (auto [block, region] : llvm::zip(blocks, op->getRegions())) {
    region.push_back(new Block());
    region.front().getOperations().splice(region.front().end(),
                                          block.getOperations());
  }
  return llvm::to_vector(ValueRange(op->getResults()));
}

Values LoopWriter::apply(Region &region, ValueRange arguments) {
  IRMapping mapping;
  Block &block = region.front();
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    mapping.map(argument, convert(value, getElementTypeOrSelf(argument)));
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  Values results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

Value LoopWriter::flat(Value tensor) {
  return reshape(tensor, {tensorOf(tensor).getNumElements()});
}

Value LoopWriter::elementOf(Value row, Value index) {
  Value slice = make<stablehlo::DynamicSliceOp>(
      row, ValueRange{index}, builder.getDenseI64ArrayAttr({1}));
  return reshape(slice, {});
}

Value LoopWriter::replaced(Value row, Value index, Value value) {
  return make<stablehlo::DynamicUpdateSliceOp>(row, reshape(value, {1}),
                                               ValueRange{index});
}

Values LoopWriter::unflatten(Value index, ArrayRef<int64_t> shape) {
  Values place(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    place[dim] = dim == 0 ? index : remainder(index, shape[dim]);
    index = quotient(index, shape[dim]);
  }
  return place;
}

Value LoopWriter::flatten(ValueRange place, ArrayRef<int64_t> shape) {
  Value index;
  for (auto [coordinate, size] : llvm::zip_equal(place, shape))
    index = index ? add(mul(index, position(size)), coordinate) : coordinate;
  return index ? index : position(0);
}
