//===- Tuples.cpp - values that are not tensors ---------------------------===//

#include "interpreter/Tuples.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::interpreter {

Tensor token() { return Tensor(ElementType::I1, {0}); }

Tensor packed(Tensors elements) {
  auto owner = std::make_shared<const Tensors>(std::move(elements));
  const void *data = owner.get();
  return Tensor::share(ElementType::I1, {0}, data, std::move(owner));
}

const Tensors &unpacked(const Tensor &value) {
  return *reinterpret_cast<const Tensors *>(value.data());
}

/// The element types of a type whose values packed() makes.
static std::optional<TypeRange> elementTypesOf(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return TypeRange(tuple.getTypes());
  if (auto future = dyn_cast<stablehlo::FutureType>(type))
    return TypeRange(future.getTypes());
  return std::nullopt;
}

bool fits(const Tensor &value, Type type) {
  if (isa<stablehlo::TokenType>(type))
    return value.size() == 0;
  if (std::optional<TypeRange> types = elementTypesOf(type)) {
    if (value.type() != ElementType::I1 || value.shape() != Shape{0})
      return false;
    const Tensors &elements = unpacked(value);
    return elements.size() == types->size() &&
           llvm::all_of(llvm::zip_equal(elements, *types), [](auto pair) {
             return fits(std::get<0>(pair), std::get<1>(pair));
           });
  }
  // A buffer is represented by its tensor.
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() != value.rank() ||
      elementTypeOf(shaped.getElementType()) != value.type())
    return false;
  ArrayRef<int64_t> bounds;
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    if (auto encoding = dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(
            ranked.getEncoding()))
      bounds = encoding.getBounds();
  for (auto [i, expected, given] :
       llvm::enumerate(shaped.getShape(), value.shape())) {
    if (!ShapedType::isDynamic(expected) && expected != given)
      return false;
    if (i < bounds.size() && !ShapedType::isDynamic(bounds[i]) &&
        given > bounds[i])
      return false;
  }
  return true;
}

/// Removes the value of \p type from the front of \p leaves.
static Result<Tensor> takeValue(Type type, ArrayRef<Tensor> &leaves) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    Tensors elements;
    for (Type elementType : tuple.getTypes()) {
      Result<Tensor> value = takeValue(elementType, leaves);
      if (!value)
        return value;
      elements.push_back(std::move(*value));
    }
    return packed(std::move(elements));
  }
  if (isa<stablehlo::FutureType>(type))
    return unsupported("a future cannot be given from outside");
  if (leaves.empty())
    return usageError("fewer inputs than the function has arguments");
  Tensor value = leaves.front();
  leaves = leaves.drop_front();
  return value;
}

Result<Tensors> packedAs(TypeRange types, ArrayRef<Tensor> leaves) {
  Tensors values;
  for (Type type : types) {
    Result<Tensor> value = takeValue(type, leaves);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  if (!leaves.empty())
    return usageError("more inputs than the function has arguments");
  return values;
}

Tensors leavesOf(TypeRange types, ArrayRef<Tensor> values) {
  Tensors leaves;
  for (auto [type, value] : llvm::zip_equal(types, values)) {
    if (std::optional<TypeRange> elements = elementTypesOf(type))
      llvm::append_range(leaves, leavesOf(*elements, unpacked(value)));
    else
      leaves.push_back(value);
  }
  return leaves;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluateToken(const Call &) { return single(token()); }

static Result<Tensors> evaluateBarrier(const Call &call) {
  return Tensors(call.operands.begin(), call.operands.end());
}

static Result<Tensors> evaluateTuple(const Call &call) {
  return single(packed(Tensors(call.operands.begin(), call.operands.end())));
}

static Result<Tensors> evaluateGetTupleElement(const Call &call) {
  const auto index = call.as<stablehlo::GetTupleElementOp>().getIndex();
  const Tensors &elements = unpacked(call[0]);
  if (static_cast<size_t>(index) >= elements.size())
    return invalidModel("the tuple has no such element");
  return single(elements[index]);
}

void registerValues(Registry &registry) {
  registry.add<stablehlo::AfterAllOp>(evaluateToken);
  registry.add<stablehlo::CreateTokenOp>(evaluateToken);
  registry.add<stablehlo::OptimizationBarrierOp>(evaluateBarrier);
  registry.add<stablehlo::TupleOp>(evaluateTuple);
  registry.add<stablehlo::GetTupleElementOp>(evaluateGetTupleElement);
}

} // namespace sinter::interpreter
