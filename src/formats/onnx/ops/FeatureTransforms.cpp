// What ai.onnx.ml does to features before a model sees them.

#include "formats/import/Building.h"
#include "formats/import/TextBuilding.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

#include <map>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

/// A number for all features of \p x, or one for each, that broadcasts to it.
template <typename T>
static bool fitsFeatures(NodeContext &node, Value x, ArrayRef<T> values,
                         StringRef name) {
  const auto count = static_cast<int64_t>(values.size());
  if (count == 1)
    return true;
  const int64_t rank = node.rank(x);
  if (rank != 1 && rank != 2) {
    node.fail("attribute '" + name +
              "' has not one element, and the input has neither one nor two "
              "dimensions");
    return false;
  }
  const int64_t width = node.size(x, rank - 1);
  if (!ShapedType::isDynamic(width) && width != count) {
    node.fail("attribute '" + name + "' has " + Twine(count) +
              " elements, neither one nor one for each of " + Twine(width) +
              " features");
    return false;
  }
  return true;
}

/// Such numbers as a vector of \p x's element type.
static Value featureNumbers(NodeContext &node, Value x,
                            ArrayRef<double> values) {
  Value vector = numbers(node, node.element(x), values,
                         {static_cast<int64_t>(values.size())});
  if (values.size() > 1 && node.size(x, -1) == ShapedType::kDynamic)
    requireSize(node, {x, node.rank(x) - 1, "the input"},
                {vector, 0, "an attribute"});
  return vector;
}

/// Floats as they are, anything else as f32.
static Value asFloats(NodeContext &node, Value x) {
  return !x || node.isFloat(x) ? x : node.cast(x, node.f32());
}

static LogicalResult importScaler(NodeContext &node) {
  Value x = asFloats(node, node.operand(0));
  const auto offset = node.getFloats("offset"), scale = node.getFloats("scale");
  if (!x)
    return failure();
  if (scale.empty() || scale.size() != offset.size())
    return node.fail("attributes 'scale' and 'offset' differ in length, or are "
                     "empty");
  if (node.rank(x) == 0)
    return node.fail("the input has no dimensions");
  if (!fitsFeatures<double>(node, x, scale, "scale"))
    return failure();
  Value centred =
      node.binary<stablehlo::SubtractOp>(x, featureNumbers(node, x, offset));
  return node.result(node.cast(
      node.binary<stablehlo::MulOp>(centred, featureNumbers(node, x, scale)),
      node.f32()));
}

static LogicalResult importNormalizer(NodeContext &node) {
  Value x = asFloats(node, node.operand(0));
  const std::string norm = node.getString("norm", "MAX");
  if (!x)
    return failure();
  const int64_t rank = node.rank(x);
  if (rank != 1 && rank != 2)
    return node.fail("the input has neither one nor two dimensions");
  x = node.cast(x, node.f32());
  Ints axes{rank - 1};
  Value size;
  if (norm == "MAX")
    size = node.reduce<stablehlo::MaxOp>(
        x, axes, std::numeric_limits<float>::lowest(), /*keep=*/true);
  else if (norm == "L1")
    size = node.reduce<stablehlo::AddOp>(node.op<stablehlo::AbsOp>(x), axes, 0,
                                         /*keep=*/true);
  else if (norm == "L2")
    size = node.op<stablehlo::SqrtOp>(node.reduce<stablehlo::AddOp>(
        node.op<stablehlo::MulOp>(x, x), axes, 0, /*keep=*/true));
  else
    return node.fail("attribute 'norm' is not MAX, L1 or L2");
  if (!size)
    return failure();
  Value isZero = node.compare(size, node.one(size, 0), ComparisonDirection::EQ);
  return node.result(node.binary<stablehlo::DivOp>(
      x, select(node, isZero, node.one(size, 1), size)));
}

/// Where \p x is \p value; a NaN is one, too.
static Value isValue(NodeContext &node, Value x, double value) {
  if (std::isnan(value))
    return node.compare(x, x, ComparisonDirection::NE);
  return node.compare(x, node.one(x, value), ComparisonDirection::EQ);
}

