// Reshapes to a shape that is a value.

#include "formats/import/Reshaping.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::formats {

namespace {
/// An element count: a known factor and dynamic sizes, some with symbols.
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

/// \p total divided by \p part: an integer, a symbol, or unknown.
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
static std::optional<Dim> findSymbol(GraphBuilder &builder, Value data,
                                     Element size) {
  for (int64_t i = 0; i < builder.rank(data); ++i)
    if (builder.known().sizeOf(data, i) == size)
      return builder.dim(data, i);
  return std::nullopt;
}

/// The sizes that Reshape's second input specifies: 0 copies the input's, -1 is
/// inferred.
static std::optional<Dims> targetSizes(GraphBuilder &builder, Value data,
                                       Value shape, bool allowZero) {
  Elements wanted(builder.size(shape, 0));
  if (auto known = builder.knownElements(shape))
    wanted = *known;
  KnownValues &known = builder.known();
  Count total, rest;
  for (int64_t i = 0; i < builder.rank(data); ++i)
    total.multiply(known.sizeOf(data, i));
  // With no elements, the copied sizes do not determine the inferred one.
  const bool isEmpty = !total.unclear && total.known == 0;
  if (isEmpty) {
    total = {};
    for (int64_t i = 0; i < builder.rank(data); ++i)
      if (i >= static_cast<int64_t>(wanted.size()) || allowZero ||
          wanted[i] != Element::integer(0))
        total.multiply(known.sizeOf(data, i));
  }
  std::optional<size_t> inferred, unknown;
  size_t unknowns = 0;
  for (auto [i, element] : llvm::enumerate(wanted)) {
    if (element == Element::integer(0) && !allowZero) {
      if (static_cast<int64_t>(i) >= builder.rank(data))
        return builder.fail(
            "the shape copies a dimension that the input lacks");
      element = known.sizeOf(data, i);
      if (isEmpty)
        continue;
    }
    if (element == Element::integer(-1)) {
      if (inferred)
        return builder.fail("the shape has more than one -1");
      inferred = i;
      continue;
    }
    if (element.isInteger() && element.value < 0)
      return builder.fail("the shape has a negative size");
    if (element.kind == Element::Unknown) {
      unknown = i;
      ++unknowns;
      continue;
    }
    rest.multiply(element);
  }
  const bool allKnown = unknowns == 0 && !total.unclear &&
                        total.symbols.empty() && rest.symbols.empty();
  if (isEmpty && inferred && rest.known == 0)
    return builder.fail("the shape has a -1 beside a size of 0");
  if (allKnown && total.known > 0 && (inferred || !isEmpty)) {
    const bool fits =
        !rest.unclear && rest.known != 0 &&
        (inferred ? total.known % rest.known == 0 : total.known == rest.known);
    if (!fits)
      return builder.fail(Twine(total.known) +
                          " elements do not fit the shape that is asked for");
  }
  // One dynamic size follows from the others.
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
      if (auto same = findSymbol(builder, data, element)) {
        sizes.push_back(*same);
        continue;
      }
    if (inferred == i) {
      sizes.push_back(Dim(ShapedType::kDynamic, Value()));
      continue;
    }
    sizes.push_back(
        Dim(ShapedType::kDynamic, builder.sliceAxis(shape, 0, i, i + 1)));
  }
  if (inferred && !sizes[*inferred].isStatic() && !sizes[*inferred].extent) {
    Dims others = sizes;
    others.erase(others.begin() + *inferred);
    Dim all = builder.product(builder.dims(data)),
        part = builder.product(others);
    auto extent = [&](const Dim &dim) {
      return dim.isStatic() ? builder.integers({dim.size}) : dim.extent;
    };
    sizes[*inferred].extent =
        builder.op<stablehlo::DivOp>(extent(all), extent(part));
  }
  return sizes;
}

/// Reshapes to a shape that is known only at run time: 0 takes the input's
/// size, -1 is inferred.
static Value reshapeDynamic(GraphBuilder &builder, Value data, Value shape,
                            bool allowsZero) {
  using Direction = stablehlo::ComparisonDirection;
  const int64_t rank = builder.size(shape, 0);
  shape = builder.cast(shape, builder.i64());
  if (rank == 0)
    return builder.reshape(data, ArrayRef<int64_t>());
  if (!allowsZero) {
    Dims own = builder.dims(data);
    own.resize(rank, Dim(1));
    Value isZero =
        builder.compare(shape, builder.scalar(builder.i64(), 0), Direction::EQ);
    shape =
        builder.op<stablehlo::SelectOp>(isZero, builder.extents(own), shape);
  }
  Value isLeft =
      builder.compare(shape, builder.scalar(builder.i64(), -1), Direction::EQ);
  Value ones = builder.splat(builder.i64(), 1, {rank});
  Value given = builder.reduce<stablehlo::MulOp>(
      builder.op<stablehlo::SelectOp>(isLeft, ones, shape), {0}, 1, false);
  Value all = builder.countAlong(
      data, llvm::to_vector(llvm::seq<int64_t>(0, builder.rank(data))),
      builder.i64());
  // Without an inferred size, the divisor must not be used. A size cannot be
  // inferred from no elements, nor twice.
  const Value one = builder.scalar(builder.i64(), 1);
  Value rest = builder.op<stablehlo::DivOp>(
      all, builder.op<stablehlo::MaxOp>(given, one));
  Value count = builder.reduce<stablehlo::AddOp>(
      builder.cast(isLeft, builder.i64()), {0}, 0, false);
  Value isSize =
      builder.op<stablehlo::AndOp>(builder.compare(given, one, Direction::GE),
                                   builder.compare(count, one, Direction::LE));
  rest = builder.op<stablehlo::SelectOp>(isSize, rest,
                                         builder.scalar(builder.i64(), -1));
  Value sizes = builder.op<stablehlo::SelectOp>(
      isLeft, builder.broadcastInDim(rest, Dims{Dim(rank)}, {}), shape);
  return builder.typed<stablehlo::DynamicReshapeOp>(
      builder.tensorType(Ints(rank, ShapedType::kDynamic),
                         builder.element(data)),
      data, sizes);
}

Value reshapeTo(GraphBuilder &builder, Value data, Value shape, bool allowsZero,
                bool keepsShape) {
  if (!data || !shape)
    return {};
  // A size of 0 or -1 means another one, so some must be known.
  if (!builder.knownElements(shape) && builder.expandsUnknown())
    return reshapeDynamic(builder, data, shape, allowsZero);
  if (!builder.knownElements(shape))
    return builder.unknown("the shape is known only at run time");
  auto sizes = targetSizes(builder, data, shape, allowsZero);
  if (!sizes)
    return {};
  auto isStatic = [](const Dim &dim) { return dim.isStatic(); };
  // Take the shape operand itself, so that a writer finds it.
  bool asGiven = keepsShape && !llvm::all_of(*sizes, isStatic);
  if (asGiven)
    if (auto known = builder.knownElements(shape))
      asGiven = llvm::none_of(
          *known, [](Element e) { return e.isInteger() && e.value <= 0; });
  if (asGiven) {
    Ints type;
    for (const Dim &dim : *sizes)
      type.push_back(dim.size);
    return builder.typed<stablehlo::DynamicReshapeOp>(
        builder.tensorType(type, builder.element(data)), data, shape);
  }
  return builder.reshape(data, *sizes);
}

} // namespace sinter::formats
