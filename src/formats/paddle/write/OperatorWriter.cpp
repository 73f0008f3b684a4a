#include "formats/paddle/write/OperatorWriter.h"

#include "formats/paddle/file/DataTypes.h"
#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Strided.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace sinter::paddle {

Ints identity(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

std::optional<double> attributeNumber(Value value) {
  auto number = splatNumber(value);
  return number && static_cast<double>(static_cast<float>(*number)) == *number
             ? number
             : std::nullopt;
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  return ShapedType::isDynamicShape(sizes) ? ShapedType::kDynamic
                                           : ShapedType::getNumElements(sizes);
}

Ints dynamicShape(ArrayRef<int64_t> shape) {
  Ints open(shape);
  for (int64_t &size : open)
    size = ShapedType::isDynamic(size) ? -1 : size;
  return open;
}

Ints sizesAt(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Ints result;
  for (int64_t dim : dims)
    result.push_back(shape[dim]);
  return result;
}

Ints inverse(ArrayRef<int64_t> permutation) {
  Ints result(permutation.size());
  for (auto [i, from] : llvm::enumerate(permutation))
    result[from] = i;
  return result;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Unused outputs that Paddle requires of an operator: the slot, and whether
/// the shape is that of X after a 0 (else empty).
static StringRef requiredOutput(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Cases("reshape2", "transpose2", "squeeze2", "unsqueeze2", "XShape")
      .Default("");
}

static Operator operatorOf(StringRef type, ArrayRef<Given> inputs,
                           const Settings &settings) {
  Operator made;
  made.type = type.str();
  for (const Given &given : inputs) {
    Slot slot{given.slot, {}};
    for (const Var &var : given.vars)
      slot.arguments.push_back(var.name);
    made.inputs.push_back(std::move(slot));
  }
  for (const Setting &setting : settings)
    made.attributes.push_back({setting.name, setting.value});
  return made;
}

Var OperatorWriter::declare(RankedTensorType type) {
  return {writer.declareNew(origin + ".tmp", type), type};
}

Var OperatorWriter::make(StringRef type, std::vector<Given> inputs,
                         Settings settings, RankedTensorType resultType,
                         const char *slot) {
  Operator made = operatorOf(type, inputs, settings);
  Var var = declare(resultType);
  made.outputs = {{slot, {var.name}}};
  if (StringRef unread = requiredOutput(type); !unread.empty()) {
    Ints shape = {0};
    llvm::append_range(shape, inputs[0].vars[0].shape());
    made.outputs.push_back(
        {unread.str(), {declare(typed(shape, var.element())).name}});
  }
  writer.add(std::move(made));
  lastMade = var.name;
  return var;
}

LogicalResult OperatorWriter::alias(const Var &var, unsigned index) {
  Value value = op->getResult(index);
  claimed.push_back(value);
  // The last operator can write the wanted variable itself.
  if (var.name == lastMade && writer.count() > 0 &&
      writer.last().outputs.front().arguments ==
          std::vector<std::string>{var.name}) {
    writer.last().outputs.front().arguments.front() = writer.claim(value);
    return success();
  }
  Operator made = operatorOf("assign", {{"X", var}}, {});
  made.outputs = {{"Out", {writer.claim(value)}}};
  writer.add(std::move(made));
  return success();
}

LogicalResult
OperatorWriter::resultsOf(StringRef type, std::vector<Given> inputs,
                          Settings settings,
                          ArrayRef<std::pair<const char *, Var>> outputs) {
  Operator made = operatorOf(type, inputs, settings);
  for (auto [i, output] : llvm::enumerate(outputs)) {
    Name name = output.second.name;
    if (name.empty()) {
      claimed.push_back(op->getResult(i));
      name = writer.claim(op->getResult(i));
    }
    made.outputs.push_back({output.first, {name}});
  }
  writer.add(std::move(made));
  return success();
}

void OperatorWriter::undo() {
  for (Value value : claimed)
    writer.release(value);
}

std::optional<int64_t> OperatorWriter::typeNumber(Type element) const {
  // Paddle supports few operations on complex types, and not in all versions.
  if (isa<ComplexType>(element))
    return std::nullopt;
  auto type = sinter::elementTypeOf(element);
  auto number = type ? numberOfElementType(*type) : std::nullopt;
  return number ? std::optional<int64_t>(*number) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Var OperatorWriter::constant(const Tensor &tensor, StringRef wanted) {
  Ints shape(tensor.shape().begin(), tensor.shape().end());
  return {
      writer.constant(tensor, wanted.empty() ? origin + ".c" : wanted.str()),
      typed(shape, mlirTypeOf(tensor.type(), op->getContext()))};
}

Var OperatorWriter::shared(const Tensor &tensor, StringRef wanted) {
  ElementsAttr value = toDenseAttribute(tensor, op->getContext());
  return {writer.constantNamed(value, wanted),
          cast<RankedTensorType>(value.getType())};
}

Var OperatorWriter::scalar(Type element, double value, int64_t rank) {
  auto type = sinter::elementTypeOf(element);
  return constant(tensorOfDoubles(*type, Shape(rank, 1), {value}));
}

Var OperatorWriter::integers(ArrayRef<int64_t> numbers,
                             ArrayRef<int64_t> shape) {
  return constant(
      Tensor::of<int64_t>(ElementType::I64, Shape(shape.begin(), shape.end()),
                          std::span(numbers.data(), numbers.size())));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// The element of a splat constant, as a tensor of shape [1].
static std::optional<Tensor> repeatedElement(Value value) {
  auto constantOp = value.getDefiningOp<stablehlo::ConstantOp>();
  if (!constantOp || tensorOf(value).getNumElements() == 0)
    return std::nullopt;
  if (tensorOf(value).getNumElements() > 1 && !constantOp.getValue().isSplat())
    return std::nullopt;
  if (!isa<DenseElementsAttr>(constantOp.getValue()))
    return std::nullopt;
  auto one =
      DenseElementsAttr::get(RankedTensorType::get({1}, elementOf(value)),
                             cast<DenseElementsAttr>(constantOp.getValue())
                                 .getSplatValue<mlir::Attribute>());
  return toTensor(one);
}

std::optional<OperatorWriter::Source>
OperatorWriter::sourceOf(Value value, RankedTensorType resultType) {
  const int64_t rank = resultType.getRank();
  if (rank == 0)
    return Source{operand(value), 0, true};
  if (auto one = repeatedElement(value);
      one &&
      (tensorOf(value).getNumElements() > 1 || tensorOf(value).getRank() == 0))
    return Source{constant(*one, constantName(value)), rank - 1};
  auto broadcast = Broadcast::of(value);
  if (!broadcast || !writer.isBroadcast(value.getDefiningOp())) {
    if (tensorOf(value).getRank() == rank)
      return Source{operand(value), 0, true};
    // A scalar broadcasts to anything.
    if (tensorOf(value).getRank() == 0)
      return Source{reshape(operand(value), {1}), rank - 1};
    return std::nullopt;
  }
  ArrayRef<int64_t> dims = broadcast->dimensions;
  if (dims.empty()) {
    if (auto one = repeatedElement(broadcast->operand))
      return Source{constant(*one, constantName(broadcast->operand)), rank - 1};
    return Source{reshape(operand(broadcast->operand), {1}), rank - 1};
  }
  if (!llvm::is_sorted(dims))
    return Source{operand(value), 0, true};
  Ints between;
  for (int64_t i = dims.front(); i < dims.back(); ++i)
    if (!llvm::is_contained(dims, i))
      between.push_back(i - dims.front());
  return Source{unsqueeze(operand(broadcast->operand), between), dims.front()};
}

/// The size of \p var, whose first dimension is the result's \p place, along
/// the result's dimension \p axis: 1 if it has none.
static int64_t sizeAlong(const Var &var, int64_t place, int64_t axis) {
  const int64_t own = axis - place;
  return own < 0 || own >= var.rank() ? 1 : var.shape()[own];
}

static bool commutes(StringRef type) {
  return llvm::StringSwitch<bool>(type)
      .Cases("elementwise_add", "elementwise_mul", "elementwise_max",
             "elementwise_min", true)
      .Cases("equal", "not_equal", "logical_and", "logical_or", "logical_xor",
             true)
      .Default(false);
}

/// Whether an operator has attribute axis, the dimension of X at which Y
/// begins; others align the last dimensions.
static bool hasAxis(StringRef type) {
  return !type.starts_with("logical_") && !type.starts_with("bitwise_");
}

static Settings axisOf(StringRef type, int64_t axis) {
  return hasAxis(type) ? Settings{{"axis", axis}} : Settings();
}

Var OperatorWriter::binary(StringRef type, Value lhs, Value rhs,
                           RankedTensorType resultType) {
  auto left = sourceOf(lhs, resultType), right = sourceOf(rhs, resultType);
  const int64_t rank = resultType.getRank();
  if (!left)
    left = Source{operand(lhs), 0, true};
  if (!right)
    right = Source{operand(rhs), 0, true};
  bool covers = left->isFull || right->isFull;
  if (!covers) {
    covers = true;
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t size = resultType.getDimSize(i);
      covers &= size == 1 || sizeAlong(left->var, left->place, i) == size ||
                sizeAlong(right->var, right->place, i) == size;
    }
  }
  if (!covers)
    left = Source{operand(lhs), 0, true};
  if (left->var.rank() < rank && right->var.rank() < rank) {
    Ints axes;
    for (int64_t i = 0; i < rank; ++i)
      if (i < left->place || i >= left->place + left->var.rank())
        axes.push_back(i);
    left = Source{unsqueeze(left->var, axes), 0};
  }
  if (left->var.rank() < right->var.rank() && commutes(type))
    std::swap(left, right);
  Source &smaller = left->var.rank() < right->var.rank() ? *left : *right;
  int64_t behind = rank - smaller.place - smaller.var.rank();
  if (behind > 0 && !hasAxis(type)) {
    Ints axes;
    for (; behind > 0; --behind)
      axes.push_back(smaller.var.rank() + behind - 1);
    llvm::sort(axes);
    smaller.var = unsqueeze(smaller.var, axes);
  }
  const int64_t axis = behind == 0 ? -1 : smaller.place;
  return make(type, {{"X", left->var}, {"Y", right->var}}, axisOf(type, axis),
              resultType);
}

Var OperatorWriter::binary(StringRef type, const Var &lhs, const Var &rhs) {
  auto shape = broadcastShapes(lhs.shape(), rhs.shape());
  Ints sizes = shape ? Ints(shape->begin(), shape->end()) : Ints(lhs.shape());
  return make(type, {{"X", lhs}, {"Y", rhs}}, axisOf(type, -1),
              typed(sizes, lhs.element()));
}

Var OperatorWriter::compare(StringRef type, const Var &lhs, const Var &rhs) {
  return make(type, {{"X", lhs}, {"Y", rhs}}, {{"axis", -1}},
              typed(lhs.shape(), boolean()));
}

Var OperatorWriter::scaled(const Var &x, double scale, double bias) {
  return unary("scale", x,
               {{"scale", scale}, {"bias", bias}, {"bias_after_scale", true}});
}

Var OperatorWriter::where(const Var &condition, const Var &yes, const Var &no) {
  return make("where", {{"Condition", condition}, {"X", yes}, {"Y", no}}, {},
              yes.type);
}

//===----------------------------------------------------------------------===//
// Common operators
//===----------------------------------------------------------------------===//

Var OperatorWriter::cast(const Var &x, Type to) {
  auto from = typeNumber(x.element()), number = typeNumber(to);
  if (x.element() == to)
    return x;
  if (!from || !number) {
    lacksType = true;
    return x;
  }
  return make("cast", {{"X", x}}, {{"in_dtype", *from}, {"out_dtype", *number}},
              typed(x.shape(), to));
}

Var OperatorWriter::reshape(const Var &x, ArrayRef<int64_t> shape) {
  if (x.shape() == shape && llvm::count_if(shape, ShapedType::isDynamic) == 0)
    return x;
  if (auto tensor = parameter(x); tensor && !ShapedType::isDynamicShape(shape))
    return constant(tensor->reshaped(Shape(shape.begin(), shape.end())),
                    x.name);
  // A size of 0 would mean that of the operand.
  if (llvm::is_contained(shape, 0) && !ShapedType::isDynamicShape(shape))
    return constant(Tensor(*sinter::elementTypeOf(x.element()),
                           Shape(shape.begin(), shape.end())));
  return make("reshape2", {{"X", x}}, {{"shape", dynamicShape(shape)}},
              typed(shape, x.element()));
}

Var OperatorWriter::transpose(const Var &x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, identity(x.rank())))
    return x;
  const Ints shape = sizesAt(x.shape(), permutation);
  if (auto tensor = parameter(x))
    return constant(interpreter::transposed(*tensor, permutation), x.name);
  return make("transpose2", {{"X", x}}, {{"axis", Ints(permutation)}},
              typed(shape, x.element()));
}

Var OperatorWriter::unsqueeze(const Var &x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  Ints shape(x.shape());
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  if (parameter(x) && x.type.hasStaticShape())
    return reshape(x, shape);
  return make("unsqueeze2", {{"X", x}}, {{"axes", Ints(axes)}},
              typed(shape, x.element()));
}

Var OperatorWriter::squeeze(const Var &x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  Ints shape;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!llvm::is_contained(axes, i))
      shape.push_back(x.shape()[i]);
  return make("squeeze2", {{"X", x}}, {{"axes", Ints(axes)}},
              typed(shape, x.element()));
}

