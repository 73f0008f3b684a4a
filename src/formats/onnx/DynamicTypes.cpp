#include "formats/onnx/DynamicTypes.h"

#include "formats/onnx/file/DataTypes.h"
#include "graph/Types.h"

using namespace mlir;

namespace sinter::onnx {

namespace {

constexpr int64_t unknown = ShapedType::kDynamic;
using Types = SmallVector<Type>;
using MaybeTypes = std::optional<Types>;

/// The rule for the output types of an operator that may have to wait.
struct DynamicRule {
  StringRef name;
  MaybeTypes (*types)(NodeContext &node);
};

} // namespace

static Ints open(int64_t rank) { return Ints(rank, unknown); }

static MaybeTypes single(NodeContext &node, ArrayRef<int64_t> shape,
                         Type element) {
  return element ? MaybeTypes(Types{node.tensorType(shape, element)})
                 : std::nullopt;
}

/// The first operand's rank and element type; all dimensions dynamic.
static MaybeTypes likeFirst(NodeContext &node) {
  Value x = node.operand(0);
  return single(node, open(node.rank(x)), node.element(x));
}

/// The first operand's type.
static MaybeTypes sameAsFirst(NodeContext &node) {
  return Types{node.type(node.operand(0))};
}

/// The first operand's sizes except along an axis, for every output.
static MaybeTypes parts(NodeContext &node) {
  Value x = node.operand(0);
  auto axis = node.axis(node.getInt("axis", 0), node.rank(x));
  if (!axis)
    return std::nullopt;
  Ints shape(node.shape(x));
  shape[*axis] = unknown;
  return Types(node.outputCount(), node.tensorType(shape, node.element(x)));
}

static MaybeTypes topK(NodeContext &node) {
  Value x = node.operand(0);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(x));
  if (!axis)
    return std::nullopt;
  Ints shape(node.shape(x));
  shape[*axis] = unknown;
  return Types{node.tensorType(shape, node.element(x)),
               node.tensorType(shape, node.i64())};
}

/// Batch and channels of the result are static, spatial dimensions dynamic.
static MaybeTypes pooled(NodeContext &node) {
  Value x = node.operand(0);
  if (node.rank(x) < 3)
    return std::nullopt;
  Ints shape = open(node.rank(x));
  shape[0] = node.size(x, 0);
  shape[1] = node.size(x, 1);
  Types types = {node.tensorType(shape, node.element(x))};
  if (node.opType() == "MaxPool" && node.outputCount() > 1)
    types.push_back(node.tensorType(shape, node.i64()));
  return types;
}

static MaybeTypes convolved(NodeContext &node) {
  bool isQuantized = node.opType() == "QLinearConv";
  Value x = node.operand(0), weight = node.operand(isQuantized ? 3 : 1);
  if (!x || !weight || node.rank(x) < 3 || node.rank(weight) != node.rank(x))
    return std::nullopt;
  Ints shape = open(node.rank(x));
  shape[0] = node.size(x, 0);
  int64_t channels =
      node.size(weight, node.opType() == "ConvTranspose" ? 1 : 0);
  if (node.opType() == "ConvTranspose" && !ShapedType::isDynamic(channels))
    channels *= std::clamp<int64_t>(node.getInt("group", 1), 1, 1 << 20);
  shape[1] = channels;
  Type element = node.element(x);
  if (node.opType() == "ConvInteger")
    element = node.builder().getI32Type();
  if (isQuantized)
    element = node.element(node.operand(7));
  return single(node, shape, element);
}

/// The sizes that are known, and those of axes that keep their size.
static MaybeTypes resized(NodeContext &node) {
  Value x = node.operand(0);
  Ints shape = open(node.rank(x));
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x)));
  bool isPlain =
      node.getString("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (!node.hasAttribute("axes") && node.has(3) && isPlain)
    if (auto sizes = node.knownElements(node.operand(3));
        sizes && sizes->size() == shape.size())
      for (auto [size, element] : llvm::zip_equal(shape, *sizes))
        if (element.isInteger() && element.value > 0)
          size = element.value;
  if (node.hasAttribute("axes")) {
    Ints listed;
    for (int64_t each : node.getInts("axes"))
      listed.push_back(each < 0 ? each + node.rank(x) : each);
    for (int64_t axis : axes)
      if (!llvm::is_contained(listed, axis))
        shape[axis] = node.size(x, axis);
  }
  return single(node, shape, node.element(x));
}

