//===- Elemental.cpp - the value of a tensor at one place -----------------===//

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/RoundedConversion.h"
#include "backend/cpu/kernels/common/SmallFloat.h"
#include "backend/cpu/precision/BFloat16Roundings.h"
#include "backend/cpu/precision/ExactWidening.h"

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

static KernelBuilder::Key keyOf(Value tensor, ArrayRef<Coordinate> place) {
  KernelBuilder::Key key = {
      reinterpret_cast<uintptr_t>(tensor.getAsOpaquePointer())};
  for (const Coordinate &coordinate : place)
    // Pointers are aligned, so that the lowest bit is free.
    key.push_back(
        reinterpret_cast<uintptr_t>(coordinate.value.getAsOpaquePointer()) |
        coordinate.lanes);
  return key;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Elemental::load(Value memory, Value offset, Type element, bool asVector) {
  Type storage = storageType(element), type = valueType(element);
  Value loaded;
  if (asVector) {
    loaded = code.create<vector::LoadOp>(VectorType::get(lanes, storage),
                                         memory, ValueRange{offset});
    type = VectorType::get(lanes, type);
  } else {
    loaded = code.create<memref::LoadOp>(memory, ValueRange{offset});
  }
  return loaded.getType() == type ? loaded
                                  : code.create<arith::TruncIOp>(type, loaded);
}

Value Elemental::stored(Value value, Type element) {
  Type storage = storageType(element);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    storage = vector.clone(storage);
  if (value.getType() == storage)
    return value;
  bool isSigned = !element.isUnsignedInteger() && !element.isInteger(1);
  return isSigned ? code.create<arith::ExtSIOp>(storage, value)
                  : code.create<arith::ExtUIOp>(storage, value);
}

void Elemental::store(Value value, Value memory, Value offset, Type element) {
  value = stored(value, element);
  if (isa<VectorType>(value.getType()))
    code.builder.create<vector::StoreOp>(code.loc, value, memory,
                                         ValueRange{offset});
  else
    code.builder.create<memref::StoreOp>(code.loc, value, memory,
                                         ValueRange{offset});
}

Value Elemental::linearize(ArrayRef<Coordinate> place, ArrayRef<Dim> shape) {
  Value offset = code.index(0);
  if (hasNamedDim(shape.drop_front(shape.empty() ? 0 : 1))) {
    Value stride = code.index(1);
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 1)
        continue;
      offset = code.add(code.mul(place[i].value, stride), offset);
      if (i > 0)
        stride = code.mul(stride, shape[i]);
    }
    return offset;
  }
  // The first size may be dynamic; nothing lies as far apart as that.
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    if (shape[i] != 1)
      offset = code.add(code.mul(place[i].value, stride), offset);
  return offset;
}

Value Elemental::readMemory(Value memory, RankedTensorType type, Place place) {
  ArrayRef<Dim> shape = dimsOf(type);
  Type element = type.getElementType();
  Value offset = linearize(place, shape);
  if (!hasLanes(place))
    return load(memory, offset, element);
  if (hasNamedDim(shape))
    return readLanes(memory, offset, type, place);
  // How far apart in memory the lanes are; a dimension of size 1 has no lanes.
  Dim stride = 1, laneStride = 0;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    if (place[i].lanes && shape[i] != 1)
      laneStride += stride;
  if (laneStride == 0)
    return load(memory, offset, element);
  if (laneStride == 1 && !isa<ComplexType>(element))
    return load(memory, offset, element, /*asVector=*/true);
  Values values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(load(memory, code.add(offset, laneStride * i), element));
  return code.create<vector::FromElementsOp>(
      VectorType::get(lanes, values[0].getType()), values);
}

