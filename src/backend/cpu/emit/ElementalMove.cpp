//===- ElementalMove.cpp - elements of operations that move elements ------===//

#include "backend/cpu/emit/Elemental.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value Elemental::constant(Type element, Attribute attribute) {
  Type type = valueType(element);
  if (auto complexType = dyn_cast<ComplexType>(type))
    return code.create<complex::ConstantOp>(complexType,
                                            cast<ArrayAttr>(attribute));
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return code.create<arith::ConstantOp>(
        type, IntegerAttr::get(type, integer.getValue()));
  if (auto number = dyn_cast<FloatAttr>(attribute);
      number && isa<IntegerType>(type))
    return code.create<arith::ConstantOp>(
        type, IntegerAttr::get(type, number.getValue().bitcastToAPInt()));
  return code.create<arith::ConstantOp>(type, cast<TypedAttr>(attribute));
}

Value Elemental::zero(Type element) {
  auto complexType = dyn_cast<ComplexType>(element);
  if (!complexType)
    return constant(element, code.builder.getZeroAttr(valueType(element)));
  Attribute part = code.builder.getZeroAttr(complexType.getElementType());
  return constant(element, ArrayAttr::get(part.getContext(), {part, part}));
}

/// Element \p index of \p dense as an attribute that `constant` takes.
static Attribute elementAt(DenseElementsAttr dense, int64_t index) {
  auto complexType = dyn_cast<ComplexType>(dense.getElementType());
  if (!complexType)
    return dense.getValues<Attribute>()[index];
  auto value = dense.getValues<std::complex<APFloat>>()[index];
  Type part = complexType.getElementType();
  return ArrayAttr::get(
      part.getContext(),
      {FloatAttr::get(part, value.real()), FloatAttr::get(part, value.imag())});
}

/// FormKernels leaves only constants of one value inside kernels, but regions
/// have any.
std::optional<Values> Elemental::constantAt(stablehlo::ConstantOp op,
                                            Place place) {
  auto dense = cast<DenseElementsAttr>(op.getValue());
  Type element = dense.getElementType();
  Value value = constant(element, elementAt(dense, 0));
  if (dense.isSplat())
    return Values{value};
  if (hasLanes(place))
    return std::nullopt;
  Value offset = linearize(place, dimsIn(dense.getType().getShape()));
  constexpr int64_t mostSelects = 8;
  if (dense.getNumElements() > mostSelects)
    return Values{tableAt(op, offset)};
  for (int64_t i = 1; i < dense.getNumElements(); ++i)
    value = code.create<arith::SelectOp>(code.equal(offset, code.index(i)),
                                         constant(element, elementAt(dense, i)),
                                         value);
  return Values{value};
}

/// Elements narrower than a byte have one each in memory, so that their bits
/// must be put together, or taken apart.
std::optional<Values> Elemental::bitcastAt(stablehlo::BitcastConvertOp op,
                                           Place place) {
  if (hasLanes(place))
    return std::nullopt;
  Type result = valueType(getElementTypeOrSelf(op.getResult()));
  auto bitsOf = [](Type type) {
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  };
  auto castTo = [&](Type type, Value value) -> Value {
    return value.getType() == type ? value
                                   : code.create<arith::BitcastOp>(type, value);
  };
  IntegerType to = bitsOf(result);
  IntegerType from = bitsOf(valueType(getElementTypeOrSelf(op.getOperand())));
  if (from == to)
    return Values{castTo(result, at(op.getOperand(), place))};
  auto distance = [&](Value part, IntegerType narrow, IntegerType wide) {
    Value index = code.create<arith::IndexCastUIOp>(wide, part);
    return code.create<arith::MulIOp>(
        index, code.create<arith::ConstantOp>(
                   IntegerAttr::get(wide, narrow.getWidth())));
  };
  if (from.getWidth() > to.getWidth()) {
    Value whole = castTo(from, at(op.getOperand(), place.drop_back()));
    Value shifted = code.create<arith::ShRUIOp>(
        whole, distance(place.back().value, to, from));
    return Values{castTo(result, code.create<arith::TruncIOp>(to, shifted))};
  }
  Value whole;
  for (unsigned i = 0; i < to.getWidth() / from.getWidth(); ++i) {
    Coordinates source(place);
    source.push_back(code.index(i));
    Value part = code.create<arith::ShLIOp>(
        code.create<arith::ExtUIOp>(to,
                                    castTo(from, at(op.getOperand(), source))),
        distance(code.index(i), from, to));
    whole = whole ? code.create<arith::OrIOp>(whole, part) : part;
  }
  return Values{castTo(result, whole)};
}

