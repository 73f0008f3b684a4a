// Tables from keys to values: LabelEncoder of ai.onnx.ml.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/ClassicalScores.h"
#include "graph/Types.h"

#include <numeric>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

/// The list of attribute \p prefix + "_tensor", "_int64s" or "_floats", as a
/// vector.
static std::optional<Tensor> readList(NodeContext &node, StringRef prefix) {
  auto name = [&](StringRef suffix) { return (prefix + suffix).str(); };
  if (node.hasAttribute(name("_strings")))
    return node.unsupported("keys or values that are strings");
  if (node.hasAttribute(name("_tensor"))) {
    std::optional<Tensor> list = node.getTensor(name("_tensor"));
    return list ? std::optional(list->reshaped({list->size()})) : std::nullopt;
  }
  if (node.hasAttribute(name("_int64s"))) {
    const Ints list = node.getInts(name("_int64s"));
    return Tensor::of<int64_t>(ElementType::I64,
                               {static_cast<int64_t>(list.size())}, list);
  }
  const auto list = node.getFloats(name("_floats"));
  const std::vector<float> floats(list.begin(), list.end());
  return Tensor::of<float>(ElementType::F32,
                           {static_cast<int64_t>(floats.size())}, floats);
}

static bool isFloatType(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 ||
         type == ElementType::F16 || type == ElementType::BF16;
}

/// Which elements of \p keys are the first of their kind, in ascending order;
/// not those that are NaN, whose first is \p nan.
static std::vector<int64_t> sortKeys(const Tensor &keys,
                                     std::optional<int64_t> &nan) {
  const bool areFloats = isFloatType(keys.type());
  std::vector<int64_t> order;
  for (int64_t i = 0; i < keys.size(); ++i)
    if (!areFloats || !std::isnan(keys.toDouble(i)))
      order.push_back(i);
    else if (!nan)
      nan = i;
  auto isLess = [&](int64_t a, int64_t b) {
    return areFloats ? keys.toDouble(a) < keys.toDouble(b)
                     : keys.toInteger(a) < keys.toInteger(b);
  };
  llvm::stable_sort(order, isLess);
  order.erase(std::unique(order.begin(), order.end(),
                          [&](int64_t a, int64_t b) {
                            return !isLess(a, b) && !isLess(b, a);
                          }),
              order.end());
  return order;
}

/// The elements of \p list at \p places.
static Tensor chosen(const Tensor &list, ArrayRef<int64_t> places) {
  Tensor result(list.type(), {static_cast<int64_t>(places.size())});
  const size_t size = byteSize(list.type());
  for (auto [i, place] : llvm::enumerate(places))
    std::memcpy(result.mutableBytes() + i * size, list.data() + place * size,
                size);
  return result;
}

/// The place of the last of \p count ascending \p keys that is not greater
/// than each element of \p x, or the first: halves what is left, without
/// branches.
static Value lastNotGreater(NodeContext &node, Value x, Value keys,
                            int64_t count) {
  Value place =
      node.broadcastInDim(node.scalar(node.i64(), 0), node.dims(x), {});
  int64_t step = 1;
  while (step * 2 < count)
    step *= 2;
  for (; count > 1 && step > 0 && !node.failed(); step /= 2) {
    Value next = node.binary<stablehlo::AddOp>(
        place, node.scalar(node.i64(), static_cast<double>(step)));
    Value isThere =
        node.compare(next, node.scalar(node.i64(), static_cast<double>(count)),
                     ComparisonDirection::LT);
    Value key = node.op<nn::TakeOp>(keys, next, uint64_t(0));
    Value isBelow = node.compare(key, x, ComparisonDirection::LE);
    place =
        select(node, node.op<stablehlo::AndOp>(isThere, isBelow), next, place);
  }
  return place;
}

/// What the table has for each element of \p x, else \p otherwise.
static Value lookUp(NodeContext &node, Value x, const Tensor &keys,
                    const Tensor &values, const Tensor &otherwise) {
  std::optional<int64_t> nan;
  const std::vector<int64_t> order = sortKeys(keys, nan);
  Value rest = node.reshape(node.constant(otherwise), ArrayRef<int64_t>());
  Value result = node.broadcastInDim(rest, node.dims(x), {});
  if (!order.empty()) {
    Value sorted = node.constant(chosen(keys, order));
    Value place =
        lastNotGreater(node, x, sorted, static_cast<int64_t>(order.size()));
    Value isFound =
        node.compare(node.op<nn::TakeOp>(sorted, place, uint64_t(0)), x,
                     ComparisonDirection::EQ);
    Value found = node.op<nn::TakeOp>(node.constant(chosen(values, order)),
                                      place, uint64_t(0));
    result = select(node, isFound, found, rest);
  }
  // Before version 4 a NaN is equal to no key.
  if (nan && node.version() >= 4)
    result = select(node, node.compare(x, x, ComparisonDirection::NE),
                    node.reshape(node.constant(chosen(values, {*nan})),
                                 ArrayRef<int64_t>()),
                    result);
  return result;
}

/// The value of keys that the table lacks.
static std::optional<Tensor> readDefault(NodeContext &node, ElementType type) {
  if (node.hasAttribute("default_tensor")) {
    std::optional<Tensor> value = node.getTensor("default_tensor");
    if (!value)
      return std::nullopt;
    if (value->size() != 1 || value->type() != type)
      return node.fail("attribute 'default_tensor' is not one element of the "
                       "values' type");
    return value->reshaped({1});
  }
  Tensor value(type, {1});
  if (type == ElementType::I64)
    value.set<int64_t>(0, node.getInt("default_int64", -1));
  else if (type == ElementType::F32)
    value.set<float>(0,
                     static_cast<float>(node.getFloat("default_float", -0.0)));
  return value;
}

static LogicalResult importLabelEncoder(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (node.version() < 2)
    return node.unsupported("classes that are strings");
  const auto keys = readList(node, "keys"), values = readList(node, "values");
  if (!keys || !values)
    return failure();
  if (keys->size() != values->size())
    return node.fail("there are " + Twine(keys->size()) + " keys and " +
                     Twine(values->size()) + " values");
  if (mlirTypeOf(keys->type(), node.context()) != node.element(x))
    return node.fail("the keys are not of the input's type");
  const auto otherwise = readDefault(node, values->type());
  if (!otherwise)
    return failure();
  return node.result(lookUp(node, x, *keys, *values, *otherwise));
}

llvm::ArrayRef<Operator> keyTableOperators() {
  static const Operator table[] = {
      {"LabelEncoder", classicalDomain, 1, importLabelEncoder, 1, 1, false,
       true},
  };
  return table;
}

} // namespace sinter::onnx