/// The length of a list that is an input; nothing if it is not known.
static std::optional<int64_t> lengthOf(NodeContext &node, int64_t input) {
  Value list = node.has(input) ? node.operand(input) : Value();
  if (!list || node.rank(list) != 1 || !node.isStatic(list) ||
      node.size(list, 0) > 64)
    return std::nullopt;
  return node.size(list, 0);
}

/// As many dimensions as the list \p Input has elements.
template <int64_t Input> static MaybeTypes shaped(NodeContext &node) {
  auto rank = lengthOf(node, Input);
  if (!rank)
    return std::nullopt;
  Ints shape = open(*rank);
  if (auto known = node.knownElements(node.operand(Input)))
    for (auto [size, element] : llvm::zip_equal(shape, *known))
      if (element.isInteger() && element.value > 0)
        size = element.value;
  return single(node, shape, node.element(node.operand(0)));
}

static MaybeTypes filled(NodeContext &node) {
  Type element = node.f32();
  if (node.hasAttribute("value")) {
    auto value = node.getTensor("value");
    if (!value)
      return std::nullopt;
    element = mlirTypeOf(value->type(), node.context());
  }
  auto rank = lengthOf(node, 0);
  return rank ? single(node, open(*rank), element) : std::nullopt;
}

static MaybeTypes counted(NodeContext &node) {
  return single(node, {unknown}, node.element(node.operand(0)));
}

static MaybeTypes squeezed(NodeContext &node) {
  Value x = node.operand(0);
  auto count = lengthOf(node, 1);
  if (!count || *count > node.rank(x))
    return std::nullopt;
  return single(node, open(node.rank(x) - *count), node.element(x));
}

static MaybeTypes unsqueezed(NodeContext &node) {
  Value x = node.operand(0);
  auto count = lengthOf(node, 1);
  return count ? single(node, open(node.rank(x) + *count), node.element(x))
               : std::nullopt;
}

static MaybeTypes reduced(NodeContext &node) {
  Value x = node.operand(0);
  if (node.getBool("keepdims", true))
    return likeFirst(node);
  auto count = lengthOf(node, 1);
  // No axes may mean all.
  if (!count || *count == 0 || *count > node.rank(x))
    return std::nullopt;
  return single(node, open(node.rank(x) - *count), node.element(x));
}

static MaybeTypes gathered(NodeContext &node) {
  Value x = node.operand(0), indices = node.operand(1);
  int64_t batch = node.getInt("batch_dims", 0), rank = node.rank(x);
  if (!indices || node.rank(indices) < 1 ||
      ShapedType::isDynamic(node.size(indices, -1)))
    return std::nullopt;
  int64_t whole = batch + node.size(indices, -1);
  if (batch < 0 || whole < batch || whole > rank)
    return std::nullopt;
  Ints shape(node.shape(indices).drop_back());
  llvm::append_range(shape, node.shape(x).drop_front(whole));
  return single(node, shape, node.element(x));
}

static MaybeTypes oneHot(NodeContext &node) {
  Value indices = node.operand(0), values = node.operand(2);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(indices) + 1);
  if (!axis || !values)
    return std::nullopt;
  Ints shape(node.shape(indices));
  shape.insert(shape.begin() + *axis, unknown);
  return single(node, shape, node.element(values));
}

static MaybeTypes drawn(NodeContext &node) {
  Type element = node.hasAttribute("dtype")
                     ? node.numberType(node.getInt("dtype", 1))
                     : node.element(node.operand(0));
  return single(node, node.shape(node.operand(0)), element);
}

static MaybeTypes dropped(NodeContext &node) {
  RankedTensorType type = node.type(node.operand(0));
  return Types{type, type.clone(node.i1())};
}