std::optional<Values> Elemental::broadcastAt(stablehlo::BroadcastInDimOp op,
                                             Place place) {
  Coordinates source;
  for (auto [size, dim] :
       llvm::zip(dimsOf(op.getOperand()), op.getBroadcastDimensions()))
    source.push_back(size == 1 ? Coordinate(code.index(0)) : place[dim]);
  return Values{at(op.getOperand(), source)};
}

bool cpu::keepsNamedDimensions(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  size_t i = 0, j = 0;
  auto skipOnes = [](ArrayRef<Dim> shape, size_t &place) {
    while (place < shape.size() && shape[place] == 1)
      ++place;
    return place < shape.size();
  };
  while (true) {
    const bool hasFrom = skipOnes(from, i), hasTo = skipOnes(to, j);
    if (!hasFrom || !hasTo)
      return hasFrom == hasTo;
    Dim a = from[i++], b = to[j++];
    while (a != b) {
      const bool isLess = a < b;
      ArrayRef<Dim> shape = isLess ? from : to;
      size_t &place = isLess ? i : j;
      Dim &product = isLess ? a : b;
      if (a.isDynamic() || b.isDynamic() || place == shape.size() ||
          shape[place].isDynamic())
        return false;
      product *= shape[place++];
      if (product.isUnknown())
        return false;
    }
  }
}

/// Splits two shapes of the same number of elements into the finest groups of
/// neighbouring dimensions whose products agree, and gives each group's
/// dimensions [begin, end) on both sides. Dimensions of size 1 go along.
static void
matchDimensions(ArrayRef<Dim> from, ArrayRef<Dim> to,
                llvm::function_ref<void(size_t, size_t, size_t, size_t)> emit) {
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t firstFrom = i, firstTo = j;
    Dim a = i < from.size() ? from[i++] : Dim(1);
    Dim b = j < to.size() ? to[j++] : Dim(1);
    while (a != b)
      if (a < b)
        a *= from[i++];
      else
        b *= to[j++];
    emit(firstFrom, i, firstTo, j);
  }
}

/// The only dimension in [begin, end) that is not of size 1, if there is one.
static std::optional<size_t> soleDimension(ArrayRef<Dim> shape, size_t begin,
                                           size_t end) {
  std::optional<size_t> sole;
  for (size_t i = begin; i < end; ++i)
    if (shape[i] != 1) {
      if (sole)
        return std::nullopt;
      sole = i;
    }
  return sole;
}

/// The only dimension, not of size 1, along which lanes lie.
static std::optional<size_t> soleLanes(ArrayRef<Coordinate> place,
                                       ArrayRef<Dim> shape) {
  std::optional<size_t> sole;
  for (auto [i, size] : llvm::enumerate(shape))
    if (place[i].lanes && size != 1) {
      if (sole)
        return std::nullopt;
      sole = i;
    }
  return sole;
}

std::optional<Values> Elemental::reshapeAt(stablehlo::ReshapeOp op,
                                           Place place) {
  ArrayRef<Dim> from = dimsOf(op.getOperand()), to = dimsOf(op.getResult());
  Coordinates source(from.size(), Coordinate(code.index(0)));
  // There is no element to find; the code never runs.
  if (llvm::is_contained(from, Dim(0)))
    return Values{at(op.getOperand(), source)};
  // FormKernels joins no other.
  if (!keepsNamedDimensions(from, to))
    return Values{
        at(op.getOperand(),
           Coordinates(from.size(), Coordinate(code.index(Dim::unknown()))))};
  bool covered = true;
  matchDimensions(
      from, to,
      [&](size_t fromBegin, size_t fromEnd, size_t toBegin, size_t toEnd) {
        std::optional<size_t> soleFrom =
            soleDimension(from, fromBegin, fromEnd);
        std::optional<size_t> soleTo = soleDimension(to, toBegin, toEnd);
        if (soleFrom && soleTo) {
          source[*soleFrom] = place[*soleTo];
          return;
        }
        Coordinates inner(place.slice(toBegin, toEnd - toBegin));
        ArrayRef<Dim> innerShape = to.slice(toBegin, toEnd - toBegin);
        Value offset = linearize(inner, innerShape);
        std::optional<size_t> lanes = soleLanes(inner, innerShape);
        // Neighbours in the innermost part of a dimension are neighbours there.
        if (soleFrom && lanes &&
            llvm::all_of(innerShape.drop_front(*lanes + 1),
                         [](Dim size) { return size == 1; })) {
          source[*soleFrom] = {offset, /*lanes=*/true};
          return;
        }
        for (size_t i = toBegin; i < toEnd; ++i)
          covered &= !place[i].lanes || to[i] == 1;
        for (size_t i = fromEnd; i-- > fromBegin;) {
          if (from[i] == 1)
            continue;
          bool isOutermost = llvm::all_of(from.slice(fromBegin, i - fromBegin),
                                          [](Dim size) { return size == 1; });
          source[i] = isOutermost ? offset : code.rem(offset, from[i]);
          offset = code.div(offset, from[i]);
        }
      });
  if (!covered)
    return std::nullopt;
  return Values{at(op.getOperand(), source)};
}