Var OperatorWriter::slice(const Var &x, ArrayRef<int64_t> axes,
                          ArrayRef<int64_t> starts, ArrayRef<int64_t> ends,
                          ArrayRef<int64_t> steps) {
  if (axes.empty())
    return x;
  Ints shape(x.shape());
  for (auto [i, axis] : llvm::enumerate(axes))
    shape[axis] = ShapedType::isDynamic(shape[axis]) &&
                          (ends[i] < 0 || ends[i] == toTheEnd)
                      ? ShapedType::kDynamic
                      : (ends[i] - starts[i] + steps[i] - 1) / steps[i];
  const bool isPlain =
      llvm::all_of(steps, [](int64_t step) { return step == 1; });
  Settings settings = {
      {"axes", Ints(axes)}, {"starts", Ints(starts)}, {"ends", Ints(ends)}};
  if (!isPlain)
    settings.push_back({"strides", Ints(steps)});
  settings.push_back({"infer_flags", Ints(axes.size(), 1)});
  settings.push_back({"decrease_axis", Ints()});
  return make(isPlain ? "slice" : "strided_slice", {{"Input", x}},
              std::move(settings), typed(shape, x.element()));
}

Var OperatorWriter::sliceAt(const Var &x, const Var &starts, const Var &ends,
                            ArrayRef<int64_t> steps,
                            RankedTensorType resultType) {
  Type i32 = IntegerType::get(op->getContext(), 32);
  const bool isPlain =
      llvm::all_of(steps, [](int64_t step) { return step == 1; });
  Settings settings = {{"axes", identity(x.rank())},
                       {"starts", Ints(x.rank(), -1)},
                       {"ends", Ints(x.rank(), -1)}};
  if (!isPlain)
    settings.push_back({"strides", steps});
  settings.push_back({"infer_flags", Ints(x.rank(), -1)});
  settings.push_back({"decrease_axis", Ints()});
  return make(isPlain ? "slice" : "strided_slice",
              {{"Input", x},
               {"StartsTensor", cast(starts, i32)},
               {"EndsTensor", cast(ends, i32)}},
              std::move(settings), resultType);
}