/// Neighbours of a tensor some of whose sizes are named.
Value Elemental::readLanes(Value memory, Value offset, RankedTensorType type,
                           Place place) {
  ArrayRef<Dim> shape = dimsOf(type);
  Type element = type.getElementType();
  Value stride = code.index(1), apart = code.index(0);
  for (size_t i = shape.size(); i-- > 0; stride = code.mul(stride, shape[i]))
    if (place[i].lanes && shape[i] != 1)
      apart = code.add(apart, stride);
  const std::optional<int64_t> known = code.constantOf(apart);
  if (known == 0)
    return load(memory, offset, element);
  if (known == 1 && !isa<ComplexType>(element))
    return load(memory, offset, element, /*asVector=*/true);
  Values values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(
        load(memory, code.add(offset, code.mul(apart, i)), element));
  return code.create<vector::FromElementsOp>(
      VectorType::get(lanes, values[0].getType()), values);
}

void Elemental::bindMemory(Value tensor, Value memory) {
  auto type = cast<RankedTensorType>(tensor.getType());
  memories[tensor] = memory;
  bind(tensor, [this, memory, type](Place place) {
    return readMemory(memory, type, place);
  });
}

Value Elemental::splat(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return code.create<vector::BroadcastOp>(
      VectorType::get(lanes, value.getType()), value);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Elemental::at(Value tensor, Place place) {
  KernelBuilder::Key key = keyOf(tensor, place);
  if (Value known = code.recall(key))
    return known;
  auto reader = readers.find(tensor);
  if (reader == readers.end())
    return allAt(tensor.getDefiningOp(),
                 place)[cast<OpResult>(tensor).getResultNumber()];
  Value value = reader->second(place);
  code.remember(std::move(key), value);
  return value;
}

Value Elemental::at(Value tensor, ArrayRef<Value> place) {
  return at(tensor, Coordinates(place.begin(), place.end()));
}

Values Elemental::allAt(Operation *op, Place place) {
  Values values = compute(op, place);
  for (auto [result, value] : llvm::zip(op->getResults(), values))
    code.remember(keyOf(result, place), value);
  return values;
}

Values Elemental::compute(Operation *op, Place place) {
  auto elemental = cast<ElementalOpInterface>(op);
  if (std::optional<Values> values = elemental.elementsAt(*this, place))
    return *values;
  return laneByLane(op, place);
}

Values Elemental::laneByLane(Operation *op, Place place) {
  SmallVector<Values> results(op->getNumResults());
  for (int64_t i = 0; i < lanes; ++i) {
    Coordinates scalar;
    for (const Coordinate &coordinate : place)
      scalar.push_back(coordinate.lanes ? code.add(coordinate.value, i)
                                        : coordinate.value);
    for (auto [result, value] : llvm::zip(results, compute(op, scalar)))
      result.push_back(value);
  }
  Values vectors;
  for (Values &values : results)
    vectors.push_back(code.create<vector::FromElementsOp>(
        VectorType::get(lanes, values[0].getType()), values));
  return vectors;
}

std::optional<Values> Elemental::elementwiseAt(Operation *op, Place place) {
  if (hasLanes(place) && hasComplexNumbers(op))
    return std::nullopt;
  if (auto convert = dyn_cast<stablehlo::ConvertOp>(op)) {
    if (auto rounding = ShiftedRounding::of(convert))
      return Values{emitShiftedRounding(
          code, *rounding, at(rounding->operand, place),
          rounding->shift ? at(rounding->shift, Place()) : Value(),
          elementOf(convert.getResult()))};
    if (Value rounded = roundedOperand(convert))
      return Values{emitRoundedConversion(code, at(rounded, place),
                                          elementOf(convert.getResult()))};
  }
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
  Value result = emitElementwise(code, op, operands, reassociate);
  if (auto rounding = result.getDefiningOp<arith::TruncFOp>())
    for (StringRef said : {roundsNothingAttribute, ofBFloat16Attribute})
      if (op->hasAttr(said))
        rounding->setAttr(said, code.builder.getUnitAttr());
  return Values{result};
}