std::optional<Values> Elemental::transposeAt(stablehlo::TransposeOp op,
                                             Place place) {
  Coordinates source(place.size());
  for (auto [i, dim] : llvm::enumerate(op.getPermutation()))
    source[dim] = place[i];
  return Values{at(op.getOperand(), source)};
}

std::optional<Values> Elemental::sliceAt(stablehlo::SliceOp op, Place place) {
  Coordinates source;
  for (auto [i, coordinate] : llvm::enumerate(place)) {
    int64_t stride = op.getStrides()[i];
    if (coordinate.lanes && stride != 1)
      return std::nullopt;
    source.push_back(
        {code.add(code.mul(coordinate.value, stride), op.getStartIndices()[i]),
         coordinate.lanes});
  }
  return Values{at(op.getOperand(), source)};
}

/// Where dimension \p dim of the operand is read for \p index of the result;
/// \p inside holds on only where that is an element.
static Value padSource(KernelBuilder &e, sinter::stablehlo::PadOp op,
                       size_t dim, Value index, Value &inside) {
  int64_t low = op.getEdgePaddingLow()[dim];
  int64_t step = op.getInteriorPadding()[dim] + 1;
  index = e.sub(index, low);
  if (low > 0)
    inside = e.both(inside, e.less(e.index(-1), index));
  if (step != 1) {
    inside = e.both(inside, e.equal(e.rem(index, step), e.index(0)));
    index = e.div(index, step);
  }
  if (op.getEdgePaddingHigh()[dim] > 0)
    inside =
        e.both(inside, e.less(index, e.index(dimsOf(op.getOperand())[dim])));
  return index;
}

Value Elemental::isInside(stablehlo::PadOp op, Place place) {
  Value inside = code.boolean(true);
  for (auto [dim, coordinate] : llvm::enumerate(place))
    padSource(code, op, dim, coordinate.value, inside);
  return inside;
}

std::optional<Values> Elemental::padAt(stablehlo::PadOp op, Place place) {
  Coordinates source;
  Value inside = code.boolean(true);
  for (auto [dim, coordinate] : llvm::enumerate(place)) {
    if (coordinate.lanes && (op.getEdgePaddingLow()[dim] != 0 ||
                             op.getEdgePaddingHigh()[dim] != 0 ||
                             op.getInteriorPadding()[dim] != 0))
      return std::nullopt;
    source.push_back(
        {padSource(code, op, dim, coordinate.value, inside), coordinate.lanes});
  }
  // Both branches have to be vectors if one is, and what is the same in all
  // lanes comes as a scalar.
  const bool asVector = hasLanes(place);
  auto read = [&](Value tensor, Place where) {
    Value value = at(tensor, where);
    return KernelBuilder::Carried{asVector ? splat(value) : value};
  };
  return Values(code.branch(
      inside, [&] { return read(op.getOperand(), source); },
      [&] { return read(op.getPaddingValue(), Place()); }));
}

