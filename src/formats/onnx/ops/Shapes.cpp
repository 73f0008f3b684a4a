// Shapes of tensors, and the same elements in other shapes.

#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

/// A slice of the sizes: [start, end), both clamped.
static LogicalResult importShape(NodeContext &node) {
  Value data = node.operand(0);
  int64_t rank = node.rank(data);
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = std::max(start, clamp(node.getInt("end", rank)));
  ArrayRef<int64_t> sizes = node.shape(data).slice(start, end - start);
  if (!ShapedType::isDynamicShape(sizes))
    return node.result(node.integers(sizes));
  Value all = node.op<nn::ShapeOp>(data);
  if (start == 0 && end == rank)
    return node.result(all);
  return node.result(node.sliceAxis(all, 0, start, end));
}

static LogicalResult importSize(NodeContext &node) {
  Dim count = node.product(node.dims(node.operand(0)));
  return node.result(count.isStatic()
                         ? node.scalar(node.i64(), count.size)
                         : node.reshape(count.extent, ArrayRef<int64_t>()));
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// A number of elements: a known factor and unknown sizes, some with symbols.
struct Count {
  int64_t known = 1;
  std::vector<int64_t> symbols;
  bool unclear = false;

  void multiply(Element element) {
    if (element.isInteger())
      unclear |= llvm::MulOverflow(known, element.value, known) != 0;
    else if (element.kind == Element::Symbol)
      symbols.push_back(element.value);
    else
      unclear = true;
  }
};
} // namespace

/// What is left of \p total when \p part is divided away: an integer, a symbol,
/// or nothing that is known.
static Element divide(Count total, const Count &part) {
  if (total.unclear || part.unclear || part.known == 0 ||
      total.known % part.known != 0)
    return {};
  for (int64_t symbol : part.symbols) {
    auto found = llvm::find(total.symbols, symbol);
    if (found == total.symbols.end())
      return {};
    total.symbols.erase(found);
  }
  int64_t factor = total.known / part.known;
  if (total.symbols.empty())
    return Element::integer(factor);
  if (total.symbols.size() == 1 && factor == 1)
    return Element::symbol(total.symbols[0]);
  return {};
}

/// The extent of a symbol: that of a dimension of \p data that has it.
static std::optional<Dim> findSymbol(NodeContext &node, Value data,
                                     Element size) {
  for (int64_t i = 0; i < node.rank(data); ++i)
    if (node.known().sizeOf(data, i) == size)
      return node.dim(data, i);
  return std::nullopt;
}

/// The sizes that Reshape's second input asks for: 0 copies the input's, -1 is
/// what is left.
static std::optional<Dims> targetSizes(NodeContext &node, Value data,
                                       Value shape, bool allowZero) {
  Elements wanted(node.shape(shape)[0]);
  if (auto known = node.knownElements(shape))
    wanted = *known;
  KnownValues &known = node.known();
  Count total, rest;
  for (int64_t i = 0; i < node.rank(data); ++i)
    total.multiply(known.sizeOf(data, i));
  std::optional<size_t> inferred, unknown;
  size_t unknowns = 0;
  for (auto [i, element] : llvm::enumerate(wanted)) {
    if (element == Element::integer(0) && !allowZero) {
      if (static_cast<int64_t>(i) >= node.rank(data))
        return node.fail("the shape copies a dimension that the input lacks");
      element = known.sizeOf(data, i);
    }
    if (element == Element::integer(-1)) {
      if (inferred)
        return node.fail("the shape has more than one -1");
      inferred = i;
      continue;
    }
    if (element.isInteger() && element.value < 0)
      return node.fail("the shape has a negative size");
    if (element.kind == Element::Unknown) {
      unknown = i;
      ++unknowns;
      continue;
    }
    rest.multiply(element);
  }
  const bool allKnown = unknowns == 0 && !total.unclear &&
                        total.symbols.empty() && rest.symbols.empty();
  if (allKnown && total.known > 0) {
    const bool fits =
        !rest.unclear && rest.known != 0 &&
        (inferred ? total.known % rest.known == 0 : total.known == rest.known);
    if (!fits)
      return node.fail(Twine(total.known) +
                       " elements do not fit the shape that is asked for");
  }
  // One unknown size follows from the others.
  std::optional<size_t> open = inferred;
  if (!inferred && unknowns == 1)
    open = unknown;
  if (open && unknowns == (inferred ? 0 : 1))
    wanted[*open] = divide(total, rest);

  Dims sizes;
  for (auto [i, element] : llvm::enumerate(wanted)) {
    if (element.isInteger() && element.value >= 0) {
      sizes.push_back(element.value);
      continue;
    }
    if (element.kind == Element::Symbol)
      if (auto same = findSymbol(node, data, element)) {
        sizes.push_back(*same);
        continue;
      }
    if (inferred == i) {
      sizes.push_back(Dim(ShapedType::kDynamic, Value()));
      continue;
    }
    sizes.push_back(
        Dim(ShapedType::kDynamic, node.sliceAxis(shape, 0, i, i + 1)));
  }
  if (inferred && !sizes[*inferred].isStatic() && !sizes[*inferred].extent) {
    Dims others = sizes;
    others.erase(others.begin() + *inferred);
    Dim all = node.product(node.dims(data)), part = node.product(others);
    auto extent = [&](const Dim &dim) {
      return dim.isStatic() ? node.integers({dim.size}) : dim.extent;
    };
    sizes[*inferred].extent =
        node.op<stablehlo::DivOp>(extent(all), extent(part));
  }
  return sizes;
}