static LogicalResult importImputer(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (node.rank(x) == 0)
    return node.fail("the input has no dimensions");
  const auto floats = node.getFloats("imputed_value_floats");
  const auto integers = node.getInts("imputed_value_int64s");
  if (floats.empty() == integers.empty())
    return node.fail("not one of 'imputed_value_floats' and "
                     "'imputed_value_int64s' is given");
  if (floats.empty() == node.isFloat(x))
    return node.fail("the imputed values are not of the input's type");
  if (node.isFloat(x)) {
    if (!fitsFeatures<double>(node, x, floats, "imputed_value_floats"))
      return failure();
    return node.result(
        select(node, isValue(node, x, node.getFloat("replaced_value_float", 0)),
               featureNumbers(node, x, floats), x));
  }
  if (!fitsFeatures<int64_t>(node, x, integers, "imputed_value_int64s"))
    return failure();
  Value replaced =
      node.reshape(node.integers({node.getInt("replaced_value_int64", 0)}),
                   ArrayRef<int64_t>());
  Value isReplaced =
      node.compare(node.cast(x, node.i64()), replaced, ComparisonDirection::EQ);
  return node.result(select(node, isReplaced,
                            node.cast(node.integers(integers), node.element(x)),
                            x));
}

static LogicalResult importBinarizer(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  const double threshold = node.getFloat("threshold", 0);
  // An integer is compared as it is.
  Value number =
      node.isFloat(x) ? x : node.cast(x, node.builder().getF64Type());
  return node.result(node.cast(node.compare(number, node.one(number, threshold),
                                            ComparisonDirection::GT),
                               node.element(x)));
}

/// Whether each element of \p x is each category, in one more dimension; of
/// equal categories only the last one counts.
static Value isCategory(NodeContext &node, Value x) {
  const auto strings = node.getStrings("cats_strings");
  const Ints integers = node.getInts("cats_int64s");
  const bool areStrings = formats::areStrings(node, x);
  const size_t count = areStrings ? strings.size() : integers.size();
  if (count == 0)
    return node.fail("there are no categories of the input's type");
  // Each category by the number of the last one that is equal.
  std::map<std::string, int64_t> lastString;
  std::map<int64_t, int64_t> lastInteger;
  auto lastOf = [&](size_t i) -> int64_t & {
    return areStrings ? lastString[strings[i]] : lastInteger[integers[i]];
  };
  for (size_t i = 0; i < count; ++i)
    lastOf(i) = static_cast<int64_t>(i);
  std::vector<int64_t> lasts;
  for (size_t i = 0; i < count; ++i)
    lasts.push_back(lastOf(i));
  const int64_t rank = node.rank(x);
  if (areStrings) {
    Value found = node.unsqueeze(formats::findIn(node, x, strings), {rank});
    Value place = node.op<nn::TakeOp>(
        node.integers(lasts),
        node.binary<stablehlo::MaxOp>(found, node.scalar(node.i64(), 0)),
        uint64_t(0));
    Value isThere = node.compare(found, node.scalar(node.i64(), 0),
                                 ComparisonDirection::GE);
    Value numbers =
        iota(node, Dims{static_cast<int64_t>(count)}, 0, node.i64());
    return node.binary<stablehlo::AndOp>(
        isThere, node.compare(place, numbers, ComparisonDirection::EQ));
  }
  Value number = node.unsqueeze(node.cast(x, node.i64()), {rank});
  Value isOne =
      node.compare(number, node.integers(integers), ComparisonDirection::EQ);
  std::vector<int64_t> counts;
  for (size_t i = 0; i < count; ++i)
    counts.push_back(lasts[i] == static_cast<int64_t>(i));
  if (llvm::is_contained(counts, 0))
    isOne = node.binary<stablehlo::AndOp>(
        isOne, node.compare(node.integers(counts), node.scalar(node.i64(), 0),
                            ComparisonDirection::NE));
  return isOne;
}