/// The element of a dimension of \p size that stands in for \p index of it,
/// which may lie beside it.
static Value insideSource(KernelBuilder &e, StringRef mode, Value index,
                          Value size, bool mayBeBelow, bool mayBeAbove) {
  Value zero = e.index(0), last = e.sub(size, 1), source = index;
  if (mayBeAbove) {
    Value above = mode == "edge"   ? last
                  : mode == "wrap" ? e.sub(index, size)
                                   : e.sub(e.add(last, last), index);
    source = e.select(e.less(index, size), index, above);
  }
  if (mayBeBelow) {
    Value below = mode == "edge"   ? zero
                  : mode == "wrap" ? e.add(index, size)
                                   : e.sub(zero, index);
    source = e.select(e.less(index, zero), below, source);
  }
  return source;
}

std::optional<Values> Elemental::padModeAt(nn::PadModeOp op, Place place) {
  Coordinates source;
  for (auto [dim, coordinate] : llvm::enumerate(place)) {
    const int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    if (coordinate.lanes && (low > 0 || high > 0))
      return std::nullopt;
    source.push_back(
        {insideSource(code, op.getMode(), code.sub(coordinate.value, low),
                      code.index(dimsOf(op.getOperand())[dim]), low > 0,
                      high > 0),
         coordinate.lanes});
  }
  return Values{at(op.getOperand(), source)};
}

std::optional<Values> Elemental::concatenateAt(stablehlo::ConcatenateOp op,
                                               Place place) {
  size_t dim = op.getDimension();
  if (place[dim].lanes)
    return std::nullopt;
  bool asVector =
      llvm::any_of(place, [](const Coordinate &c) { return c.lanes; });
  auto inputs = op.getInputs();
  auto choose = [&](auto &self, size_t input, Value start) -> Values {
    Value end = code.add(start, code.index(dimsOf(inputs[input])[dim]));
    auto here = [&] {
      Coordinates source(place);
      source[dim] = code.sub(place[dim].value, start);
      Value value = at(inputs[input], source);
      return Values{asVector ? splat(value) : value};
    };
    if (input + 1 == inputs.size())
      return here();
    return Values(code.branch(code.less(place[dim].value, end), here,
                              [&] { return self(self, input + 1, end); }));
  };
  return choose(choose, 0, code.index(0));
}

std::optional<Values> Elemental::reverseAt(stablehlo::ReverseOp op,
                                           Place place) {
  Coordinates source(place);
  for (int64_t dim : op.getDimensions()) {
    if (place[dim].lanes)
      return std::nullopt;
    // The size may be a name, from which nothing is taken.
    source[dim] =
        code.sub(code.sub(code.index(dimsOf(op.getOperand())[dim]), 1),
                 place[dim].value);
  }
  return Values{at(op.getOperand(), source)};
}

std::optional<Values> Elemental::iotaAt(stablehlo::IotaOp op, Place place) {
  const Coordinate &coordinate = place[op.getIotaDimension()];
  if (coordinate.lanes)
    return std::nullopt;
  Type i64 = code.builder.getI64Type();
  Value count = code.create<arith::IndexCastOp>(i64, coordinate.value);
  Type element =
      cast<RankedTensorType>(op.getOutput().getType()).getElementType();
  return Values{emitConvert(code, count, i64, element)};
}

Value Elemental::clampedStart(Value tensor, Place place, Dim size, Dim slice) {
  if (size == slice)
    return code.index(0);
  Value limit = code.sub(code.index(size), code.index(slice));
  if (const auto known = code.constantOf(limit); known && *known <= 0)
    return code.index(0);
  Value start = at(tensor, place);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Type i64 = code.builder.getI64Type();
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  if (isUnsigned && start.getType() == i64) {
    // Taken as signed, a number above the greatest i64 would clamp to 0.
    const std::optional<int64_t> known = code.constantOf(limit);
    Value greatest = known ? code.create<arith::ConstantIntOp>(*known, 64)
                           : code.create<arith::IndexCastOp>(i64, limit);
    start = code.create<arith::MinUIOp>(start, greatest);
  }
  if (start.getType() != i64)
    start = isUnsigned ? code.create<arith::ExtUIOp>(i64, start)
                       : code.create<arith::ExtSIOp>(i64, start);
  Value index =
      code.create<arith::IndexCastOp>(code.builder.getIndexType(), start);
  return code.max(code.min(index, limit), code.index(0));
}

std::optional<Values> Elemental::dynamicSliceAt(stablehlo::DynamicSliceOp op,
                                                Place place) {
  ArrayRef<Dim> shape = dimsOf(op.getOperand()),
                slice = dimsIn(op.getSliceSizes());
  Coordinates source;
  for (auto [i, start] : llvm::enumerate(op.getStartIndices())) {
    Value first = clampedStart(start, Place(), shape[i], slice[i]);
    source.push_back({code.add(first, place[i].value), place[i].lanes});
  }
  return Values{at(op.getOperand(), source)};
}