/// To a shape that is known only at run time: 0 takes the input's size, -1 what
/// is left.
static LogicalResult reshapeOpen(NodeContext &node, Value data, Value shape,
                                 bool allowsZero) {
  using Direction = stablehlo::ComparisonDirection;
  const int64_t rank = node.shape(shape)[0];
  shape = node.cast(shape, node.i64());
  if (rank == 0)
    return node.result(node.reshape(data, ArrayRef<int64_t>()));
  if (!allowsZero) {
    Dims own = node.dims(data);
    own.resize(rank, Dim(1));
    Value isZero =
        node.compare(shape, node.scalar(node.i64(), 0), Direction::EQ);
    shape = node.op<stablehlo::SelectOp>(isZero, node.extents(own), shape);
  }
  Value isLeft =
      node.compare(shape, node.scalar(node.i64(), -1), Direction::EQ);
  Value ones = node.splat(node.i64(), 1, {rank});
  Value given = node.reduce<stablehlo::MulOp>(
      node.op<stablehlo::SelectOp>(isLeft, ones, shape), {0}, 1, false);
  Value all = node.countAlong(
      data, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(data))),
      node.i64());
  // Where nothing is left open, nothing may be divided by.
  Value rest = node.op<stablehlo::DivOp>(
      all, node.op<stablehlo::MaxOp>(given, node.scalar(node.i64(), 1)));
  Value sizes = node.op<stablehlo::SelectOp>(
      isLeft, node.broadcastInDim(rest, Dims{Dim(rank)}, {}), shape);
  return node.result(node.typed<stablehlo::DynamicReshapeOp>(
      node.tensorType(Ints(rank, ShapedType::kDynamic), node.element(data)),
      data, sizes));
}

static LogicalResult importReshape(NodeContext &node) {
  Value data = node.operand(0);
  Value shape = node.version() < 5 ? node.integers(node.getInts("shape"))
                                   : node.operand(1);
  if (!shape)
    return node.fail("input 1 is missing");
  if (!listLength(node, shape, "shape"))
    return failure();
  // A size of 0 or -1 means another one, so some must be known.
  if (!node.knownElements(shape) && node.spellsUnknown())
    return reshapeOpen(node, data, shape, node.getBool("allowzero", false));
  if (!node.knownElements(shape))
    return node.unknown("the shape is known only at run time");
  auto sizes = targetSizes(node, data, shape, node.getBool("allowzero", false));
  if (!sizes)
    return failure();
  auto isStatic = [](const Dim &dim) { return dim.isStatic(); };
  // The input itself, so that a writer finds it.
  bool asGiven = node.version() >= 5 && !llvm::all_of(*sizes, isStatic);
  if (asGiven)
    if (auto known = node.knownElements(shape))
      asGiven = llvm::none_of(
          *known, [](Element e) { return e.isInteger() && e.value <= 0; });
  if (asGiven) {
    Ints type;
    for (const Dim &dim : *sizes)
      type.push_back(dim.size);
    return node.result(node.typed<stablehlo::DynamicReshapeOp>(
        node.tensorType(type, node.element(data)), data, shape));
  }
  return node.result(node.reshape(data, *sizes));
}