static LogicalResult importOneHotEncoder(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  Value isOne = isCategory(node, x);
  if (!isOne)
    return failure();
  Value encoded = node.cast(isOne, node.f32());
  if (!node.getBool("zeros", true)) {
    const int64_t rank = node.rank(x);
    Ints all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    Value found =
        node.reduce<stablehlo::MaxOp>(encoded, {rank}, 0, /*keep=*/false);
    Value least = node.reduce<stablehlo::MinOp>(found, all, 1, /*keep=*/false);
    if (least)
      node.require(node.compare(least, node.scalar(node.f32(), 1),
                                ComparisonDirection::EQ));
  }
  return node.result(encoded);
}

/// Columns of \p x [N, ...], whose rows are cut off or filled with zeros where
/// they have not \p width elements.
static Value widenedTo(NodeContext &node, Value x, int64_t width) {
  if (!x)
    return {};
  if (node.rank(x) == 0)
    return node.fail("an input has no dimensions");
  x = node.cast(x, node.f32());
  if (node.rank(x) == 1)
    x = node.unsqueeze(x, {0});
  if (node.rank(x) > 2) {
    Dims sizes = node.dims(x);
    x = node.reshape(
        x, Dims{sizes[0], node.product(ArrayRef<Dim>(sizes).drop_front())});
  }
  if (!x)
    return {};
  const int64_t size = node.size(x, 1);
  if (ShapedType::isDynamic(size))
    return node.unknown("the number of features is known only at run time");
  if (size > width)
    return node.sliceAxis(x, 1, 0, width);
  return size == width ? x : node.pad(x, 0, {0, 0}, {0, width - size});
}

static LogicalResult importFeatureVectorizer(NodeContext &node) {
  const Ints widths = node.getInts("inputdimensions");
  if (static_cast<int64_t>(widths.size()) != node.inputCount())
    return node.fail("attribute 'inputdimensions' needs one entry per input, " +
                     Twine(node.inputCount()) + ", and has " +
                     Twine(widths.size()));
  Values columns;
  for (auto [i, width] : llvm::enumerate(widths)) {
    if (width < 0 || width > formats::longestTable)
      return node.fail("attribute 'inputdimensions' is out of range");
    columns.push_back(
        widenedTo(node, node.operand(static_cast<int64_t>(i)), width));
  }
  return node.result(node.concatenate(columns, 1));
}

static LogicalResult importArrayFeatureExtractor(NodeContext &node) {
  Value x = node.operand(0), indices = node.operand(1);
  if (!x || !indices)
    return failure();
  const int64_t rank = node.rank(x);
  if (rank == 0)
    return node.fail("the input has no dimensions");
  if (!isa<IntegerType>(node.element(indices)))
    return node.fail("the indices are no integers");
  Dims sizes = node.dims(indices);
  Value list = node.reshape(indices, Dims{node.product(sizes)});
  if (!list || !indicesFit(node, list, x, rank - 1))
    return failure();
  Value taken = node.op<nn::TakeOp>(x, list, static_cast<uint64_t>(rank - 1));
  return node.result(rank == 1 ? node.unsqueeze(taken, {0}) : taken);
}

llvm::ArrayRef<Operator> featureOperators() {
  static const Operator table[] = {
      {"ArrayFeatureExtractor", mlDomain, 1, importArrayFeatureExtractor, 2, 2,
       false, true},
      {"Binarizer", mlDomain, 1, importBinarizer, 1, 1, false, true},
      {"FeatureVectorizer", mlDomain, 1, importFeatureVectorizer, 1, anyNumber,
       false, true},
      {"Imputer", mlDomain, 1, importImputer, 1, 1, false, true},
      {"Normalizer", mlDomain, 1, importNormalizer, 1, 1, false, true},
      {"OneHotEncoder", mlDomain, 1, importOneHotEncoder, 1, 1, false, true},
      {"Scaler", mlDomain, 1, importScaler, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
