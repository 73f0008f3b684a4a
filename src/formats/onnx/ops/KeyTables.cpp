// Tables from keys to values: LabelEncoder and CategoryMapper of ai.onnx.ml.

#include "formats/import/Building.h"
#include "formats/import/TextBuilding.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/Types.h"
#include "runtime/Strings.h"

#include <numeric>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

namespace {

/// Keys, or values: numbers, or strings.
struct Column {
  bool areStrings = false;
  Tensor numbers = Tensor(ElementType::I64, {0});
  std::vector<std::string> strings = {};

  static Column of(const Ints &list) {
    return {false,
            Tensor::of<int64_t>(ElementType::I64,
                                {static_cast<int64_t>(list.size())}, list)};
  }
  static Column of(std::vector<std::string> list) {
    return {true, Tensor(ElementType::I64, {0}), std::move(list)};
  }
  int64_t size() const {
    return areStrings ? static_cast<int64_t>(strings.size()) : numbers.size();
  }
};

} // namespace

static std::vector<std::string> textsOf(const Tensor &strings) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < strings.size(); ++i)
    texts.emplace_back(stringAt(strings, i));
  return texts;
}

/// The list of attribute \p prefix + "_strings", "_tensor", "_int64s" or
/// "_floats".
static std::optional<Column> readList(NodeContext &node, StringRef prefix) {
  auto name = [&](StringRef suffix) { return (prefix + suffix).str(); };
  if (node.hasAttribute(name("_strings")))
    return Column::of(node.getStrings(name("_strings")));
  if (node.hasAttribute(name("_tensor"))) {
    std::optional<Tensor> list = node.getTensor(name("_tensor"));
    if (!list)
      return std::nullopt;
    if (isString(list->type()))
      return Column::of(textsOf(*list));
    return Column{false, list->reshaped({list->size()})};
  }
  if (node.hasAttribute(name("_int64s")))
    return Column::of(node.getInts(name("_int64s")));
  const auto list = node.getFloats(name("_floats"));
  const std::vector<float> floats(list.begin(), list.end());
  return Column{false, Tensor::of<float>(ElementType::F32,
                                         {static_cast<int64_t>(floats.size())},
                                         floats)};
}

/// The elements of \p list at \p places, as a constant.
static Value chosen(NodeContext &node, const Column &list,
                    ArrayRef<int64_t> places) {
  if (list.areStrings) {
    std::vector<std::string> texts;
    for (int64_t place : places)
      texts.push_back(list.strings[place]);
    return stringConstant(node, texts);
  }
  const Tensor &numbers = list.numbers;
  Tensor result(numbers.type(), {static_cast<int64_t>(places.size())});
  const size_t size = byteSize(numbers.type());
  for (auto [i, place] : llvm::enumerate(places))
    std::memcpy(result.mutableBytes() + i * size, numbers.data() + place * size,
                size);
  return node.constant(result);
}

