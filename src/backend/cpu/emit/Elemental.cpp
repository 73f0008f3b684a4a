//===- Elemental.cpp - the value of a tensor at one place -----------------===//

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/SmallFloat.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Type cpu::storageType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(),
                            std::max(8u, integer.getWidth()));
  if (isFloat8(element))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Type cpu::valueType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  if (isFloat8(element))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

static Emission::Key keyOf(Value tensor, ArrayRef<Coordinate> place) {
  Emission::Key key = {
      reinterpret_cast<uintptr_t>(tensor.getAsOpaquePointer())};
  for (const Coordinate &coordinate : place)
    // Pointers are aligned, so that the lowest bit is free.
    key.push_back(
        reinterpret_cast<uintptr_t>(coordinate.value.getAsOpaquePointer()) |
        coordinate.lanes);
  return key;
}

static bool hasLanes(ArrayRef<Coordinate> place) {
  return llvm::any_of(place, [](const Coordinate &c) { return c.lanes; });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Elemental::load(Value memory, Value offset, Type element, bool asVector) {
  Type storage = storageType(element), type = valueType(element);
  Value loaded;
  if (asVector) {
    loaded = emission.create<vector::LoadOp>(VectorType::get(lanes, storage),
                                             memory, ValueRange{offset});
    type = VectorType::get(lanes, type);
  } else {
    loaded = emission.create<memref::LoadOp>(memory, ValueRange{offset});
  }
  return loaded.getType() == type
             ? loaded
             : emission.create<arith::TruncIOp>(type, loaded);
}

Value Elemental::stored(Value value, Type element) {
  Type storage = storageType(element);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    storage = vector.clone(storage);
  if (value.getType() == storage)
    return value;
  bool isSigned = !element.isUnsignedInteger() && !element.isInteger(1);
  return isSigned ? emission.create<arith::ExtSIOp>(storage, value)
                  : emission.create<arith::ExtUIOp>(storage, value);
}

void Elemental::store(Value value, Value memory, Value offset, Type element) {
  value = stored(value, element);
  if (isa<VectorType>(value.getType()))
    emission.builder.create<vector::StoreOp>(emission.loc, value, memory,
                                             ValueRange{offset});
  else
    emission.builder.create<memref::StoreOp>(emission.loc, value, memory,
                                             ValueRange{offset});
}

Value Elemental::linearize(ArrayRef<Coordinate> place,
                           ArrayRef<int64_t> shape) {
  Value offset = emission.index(0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    if (shape[i] != 1)
      offset = emission.add(emission.mul(place[i].value, stride), offset);
  return offset;
}

Value Elemental::readMemory(Value memory, RankedTensorType type, Place place) {
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  Value offset = linearize(place, shape);
  if (!hasLanes(place))
    return load(memory, offset, element);
  // How far apart in memory the lanes are; a dimension of size 1 has no lanes.
  int64_t stride = 1, laneStride = 0;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    if (place[i].lanes && shape[i] != 1)
      laneStride += stride;
  if (laneStride == 0)
    return load(memory, offset, element);
  if (laneStride == 1 && !isa<ComplexType>(element))
    return load(memory, offset, element, /*asVector=*/true);
  Values values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(
        load(memory, emission.add(offset, i * laneStride), element));
  return emission.create<vector::FromElementsOp>(
      VectorType::get(lanes, values[0].getType()), values);
}

void Elemental::bindMemory(Value tensor, Value memory) {
  auto type = cast<RankedTensorType>(tensor.getType());
  bind(tensor, [this, memory, type](Place place) {
    return readMemory(memory, type, place);
  });
}

Value Elemental::splat(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return emission.create<vector::BroadcastOp>(
      VectorType::get(lanes, value.getType()), value);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Elemental::at(Value tensor, Place place) {
  Emission::Key key = keyOf(tensor, place);
  if (Value known = emission.recall(key))
    return known;
  auto reader = readers.find(tensor);
  if (reader == readers.end())
    return allAt(tensor.getDefiningOp(),
                 place)[cast<OpResult>(tensor).getResultNumber()];
  Value value = reader->second(place);
  emission.remember(std::move(key), value);
  return value;
}

Value Elemental::at(Value tensor, ArrayRef<Value> place) {
  return at(tensor, Coordinates(place.begin(), place.end()));
}

Elemental::Values Elemental::allAt(Operation *op, Place place) {
  Values values = compute(op, place);
  for (auto [result, value] : llvm::zip(op->getResults(), values))
    emission.remember(keyOf(result, place), value);
  return values;
}

Elemental::Values Elemental::compute(Operation *op, Place place) {
  auto elemental = cast<ElementalOpInterface>(op);
  if (std::optional<Values> values = elemental.elementsAt(*this, place))
    return *values;
  return laneByLane(op, place);
}

Elemental::Values Elemental::laneByLane(Operation *op, Place place) {
  SmallVector<Values> results(op->getNumResults());
  for (int64_t i = 0; i < lanes; ++i) {
    Coordinates scalar;
    for (const Coordinate &coordinate : place)
      scalar.push_back(coordinate.lanes ? emission.add(coordinate.value, i)
                                        : coordinate.value);
    for (auto [result, value] : llvm::zip(results, compute(op, scalar)))
      result.push_back(value);
  }
  Values vectors;
  for (Values &values : results)
    vectors.push_back(emission.create<vector::FromElementsOp>(
        VectorType::get(lanes, values[0].getType()), values));
  return vectors;
}

std::optional<Elemental::Values> Elemental::elementwiseAt(Operation *op,
                                                          Place place) {
  if (hasLanes(place) && hasComplexNumbers(op))
    return std::nullopt;
  Values operands;
  for (Value operand : op->getOperands()) {
    // The predicate of select and the bounds of clamp may be scalars.
    bool isScalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    operands.push_back(at(operand, isScalar ? Place() : place));
  }
  if (llvm::any_of(operands,
                   [](Value v) { return isa<VectorType>(v.getType()); }))
    for (Value &operand : operands)
      operand = splat(operand);
  return Values{emitElementwise(emission, op, operands, reassociate)};
}