Var OperatorWriter::reverse(const Var &x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  if (auto tensor = parameter(x); tensor && tensor->size() > 0)
    return constant(interpreter::reversed(*tensor, axes), x.name);
  return make("flip", {{"X", x}}, {{"axis", Ints(axes)}}, x.type);
}

Var OperatorWriter::concat(const Vars &parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Ints shape(parts.front().shape());
  for (const Var &part : llvm::drop_begin(parts))
    shape[axis] = ShapedType::isDynamic(shape[axis]) ||
                          ShapedType::isDynamic(part.shape()[axis])
                      ? ShapedType::kDynamic
                      : shape[axis] + part.shape()[axis];
  return make("concat", {{"X", parts}}, {{"axis", axis}},
              typed(shape, parts.front().element()));
}

Var OperatorWriter::pad(const Var &x, double filler, ArrayRef<int64_t> low,
                        ArrayRef<int64_t> high) {
  Ints pads, shape(x.shape()), axes, starts, ends;
  bool grows = false;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t before = std::max<int64_t>(low[i], 0),
                  behind = std::max<int64_t>(high[i], 0);
    pads.append({before, behind});
    grows |= before > 0 || behind > 0;
    if (!ShapedType::isDynamic(shape[i]))
      shape[i] += before + behind;
    if (low[i] >= 0 && high[i] >= 0)
      continue;
    axes.push_back(i);
    starts.push_back(std::max<int64_t>(-low[i], 0));
    ends.push_back(shape[i] + std::min<int64_t>(high[i], 0));
  }
  Var wide = x;
  if (grows)
    wide = make("pad", {{"X", x}}, {{"paddings", pads}, {"pad_value", filler}},
                typed(shape, x.element()));
  return slice(wide, axes, starts, ends, Ints(axes.size(), 1));
}

Var OperatorWriter::reduce(StringRef type, const Var &x, ArrayRef<int64_t> axes,
                           bool keep) {
  if (axes.empty())
    return x;
  Ints shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(x.shape()[i]);
    else if (keep)
      shape.push_back(1);
  }
  return make(type, {{"X", x}},
              {{"dim", Ints(axes)},
               {"keep_dim", keep},
               {"reduce_all", static_cast<int64_t>(axes.size()) == x.rank()}},
              typed(shape, x.element()));
}

} // namespace sinter::paddle
