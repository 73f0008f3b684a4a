#include "formats/onnx/write/NodeWriter.h"

#include "formats/import/WriterRule.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/Domain.h"

#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "interpreter/Strided.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace mlir;

namespace sinter::onnx {

Ints identity(int64_t rank) {
  Ints result;
  for (int64_t i = 0; i < rank; ++i)
    result.push_back(i);
  return result;
}

Ints inverse(ArrayRef<int64_t> permutation) {
  Ints result(permutation.size());
  for (auto [i, from] : llvm::enumerate(permutation))
    result[from] = i;
  return result;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Names NodeWriter::operands(ValueRange values) {
  Names names;
  for (Value value : values)
    names.push_back(operand(value));
  return names;
}

/// An operand before it is broadcast, and its alignment with the result.
struct BroadcastSource {
  Value value;
  /// The shape for ONNX's broadcasting, aligned at the last dimension.
  Ints shape;
  /// The operand is not broadcast.
  bool isFull = false;
  /// A constant that repeats one element.
  bool isSplat = false;
  /// For broadcast_like: the values to whose shapes the operand is broadcast.
  SmallVector<Value> others;
};

static BroadcastSource broadcastSourceOf(Value value, int64_t rank) {
  BroadcastSource source;
  source.value = value;
  auto type = tensorOf(value);
  source.shape = Ints(type.getShape());
  source.isFull = type.getRank() == rank;
  if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>()) {
    if (type.getNumElements() > 1 && constant.getValue().isSplat()) {
      source.isSplat = true;
      source.isFull = false;
      source.shape.clear();
    }
    return source;
  }
  if (auto like = value.getDefiningOp<nn::BroadcastLikeOp>()) {
    source.value = like.getOperand();
    source.shape = Ints(tensorOf(source.value).getShape());
    source.others.assign(like.getOthers().begin(), like.getOthers().end());
    source.isFull = false;
    return source;
  }
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || !llvm::is_sorted(broadcast.getBroadcastDimensions()))
    return source;
  ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
  auto from = tensorOf(broadcast.getOperand());
  Ints shape;
  if (!dims.empty())
    shape.assign(type.getRank() - dims.front(), 1);
  for (auto [i, dim] : llvm::enumerate(dims))
    shape[dim - dims.front()] = from.getDimSize(i);
  source.value = broadcast.getOperand();
  source.shape = shape;
  source.isFull = false;
  return source;
}

/// The source as a tensor of its aligned shape.
Name NodeWriter::aligned(Value value, const BroadcastSource &source) {
  if (source.isSplat) {
    auto constantOp = value.getDefiningOp<stablehlo::ConstantOp>();
    return writer.constant(
        DenseElementsAttr::get(
            RankedTensorType::get({}, elementOf(value)),
            constantOp.getValue().getSplatValue<Attribute>()),
        constantName(value).empty() ? "scalar" : constantName(value));
  }
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || source.value == value)
    return operand(source.value);
  ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
  Ints axes;
  if (!dims.empty())
    for (int64_t i = dims.front(); i < tensorOf(value).getRank(); ++i)
      if (!llvm::is_contained(dims, i))
        axes.push_back(i - dims.front());
  if (axes.empty())
    return operand(source.value);
  // A weight with other uses is kept as it is.
  auto tensor = constantTensor(source.value);
  StringRef name = constantName(source.value);
  if (tensor &&
      (name.empty() || (source.value.hasOneUse() && broadcast->hasOneUse())))
    return constant(
        tensor->reshaped(Shape(source.shape.begin(), source.shape.end())),
        name);
  return unsqueeze(operand(source.value), axes);
}