std::optional<Values>
Elemental::dynamicUpdateAt(stablehlo::DynamicUpdateSliceOp op, Place place) {
  ArrayRef<Dim> shape = dimsOf(op.getOperand()),
                update = dimsOf(op.getUpdate());
  Coordinates source;
  Value inside = code.boolean(true);
  for (auto [i, start] : llvm::enumerate(op.getStartIndices())) {
    if (update[i] == shape[i]) {
      source.push_back(place[i]);
      continue;
    }
    if (place[i].lanes)
      return std::nullopt;
    Value first = clampedStart(start, Place(), shape[i], update[i]);
    Value index = code.sub(place[i].value, first);
    inside = code.both(inside, code.less(code.index(-1), index));
    inside = code.both(inside, code.less(index, code.index(update[i])));
    source.push_back(index);
  }
  bool asVector =
      llvm::any_of(place, [](const Coordinate &c) { return c.lanes; });
  auto read = [&](Value tensor, Place where) {
    Value value = at(tensor, where);
    return KernelBuilder::Carried{asVector ? splat(value) : value};
  };
  return Values(code.branch(
      inside, [&] { return read(op.getUpdate(), source); },
      [&] { return read(op.getOperand(), place); }));
}

std::optional<Values> Elemental::gatherAt(stablehlo::GatherOp op, Place place) {
  auto numbers = op.getDimensionNumbers();
  ArrayRef<Dim> shape = dimsOf(op.getOperand());
  ArrayRef<int64_t> offsetDims = numbers.getOffsetDims();
  // The result's dimensions outside offset_dims name the index vector.
  Coordinates batch, offset;
  for (auto [i, coordinate] : llvm::enumerate(place))
    (llvm::is_contained(offsetDims, int64_t(i)) ? offset : batch)
        .push_back(coordinate);
  if (llvm::any_of(batch, [](const Coordinate &c) { return c.lanes; }))
    return std::nullopt;

  auto skipped = [&](int64_t dim) {
    return llvm::is_contained(numbers.getCollapsedSliceDims(), dim) ||
           llvm::is_contained(numbers.getOperandBatchingDims(), dim);
  };
  Coordinates source;
  size_t nextOffset = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    source.push_back(skipped(dim) ? Coordinate(code.index(0))
                                  : offset[nextOffset++]);
  int64_t indexRank = dimsOf(op.getStartIndices()).size();
  auto indexPlace = [&](int64_t component) {
    Coordinates where(batch);
    if (numbers.getIndexVectorDim() < indexRank)
      where.insert(where.begin() + numbers.getIndexVectorDim(),
                   Coordinate(code.index(component)));
    return where;
  };
  // Of a dynamic size there may be fewer elements than a slice has, none say.
  Value hasSlices = code.boolean(true);
  for (auto [component, dim] : llvm::enumerate(numbers.getStartIndexMap())) {
    const Dim slice = dimsIn(op.getSliceSizes())[dim];
    if (shape[dim] == slice)
      continue;
    if (shape[dim].isDynamic())
      hasSlices = code.both(hasSlices, code.less(code.sub(code.index(slice), 1),
                                                 code.index(shape[dim])));
    Value start = clampedStart(op.getStartIndices(), indexPlace(component),
                               shape[dim], slice);
    source[dim].value = code.add(source[dim].value, start);
  }
  for (auto [operandDim, indexDim] :
       llvm::zip(numbers.getOperandBatchingDims(),
                 numbers.getStartIndicesBatchingDims())) {
    int64_t position =
        indexDim - (indexDim > numbers.getIndexVectorDim() ? 1 : 0);
    source[operandDim] = batch[position];
  }
  const bool asVector = hasLanes(place);
  auto asAsked = [&](Value value) {
    return KernelBuilder::Carried{asVector ? splat(value) : value};
  };
  if (code.knownTruth(hasSlices) == true)
    return Values{at(op.getOperand(), source)};
  return Values(code.branch(
      hasSlices, [&] { return asAsked(at(op.getOperand(), source)); },
      [&] { return asAsked(zero(elementOf(op.getOperand()))); }));
}