static LogicalResult importFlatten(NodeContext &node) {
  Value data = node.operand(0);
  int64_t rank = node.rank(data), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.fail("axis " + Twine(axis) + " is not in [-rank, rank]");
  if (axis < 0)
    axis += rank;
  Dims sizes = node.dims(data);
  return node.result(node.reshape(
      data, Dims{node.product(ArrayRef<Dim>(sizes).take_front(axis)),
                 node.product(ArrayRef<Dim>(sizes).drop_front(axis))}));
}

static LogicalResult importSqueeze(NodeContext &node) {
  Value data = node.operand(0);
  bool given;
  auto list = node.integersFrom(1, "axes", &given);
  if (!list)
    return failure();
  if (!given) {
    if (!node.isStatic(data))
      return node.unknown("squeezing every dimension of size 1 needs the "
                          "input's shape; give it with --shape");
    for (int64_t i = 0; i < node.rank(data); ++i)
      if (node.shape(data)[i] == 1)
        list->push_back(i);
  }
  auto axes = node.axes(*list, node.rank(data));
  if (!axes)
    return failure();
  for (int64_t axis : *axes)
    if (node.shape(data)[axis] != 1 &&
        !ShapedType::isDynamic(node.shape(data)[axis]))
      return node.fail("dimension " + Twine(axis) + " has size " +
                       Twine(node.shape(data)[axis]) + ", not 1");
  return node.result(node.squeeze(data, *axes));
}

static LogicalResult importUnsqueeze(NodeContext &node) {
  Value data = node.operand(0);
  auto list = node.integersFrom(1, "axes");
  if (!list)
    return failure();
  auto axes = node.axes(*list, node.rank(data) + list->size());
  if (!axes)
    return failure();
  return node.result(node.unsqueeze(data, *axes));
}

static LogicalResult importTranspose(NodeContext &node) {
  Value data = node.operand(0);
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(data)));
  std::reverse(order.begin(), order.end());
  order = node.getInts("perm", order);
  return node.result(
      node.op<stablehlo::TransposeOp>(data, ArrayRef<int64_t>(order)));
}

/// The input broadcast together with a shape.
static LogicalResult importExpand(NodeContext &node) {
  Value data = node.operand(0), shape = node.operand(1);
  if (!listLength(node, shape, "shape"))
    return failure();
  Ints wanted(node.shape(shape)[0], ShapedType::kDynamic);
  if (auto known = node.knownElements(shape))
    for (auto [size, element] : llvm::zip_equal(wanted, *known)) {
      if (!element.isInteger())
        continue;
      if (element.value < 0)
        return node.fail("the shape has a negative size");
      size = element.value;
    }
  auto joined = broadcastShapes(node.shape(data), wanted);
  if (!joined)
    return node.fail("the input does not broadcast to the shape");
  int64_t rank = joined->size(), own = node.rank(data);
  if (node.isStatic(data) && !ShapedType::isDynamicShape(wanted))
    return node.result(node.broadcastInDim(
        data, Dims(joined->begin(), joined->end()),
        llvm::to_vector(llvm::seq<int64_t>(rank - own, rank))));
  Value filler = node.typed<stablehlo::DynamicBroadcastInDimOp>(
      node.tensorType(wanted, node.element(data)),
      node.scalar(node.element(data), 0), shape,
      node.builder().getDenseI64ArrayAttr({}), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
  return node.result(node.op<nn::BroadcastLikeOp>(data, ValueRange(filler)));
}

llvm::ArrayRef<Operator> shapeOperators() {
  static const Operator table[] = {
      {"Expand", "", 8, importExpand, 2, 2},
      {"Flatten", "", 1, importFlatten, 1, 1},
      {"Reshape", "", 1, importReshape, 1, 2},
      {"Shape", "", 1, importShape, 1, 1},
      {"Size", "", 1, importSize, 1, 1},
      {"Squeeze", "", 1, importSqueeze, 1, 2},
      {"Transpose", "", 1, importTranspose, 1, 1},
      {"Unsqueeze", "", 1, importUnsqueeze, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