/// Which elements of \p keys are the first of their kind, in ascending order;
/// not those that are NaN, whose first is \p nan.
static std::vector<int64_t> sortKeys(const Tensor &keys,
                                     std::optional<int64_t> &nan) {
  const bool areFloats = isFloat(keys.type());
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

/// \p all[place], a scalar \p otherwise where \p isFound does not hold.
static Value takenOr(NodeContext &node, Value all, Value place, Value isFound,
                     Value otherwise) {
  return select(node, isFound, node.op<nn::TakeOp>(all, place, uint64_t(0)),
                otherwise);
}

/// What the table has for each number of \p x, else the scalar \p otherwise.
static Value lookUpNumbers(NodeContext &node, Value x, const Column &keys,
                           const Column &values, Value otherwise) {
  std::optional<int64_t> nan;
  const std::vector<int64_t> order = sortKeys(keys.numbers, nan);
  Value result = node.broadcastInDim(otherwise, node.dims(x), {});
  if (!order.empty()) {
    Value sorted = chosen(node, keys, order);
    Value place =
        lastNotGreater(node, x, sorted, static_cast<int64_t>(order.size()));
    Value isFound =
        node.compare(node.op<nn::TakeOp>(sorted, place, uint64_t(0)), x,
                     ComparisonDirection::EQ);
    result =
        takenOr(node, chosen(node, values, order), place, isFound, otherwise);
  }
  // Before version 4 a NaN is equal to no key.
  if (nan && node.version() >= 4)
    result =
        select(node, node.compare(x, x, ComparisonDirection::NE),
               node.reshape(chosen(node, values, {*nan}), ArrayRef<int64_t>()),
               result);
  return result;
}

/// The same for each string of \p x.
static Value lookUpStrings(NodeContext &node, Value x, const Column &keys,
                           const Column &values, Value otherwise) {
  if (keys.size() == 0)
    return node.broadcastInDim(otherwise, node.dims(x), {});
  Value place = findIn(node, x, keys.strings);
  if (!place)
    return {};
  Value first = node.one(place, 0);
  Value isFound = node.compare(place, first, ComparisonDirection::GE);
  std::vector<int64_t> all(keys.size());
  std::iota(all.begin(), all.end(), 0);
  return takenOr(node, chosen(node, values, all),
                 node.binary<stablehlo::MaxOp>(place, first), isFound,
                 otherwise);
}

/// The same where keys and elements are of one kind. \p otherwise has one
/// element.
static LogicalResult lookUp(NodeContext &node, const Column &keys,
                            const Column &values, const Column &otherwise) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (keys.size() != values.size())
    return node.fail("there are " + Twine(keys.size()) + " keys and " +
                     Twine(values.size()) + " values");
  const bool areAlike =
      keys.areStrings
          ? formats::areStrings(node, x)
          : mlirTypeOf(keys.numbers.type(), node.context()) == node.element(x);
  if (!areAlike)
    return node.fail("the keys are not of the input's type");
  Value rest = node.reshape(chosen(node, otherwise, {0}), ArrayRef<int64_t>());
  return node.result(keys.areStrings
                         ? lookUpStrings(node, x, keys, values, rest)
                         : lookUpNumbers(node, x, keys, values, rest));
}

/// The value of keys that a LabelEncoder lacks.
static std::optional<Column> readDefault(NodeContext &node,
                                         const Column &values) {
  const ElementType type =
      values.areStrings ? ElementType::STRING : values.numbers.type();
  if (node.hasAttribute("default_tensor")) {
    std::optional<Tensor> value = node.getTensor("default_tensor");
    if (!value)
      return std::nullopt;
    if (value->size() != 1 || value->type() != type)
      return node.fail("attribute 'default_tensor' is not one element of the "
                       "values' type");
    if (isString(type))
      return Column::of(textsOf(*value));
    return Column{false, value->reshaped({1})};
  }
  if (values.areStrings)
    return Column::of({node.getString("default_string", "_Unused")});
  Tensor value(type, {1});
  if (type == ElementType::I64)
    value.set<int64_t>(0, node.getInt("default_int64", -1));
  else if (type == ElementType::F32)
    value.set<float>(0,
                     static_cast<float>(node.getFloat("default_float", -0.0)));
  return Column{false, value};
}

/// From strings to integers or back, by what the input is.
static LogicalResult lookUpEither(NodeContext &node, const Column &integers,
                                  const Column &strings) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (formats::areStrings(node, x))
    return lookUp(node, strings, integers,
                  Column::of(Ints{node.getInt("default_int64", -1)}));
  return lookUp(node, integers, strings,
                Column::of({node.getString("default_string", "_Unused")}));
}

static LogicalResult importLabelEncoder(NodeContext &node) {
  if (node.version() < 2) {
    const auto classes = node.getStrings("classes_strings");
    return lookUpEither(node,
                        Column::of(llvm::to_vector(llvm::seq<int64_t>(
                            0, static_cast<int64_t>(classes.size())))),
                        Column::of(classes));
  }
  const auto keys = readList(node, "keys"), values = readList(node, "values");
  if (!keys || !values)
    return failure();
  const auto otherwise = readDefault(node, *values);
  return otherwise ? lookUp(node, *keys, *values, *otherwise) : failure();
}

static LogicalResult importCategoryMapper(NodeContext &node) {
  return lookUpEither(node, Column::of(node.getInts("cats_int64s")),
                      Column::of(node.getStrings("cats_strings")));
}

llvm::ArrayRef<Operator> keyTableOperators() {
  static const Operator table[] = {
      {"CategoryMapper", mlDomain, 1, importCategoryMapper, 1, 1, false, true},
      {"LabelEncoder", mlDomain, 1, importLabelEncoder, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
