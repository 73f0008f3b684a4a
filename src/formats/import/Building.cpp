#include "formats/import/Building.h"

#include "graph/nn/Wide.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

Value select(GraphBuilder &builder, Value predicate, Value onTrue,
             Value onFalse) {
  Values all = builder.broadcastTogether({predicate, onTrue, onFalse});
  if (all.size() != 3)
    return {};
  return builder.op<stablehlo::SelectOp>(all[0], all[1], all[2]);
}

Value iota(GraphBuilder &builder, ArrayRef<Dim> dims, int64_t axis,
           Type element) {
  Ints sizes;
  for (const Dim &each : dims)
    sizes.push_back(each.size);
  auto type = builder.tensorType(sizes, element);
  auto dimension = static_cast<uint64_t>(axis);
  if (type.hasStaticShape())
    return builder.typed<stablehlo::IotaOp>(type, dimension);
  return builder.typed<stablehlo::DynamicIotaOp>(type, builder.extents(dims),
                                                 dimension);
}

Value sizeScalar(GraphBuilder &builder, const Dim &dim, Type element) {
  if (dim.isStatic())
    return builder.scalar(element, static_cast<double>(dim.size));
  return builder.cast(builder.reshape(dim.extent, ArrayRef<int64_t>()),
                      element);
}

void requireSize(GraphBuilder &builder, OperandDim a, OperandDim b,
                 ComparisonDirection direction) {
  if (!a.tensor || !b.tensor ||
      builder.known().sameSize(a.tensor, a.dimension, b.tensor, b.dimension))
    return;
  const Dim left = builder.dim(a.tensor, a.dimension),
            right = builder.dim(b.tensor, b.dimension);
  const bool isEqual = direction == ComparisonDirection::EQ;
  if (left.isStatic() && right.isStatic()) {
    if (isEqual ? left.size != right.size : left.size > right.size)
      builder.fail("dimension " + Twine(a.dimension) + " of the " + a.name +
                   ", " + Twine(left.size) + ", is " +
                   (isEqual ? "not" : "larger than") + " dimension " +
                   Twine(b.dimension) + " of the " + b.name + ", " +
                   Twine(right.size));
    return;
  }
  if (builder.requiresValues())
    builder.require(builder.compare(sizeScalar(builder, left, builder.i64()),
                                    sizeScalar(builder, right, builder.i64()),
                                    direction));
}

Value integers(GraphBuilder &builder, ArrayRef<int64_t> values,
               ArrayRef<int64_t> shape) {
  return builder.constant(
      Tensor::of<int64_t>(ElementType::I64, Shape(shape.begin(), shape.end()),
                          std::vector<int64_t>(values.begin(), values.end())));
}

Value integersLike(GraphBuilder &builder, ArrayRef<int64_t> values,
                   Value like) {
  return integers(builder, values, builder.shape(like));
}

Value wrapNegative(GraphBuilder &builder, Value indices, const Dim &size) {
  indices = builder.cast(indices, builder.i64());
  if (auto known = builder.knownIntegers(indices)) {
    if (llvm::all_of(*known, [](int64_t index) { return index >= 0; }))
      return indices;
    if (size.isStatic()) {
      for (int64_t &index : *known)
        index += index < 0 ? size.size : 0;
      return integersLike(builder, *known, indices);
    }
  }
  Value negative = builder.compare(indices, builder.scalar(builder.i64(), 0),
                                   ComparisonDirection::LT);
  Value shifted = builder.binary<stablehlo::AddOp>(
      indices, sizeScalar(builder, size, builder.i64()));
  return builder.op<stablehlo::SelectOp>(negative, shifted, indices);
}