static MaybeTypes frames(NodeContext &node) {
  Value x = node.operand(0);
  return single(node, {node.size(x, 0), unknown, unknown, 2}, node.element(x));
}

static MaybeTypes spectrum(NodeContext &node) {
  Value x = node.operand(0);
  Ints shape = open(node.rank(x));
  bool givesReal =
      node.getBool("inverse", false) && node.getBool("onesided", false);
  shape.back() = givesReal ? 1 : 2;
  return single(node, shape, node.element(x));
}

static MaybeTypes selectedBoxes(NodeContext &node) {
  return single(node, {unknown, 3}, node.i64());
}

static MaybeTypes window(NodeContext &node) {
  return single(node, {unknown},
                node.numberType(node.getInt("output_datatype", 1)));
}

static MaybeTypes melMatrix(NodeContext &node) {
  return single(node, {unknown, unknown},
                node.numberType(node.getInt("output_datatype", 1)));
}

/// The types that the file declares for the outputs, without sizes.
static MaybeTypes declared(NodeContext &node) {
  // Names in a nested graph or a function are local.
  if (node.frame.depth > 0)
    return std::nullopt;
  Types types;
  for (const std::string &name : node.proto.output()) {
    const TypeProto *type = node.importer.declaredType(name);
    if (!type || !type->has_tensor_type() || !type->tensor_type().has_shape())
      return std::nullopt;
    auto element = onnx::elementTypeOf(type->tensor_type().elem_type());
    if (!element)
      return std::nullopt;
    types.push_back(
        node.tensorType(open(type->tensor_type().shape().dim_size()),
                        mlirTypeOf(*element, node.context())));
  }
  return types;
}

std::optional<SmallVector<Type>> dynamicTypes(NodeContext &node) {
  static constexpr DynamicRule rules[] = {
      {"AveragePool", pooled},
      {"Bernoulli", drawn},
      {"BlackmanWindow", window},
      {"CenterCropPad", likeFirst},
      {"ConstantOfShape", filled},
      {"Conv", convolved},
      {"ConvInteger", convolved},
      {"ConvTranspose", convolved},
      {"CumProd", sameAsFirst},
      {"CumSum", sameAsFirst},
      {"DFT", spectrum},
      {"Dropout", dropped},
      {"GatherND", gathered},
      {"GroupNormalization", sameAsFirst},
      {"HammingWindow", window},
      {"HannWindow", window},
      {"InstanceNormalization", sameAsFirst},
      {"LpPool", pooled},
      {"MaxPool", pooled},
      {"MelWeightMatrix", melMatrix},
      {"NonMaxSuppression", selectedBoxes},
      {"OneHot", oneHot},
      {"Pad", likeFirst},
      {"QLinearConv", convolved},
      {"RandomNormalLike", drawn},
      {"RandomUniformLike", drawn},
      {"Range", counted},
      {"ReduceL1", reduced},
      {"ReduceL2", reduced},
      {"ReduceLogSum", reduced},
      {"ReduceLogSumExp", reduced},
      {"ReduceMax", reduced},
      {"ReduceMean", reduced},
      {"ReduceMin", reduced},
      {"ReduceProd", reduced},
      {"ReduceSum", reduced},
      {"ReduceSumSquare", reduced},
      {"Reshape", shaped<1>},
      {"Resize", resized},
      {"STFT", frames},
      {"ScatterElements", sameAsFirst},
      {"ScatterND", sameAsFirst},
      {"Slice", likeFirst},
      {"Split", parts},
      {"Squeeze", squeezed},
      {"Tile", likeFirst},
      {"TopK", topK},
      {"Unsqueeze", unsqueezed},
      {"Upsample", likeFirst},
  };
  for (const DynamicRule &rule : rules)
    if (rule.name == node.opType() && node.has(0))
      if (MaybeTypes types = rule.types(node);
          types && static_cast<int64_t>(types->size()) >= node.outputCount())
        return types;
  return declared(node);
}

} // namespace sinter::onnx