Names NodeWriter::broadcast(ValueRange values, Type result) {
  auto type = cast<RankedTensorType>(result);
  SmallVector<BroadcastSource> sources;
  for (Value value : values)
    sources.push_back(broadcastSourceOf(value, type.getRank()));
  // Whether the shape of \p other follows from the written operands: it is one
  // of them, or was broadcast to their shapes.
  std::function<bool(Value)> isKnown = [&](Value other) {
    for (auto [value, source] : llvm::zip_equal(values, sources)) {
      if (source.value == other)
        return true;
      if (value == other && !source.others.empty())
        return llvm::all_of(source.others, isKnown);
    }
    return false;
  };
  // Whether ONNX's broadcasting of the sources gives the result's shape.
  auto suffices = [&] {
    if (llvm::any_of(sources,
                     [](const BroadcastSource &each) { return each.isFull; }))
      return true;
    SmallVector<int64_t> shape;
    for (const BroadcastSource &source : sources) {
      auto both = broadcastShapes(shape, source.shape);
      if (!both)
        return false;
      shape = *both;
    }
    if (type.hasStaticShape())
      return ArrayRef<int64_t>(shape) == type.getShape();
    return llvm::any_of(sources, [&](const BroadcastSource &each) {
      return !each.others.empty() && llvm::all_of(each.others, isKnown);
    });
  };
  for (size_t i = 0; i < sources.size() && !suffices(); ++i) {
    sources[i] = BroadcastSource();
    sources[i].value = values[i];
    sources[i].isFull = tensorOf(values[i]).getRank() == type.getRank();
    sources[i].shape = Ints(tensorOf(values[i]).getShape());
  }
  Names names;
  for (auto [value, source] : llvm::zip_equal(values, sources))
    names.push_back(aligned(value, source));
  return names;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static void setAttribute(AttributeProto &proto, const NodeAttribute &given) {
  proto.set_name(given.name);
  auto addAll = [](auto *field, const auto &values) {
    for (const auto &value : values)
      *field->Add() = value;
  };
  std::visit(
      [&](const auto &value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          proto.set_type(AttributeProto::INT);
          proto.set_i(value);
        } else if constexpr (std::is_same_v<T, float>) {
          proto.set_type(AttributeProto::FLOAT);
          proto.set_f(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          proto.set_type(AttributeProto::STRING);
          proto.set_s(value);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          proto.set_type(AttributeProto::INTS);
          addAll(proto.mutable_ints(), value);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          proto.set_type(AttributeProto::FLOATS);
          addAll(proto.mutable_floats(), value);
        } else {
          proto.set_type(AttributeProto::STRINGS);
          addAll(proto.mutable_strings(), value);
        }
      },
      given.value);
}

NodeProto &NodeWriter::add(StringRef opType, ArrayRef<Name> inputs,
                           const NodeAttributes &attributes) {
  NodeProto &node = writer.addNode(opType);
  size_t count = inputs.size();
  while (count > 0 && inputs[count - 1].empty())
    --count;
  for (const Name &input : inputs.take_front(count))
    node.add_input(input);
  for (const NodeAttribute &attribute : attributes)
    setAttribute(*node.add_attribute(), attribute);
  return node;
}

Name NodeWriter::make(StringRef opType, ArrayRef<Name> inputs,
                      const NodeAttributes &attributes) {
  lastMade = makeMany(opType, inputs, attributes, {true}).front();
  return lastMade;
}

Name NodeWriter::makeForRuntime(StringRef opType, ArrayRef<Name> inputs,
                                const NodeAttributes &attributes) {
  Name made = make(opType, inputs, attributes);
  writer.graph().proto->mutable_node()->rbegin()->set_domain(runtimeDomain);
  return made;
}

Names NodeWriter::makeMany(StringRef opType, ArrayRef<Name> inputs,
                           const NodeAttributes &attributes,
                           ArrayRef<bool> wanted) {
  NodeProto &node = add(opType, inputs, attributes);
  node.set_name(writer.freshNodeName(origin + "_" + opType.str()));
  Names names;
  for (bool isWanted : wanted) {
    Name name = isWanted ? writer.freshName(origin + "_" + opType.str()) : "";
    if (isWanted)
      writer.graph().tensors.insert(name);
    node.add_output(name);
    names.push_back(name);
  }
  return names;
}

LogicalResult NodeWriter::result(StringRef opType, ArrayRef<Name> inputs,
                                 const NodeAttributes &attributes) {
  NodeProto &node = add(opType, inputs, attributes);
  node.set_name(writer.freshNodeName(origin));
  nameResults(node);
  return success();
}

LogicalResult NodeWriter::runtimeResult(StringRef opType, ArrayRef<Name> inputs,
                                        const NodeAttributes &attributes) {
  NodeProto &node = add(opType, inputs, attributes);
  node.set_domain(runtimeDomain);
  node.set_name(writer.freshNodeName(origin));
  nameResults(node);
  return success();
}

Name NodeWriter::named(Value result) {
  Name name = writer.claim(result);
  writer.bind(result, name);
  writer.graph().tensors.insert(name);
  return name;
}

void NodeWriter::nameResults(NodeProto &node) {
  for (Value value : last->getResults())
    node.add_output(named(value));
}

LogicalResult NodeWriter::alias(const Name &tensor, unsigned index) {
  Value value = last->getResult(index);
  GraphProto &graph = *writer.graph().proto;
  NodeProto *before =
      graph.node_size() ? graph.mutable_node(graph.node_size() - 1) : nullptr;
  // Give the last node the op's name, and its output the result's name.
  if (before && tensor == lastMade && before->output_size() == 1 &&
      before->output(0) == tensor) {
    before->set_output(0, named(value));
    before->set_name(writer.freshNodeName(origin));
    return success();
  }
  if (!writer.hasFixedName(value)) {
    writer.bind(value, tensor);
    return success();
  }
  NodeProto &node = add("Identity", {tensor}, {});
  node.set_name(writer.freshNodeName(origin + "_copy"));
  node.add_output(named(value));
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Name NodeWriter::constant(const Tensor &tensor, StringRef wanted) {
  return writer.constant(toAttribute(tensor, wanted, op->getContext()), wanted);
}

Name NodeWriter::integers(ArrayRef<int64_t> values) {
  return integers(values, {static_cast<int64_t>(values.size())});
}

Name NodeWriter::integers(ArrayRef<int64_t> values, ArrayRef<int64_t> shape) {
  return constant(
      Tensor::of<int64_t>(ElementType::I64, Shape(shape.begin(), shape.end()),
                          {values.data(), values.size()}),
      values.size() == 1 && values[0] >= 0 ? "int_" + std::to_string(values[0])
                                           : "ints");
}

Name NodeWriter::scalar(Type element, double value) {
  return splat(element, value, {});
}

Name NodeWriter::splat(Type element, double value, ArrayRef<int64_t> shape) {
  Attribute attribute;
  if (auto type = dyn_cast<FloatType>(element))
    attribute = FloatAttr::get(type, value);
  else
    attribute = IntegerAttr::get(element, static_cast<int64_t>(value));
  return writer.constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, element), attribute),
      "scalar");
}