bool indicesFit(GraphBuilder &builder, Value indices, Value data,
                int64_t dimension, int64_t first, int64_t step) {
  const int64_t size = builder.size(data, dimension);
  auto known = builder.knownTensor(indices);
  if (ShapedType::isDynamic(size)) {
    int64_t least = 0;
    for (int64_t i = first; known && i < known->size(); i += step) {
      const int64_t index = known->toInteger(i);
      least = std::max(least, index < 0 ? 0 - index : index + 1);
    }
    if (least > 0 && builder.requiresValues())
      builder.require(builder.compare(
          sizeScalar(builder, builder.dim(data, dimension), builder.i64()),
          builder.scalar(builder.i64(), static_cast<double>(least)),
          ComparisonDirection::GE));
    return true;
  }
  for (int64_t i = first; known && i < known->size(); i += step) {
    const int64_t index = known->toInteger(i);
    if (index >= -size && index < size)
      continue;
    builder.fail("index " + Twine(index) + " (element " + Twine(i) +
                 " of the indices) is not in [-" + Twine(size) + ", " +
                 Twine(size) + "), the bounds of dimension " +
                 Twine(dimension));
    return false;
  }
  return true;
}

template <typename T>
static Tensor tensorOfNumbers(ElementType type, ArrayRef<double> values,
                              ArrayRef<int64_t> shape) {
  std::vector<T> numbers(values.begin(), values.end());
  return Tensor::of<T>(type, Shape(shape.begin(), shape.end()), numbers);
}

Value numbers(GraphBuilder &builder, Type element, ArrayRef<double> values,
              ArrayRef<int64_t> shape) {
  if (element.isF64())
    return builder.constant(
        tensorOfNumbers<double>(ElementType::F64, values, shape));
  return builder.cast(
      builder.constant(tensorOfNumbers<float>(ElementType::F32, values, shape)),
      element);
}

Value widened(GraphBuilder &builder, Value value) {
  return value && nn::isNarrowFloat(value.getType())
             ? builder.cast(value, builder.f32())
             : value;
}

Value saturate(GraphBuilder &builder, Value value, Type element) {
  auto type = dyn_cast<FloatType>(element);
  if (!value || !type)
    return value;
  double greatest =
      APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  return builder.op<stablehlo::ClampOp>(
      builder.scalar(builder.element(value), -greatest), value,
      builder.scalar(builder.element(value), greatest));
}

/// The op that combines two elements; "" for none.
static StringRef combiner(Combine combine) {
  switch (combine) {
  case Combine::Replace:
    return "";
  case Combine::Add:
    return stablehlo::AddOp::getOperationName();
  case Combine::Multiply:
    return stablehlo::MulOp::getOperationName();
  case Combine::Max:
    return stablehlo::MaxOp::getOperationName();
  case Combine::Min:
    return stablehlo::MinOp::getOperationName();
  }
  return "";
}

Value scatter(GraphBuilder &builder, Value operand, Value indices,
              Value updates, stablehlo::ScatterDimensionNumbersAttr numbers,
              Combine combine) {
  if (!operand || !indices || !updates)
    return {};
  OpBuilder &ops = builder.builder();
  Location loc = builder.location();
  OperationState state(loc, stablehlo::ScatterOp::getOperationName());
  stablehlo::ScatterOp::build(ops, state, TypeRange(Type(operand.getType())),
                              ValueRange(operand), indices, ValueRange(updates),
                              numbers, /*indices_are_sorted=*/false,
                              /*unique_indices=*/false);
  Region &region = *state.regions.front();
  if (region.empty())
    region.emplaceBlock();
  {
    OpBuilder::InsertionGuard guard(ops);
    Block &block = region.front();
    Type scalar = RankedTensorType::get({}, builder.element(operand));
    block.addArguments({scalar, scalar}, {loc, loc});
    ops.setInsertionPointToStart(&block);
    Value result = block.getArgument(1);
    if (StringRef name = combiner(combine); !name.empty()) {
      OperationState body(loc, name, block.getArguments(), TypeRange(scalar),
                          {});
      result = ops.create(body)->getResult(0);
    }
    ops.create<stablehlo::ReturnOp>(loc, ValueRange(result));
  }
  Operation *op = builder.create(state);
  return op ? op->getResult(0) : Value();
}

} // namespace sinter::formats
