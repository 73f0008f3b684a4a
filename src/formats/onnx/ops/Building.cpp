#include "formats/onnx/ops/Building.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

Value select(NodeContext &node, Value predicate, Value onTrue, Value onFalse) {
  Values all = node.broadcastTogether({predicate, onTrue, onFalse});
  if (all.size() != 3)
    return {};
  return node.op<stablehlo::SelectOp>(all[0], all[1], all[2]);
}

Value iota(NodeContext &node, ArrayRef<Dim> dims, int64_t axis, Type element) {
  Ints sizes;
  for (const Dim &each : dims)
    sizes.push_back(each.size);
  auto type = node.tensorType(sizes, element);
  auto dimension = static_cast<uint64_t>(axis);
  if (type.hasStaticShape())
    return node.typed<stablehlo::IotaOp>(type, dimension);
  return node.typed<stablehlo::DynamicIotaOp>(type, node.extents(dims),
                                              dimension);
}

Value sizeScalar(NodeContext &node, const Dim &dim, Type element) {
  if (dim.isStatic())
    return node.scalar(element, static_cast<double>(dim.size));
  return node.cast(node.reshape(dim.extent, ArrayRef<int64_t>()), element);
}

Value integersLike(NodeContext &node, ArrayRef<int64_t> values, Value like) {
  ArrayRef<int64_t> shape = node.shape(like);
  return node.constant(
      Tensor::of<int64_t>(ElementType::I64, Shape(shape.begin(), shape.end()),
                          std::vector<int64_t>(values.begin(), values.end())));
}

Value wrapNegative(NodeContext &node, Value indices, const Dim &size) {
  indices = node.cast(indices, node.i64());
  if (auto known = node.knownIntegers(indices)) {
    if (llvm::all_of(*known, [](int64_t index) { return index >= 0; }))
      return indices;
    if (size.isStatic()) {
      for (int64_t &index : *known)
        index += index < 0 ? size.size : 0;
      return integersLike(node, *known, indices);
    }
  }
  Value negative = node.compare(indices, node.scalar(node.i64(), 0),
                                ComparisonDirection::LT);
  Value shifted = node.binary<stablehlo::AddOp>(
      indices, sizeScalar(node, size, node.i64()));
  return node.op<stablehlo::SelectOp>(negative, shifted, indices);
}

bool indicesFit(NodeContext &node, Value indices, Value data, int64_t dimension,
                int64_t first, int64_t step) {
  const int64_t size = node.shape(data)[dimension];
  if (ShapedType::isDynamic(size))
    return true;
  auto known = node.knownTensor(indices);
  for (int64_t i = first; known && i < known->size(); i += step) {
    const int64_t index = known->toInteger(i);
    if (index >= -size && index < size)
      continue;
    node.fail("index " + Twine(index) + " (element " + Twine(i) +
              " of the indices) is not in [-" + Twine(size) + ", " +
              Twine(size) + "), the bounds of dimension " + Twine(dimension));
    return false;
  }
  return true;
}

template <typename T>
static Tensor tensorOf(ElementType type, ArrayRef<double> values,
                       ArrayRef<int64_t> shape) {
  std::vector<T> numbers(values.begin(), values.end());
  return Tensor::of<T>(type, Shape(shape.begin(), shape.end()), numbers);
}

Value numbers(NodeContext &node, Type element, ArrayRef<double> values,
              ArrayRef<int64_t> shape) {
  if (element.isInteger(64))
    return node.constant(tensorOf<int64_t>(ElementType::I64, values, shape));
  if (element.isF64())
    return node.constant(tensorOf<double>(ElementType::F64, values, shape));
  return node.cast(
      node.constant(tensorOf<float>(ElementType::F32, values, shape)), element);
}

Value scalarInput(NodeContext &node, int64_t input) {
  Value value = node.operand(input);
  return value ? node.reshape(value, ArrayRef<int64_t>()) : value;
}

std::optional<Combine> readCombine(NodeContext &node) {
  std::string word = node.getString("reduction", "none");
  static const std::pair<StringRef, Combine> words[] = {
      {"none", Combine::Replace},
      {"add", Combine::Add},
      {"mul", Combine::Multiply},
      {"max", Combine::Max},
      {"min", Combine::Min}};
  for (auto [name, combine] : words)
    if (name == word)
      return combine;
  return node.fail("attribute 'reduction' is '" + word + "'");
}

/// The op that combines; "" for none.
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

Value scatter(NodeContext &node, Value operand, Value indices, Value updates,
              stablehlo::ScatterDimensionNumbersAttr numbers, Combine combine) {
  if (!operand || !indices || !updates)
    return {};
  OpBuilder &builder = node.builder();
  Location loc = node.location();
  OperationState state(loc, stablehlo::ScatterOp::getOperationName());
  stablehlo::ScatterOp::build(
      builder, state, TypeRange(Type(operand.getType())), ValueRange(operand),
      indices, ValueRange(updates), numbers, /*indices_are_sorted=*/false,
      /*unique_indices=*/false);
  Region &region = *state.regions.front();
  if (region.empty())
    region.emplaceBlock();
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &block = region.front();
    Type scalar = RankedTensorType::get({}, node.element(operand));
    block.addArguments({scalar, scalar}, {loc, loc});
    builder.setInsertionPointToStart(&block);
    Value result = block.getArgument(1);
    if (StringRef name = combiner(combine); !name.empty()) {
      OperationState body(loc, name, block.getArguments(), TypeRange(scalar),
                          {});
      result = builder.create(body)->getResult(0);
    }
    builder.create<stablehlo::ReturnOp>(loc, ValueRange(result));
  }
  Operation *op = node.create(state);
  return op ? op->getResult(0) : Value();
}

} // namespace sinter::onnx