//===----------------------------------------------------------------------===//
// Common nodes
//===----------------------------------------------------------------------===//

Name NodeWriter::cast(const Name &x, Type from, Type to) {
  if (from == to)
    return x;
  auto element = sinter::elementTypeOf(to);
  auto dataType = element ? dataTypeOf(*element) : std::nullopt;
  return make("Cast", {x}, {{"to", dataType.value_or(0)}});
}

std::optional<Tensor> NodeWriter::initializer(const Name &x) const {
  ElementsAttr value = writer.initializerValue(x);
  return value ? toTensor(value) : std::nullopt;
}

Name NodeWriter::reshape(const Name &x, ArrayRef<int64_t> shape) {
  if (auto tensor = initializer(x);
      tensor && !ShapedType::isDynamicShape(shape))
    return constant(tensor->reshaped(Shape(shape.begin(), shape.end())), x);
  Ints sizes(shape);
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size))
      size = -1;
  if (!llvm::is_contained(sizes, 0))
    return make("Reshape", {x, integers(sizes)});
  need(14);
  return make("Reshape", {x, integers(sizes)}, {{"allowzero", 1}});
}

Name NodeWriter::transpose(const Name &x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, identity(permutation.size())))
    return x;
  if (auto tensor = initializer(x))
    return constant(interpreter::transposed(*tensor, permutation), x);
  return make("Transpose", {x}, {{"perm", permutation}});
}

Name NodeWriter::count(int64_t size, int64_t dim, int64_t rank) {
  Ints shape(rank, 1);
  shape[dim] = size;
  if (size <= formats::mostCounted)
    return integers(identity(size), shape);
  need(11);
  Type i64 = IntegerType::get(op->getContext(), 64);
  Name numbers =
      make("Range", {scalar(i64, 0), scalar(i64, size), scalar(i64, 1)});
  Ints axes = identity(rank);
  axes.erase(axes.begin() + dim);
  return unsqueeze(numbers, axes);
}

Name NodeWriter::unsqueeze(const Name &x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : make("Unsqueeze", {x, integers(axes)});
}

Name NodeWriter::squeeze(const Name &x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : make("Squeeze", {x, integers(axes)});
}

Name NodeWriter::slice(const Name &x, ArrayRef<int64_t> axes,
                       ArrayRef<int64_t> starts, ArrayRef<int64_t> ends,
                       ArrayRef<int64_t> steps) {
  if (axes.empty())
    return x;
  return make("Slice", {x, integers(starts), integers(ends), integers(axes),
                        integers(steps)});
}

Name NodeWriter::reverse(const Name &x, ArrayRef<int64_t> axes) {
  if (auto tensor = initializer(x); tensor && tensor->size() > 0)
    return axes.empty() ? x : constant(interpreter::reversed(*tensor, axes), x);
  Ints starts(axes.size(), -1), ends(axes.size(), INT64_MIN),
      steps(axes.size(), -1);
  return slice(x, axes, starts, ends, steps);
}

Name NodeWriter::pad(const Name &x, const Name &filler, ArrayRef<int64_t> low,
                     ArrayRef<int64_t> high) {
  Ints pads, axes, starts, ends;
  bool grows = false;
  for (auto [i, amount] : llvm::enumerate(low)) {
    pads.push_back(std::max<int64_t>(amount, 0));
    if (amount < 0 || high[i] < 0) {
      axes.push_back(i);
      starts.push_back(std::max<int64_t>(-amount, 0));
      ends.push_back(high[i] < 0 ? high[i] : INT64_MAX);
    }
    grows |= amount > 0 || high[i] > 0;
  }
  for (int64_t amount : high)
    pads.push_back(std::max<int64_t>(amount, 0));
  // Cropping may remove padding again, so pad first.
  Name padded =
      grows ? make("Pad", {x, integers(pads), filler}, {{"mode", "constant"}})
            : x;
  return slice(padded, axes, starts, ends, Ints(axes.size(), 1));
}

Name NodeWriter::dilate(const Name &x, const Name &filler,
                        ArrayRef<int64_t> shape, ArrayRef<int64_t> interior) {
  if (llvm::all_of(interior, [](int64_t each) { return each == 0; }))
    return x;
  // [n] -> [n, 1] -> [n, 1 + k] -> [n * (1 + k)] -> the first n + (n - 1) * k.
  Ints wide, low, high, joined, axes, starts, ends;
  Ints added;
  for (auto [i, size] : llvm::enumerate(shape)) {
    low.append({0, 0});
    high.append({0, interior[i]});
    added.push_back(2 * i + 1);
    joined.push_back(ShapedType::isDynamic(size) ? size
                                                 : size * (1 + interior[i]));
    if (interior[i] != 0) {
      axes.push_back(i);
      starts.push_back(0);
      ends.push_back(-interior[i]);
    }
  }
  Name result = unsqueeze(x, added);
  result = pad(result, filler, low, high);
  if (llvm::count_if(joined, ShapedType::isDynamic) <= 1) {
    result = reshape(result, joined);
  } else {
    Ints factors;
    for (int64_t each : interior)
      factors.push_back(1 + each);
    need(14);
    result =
        make("Reshape",
             {result, make("Mul", {make("Shape", {x}), integers(factors)})},
             {{"allowzero", 1}});
  }
  return slice(result, axes, starts, ends, Ints(axes.size(), 1));
}

Name NodeWriter::reduce(StringRef opType, const Name &x, ArrayRef<int64_t> axes,
                        bool keep) {
  if (axes.empty())
    return x;
  if (opType == "ReduceSum" || version() >= 18)
    return make(opType, {x, integers(axes)}, {{"keepdims", keep}});
  return make(opType, {x}, {{"axes", axes}, {"keepdims", keep}});
}

} // namespace sinter::onnx
