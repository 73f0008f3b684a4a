// Helpers that build several ops, for static and dynamic dimensions.

#include "formats/import/GraphBuilder.h"

#include "graph/Constants.h"
#include "graph/nn/NnAssume.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::formats {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// \p value rounded to an element type, as an attribute.
static Attribute numberAttribute(Type element, double value) {
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat number(value);
    bool inexact;
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &inexact);
    return FloatAttr::get(type, number);
  }
  if (auto type = dyn_cast<IntegerType>(element)) {
    unsigned width = type.getWidth();
    if (width == 1)
      return IntegerAttr::get(type, value != 0);
    llvm::APSInt number(width, type.isUnsigned());
    bool exact;
    APFloat(value).convertToInteger(number, APFloat::rmTowardZero, &exact);
    return IntegerAttr::get(type, number);
  }
  return {};
}

Value GraphBuilder::splat(Type element, double value, ArrayRef<int64_t> shape) {
  if (!element)
    return {};
  auto type = RankedTensorType::get(shape, element);
  if (!type.hasStaticShape())
    return unknown("a constant of unknown size");
  // The string that stands for zero, as padding say.
  if (isStringType(element))
    return typed<stablehlo::ConstantOp>(
        type, DenseElementsAttr::get(type, ArrayRef<StringRef>("")));
  Attribute number = numberAttribute(element, value);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto part =
        cast<FloatAttr>(numberAttribute(complex.getElementType(), value));
    APFloat zero = APFloat::getZero(part.getValue().getSemantics());
    std::complex<APFloat> both(part.getValue(), zero);
    return typed<stablehlo::ConstantOp>(
        type, DenseElementsAttr::get(type, ArrayRef(both)));
  }
  if (!number)
    return unsupported("a constant of this element type");
  return typed<stablehlo::ConstantOp>(
      type, DenseElementsAttr::get(type, ArrayRef(number)));
}

Value GraphBuilder::scalar(Type element, double value) {
  return splat(element, value, {});
}

Value GraphBuilder::one(Value like, double value) {
  if (!like)
    return {};
  return splat(element(like), value, Ints(rank(like), 1));
}

Value GraphBuilder::integers(ArrayRef<int64_t> values) {
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, i64());
  return typed<stablehlo::ConstantOp>(type,
                                      DenseElementsAttr::get(type, values));
}

//===----------------------------------------------------------------------===//
// Sizes and shapes
//===----------------------------------------------------------------------===//

Value GraphBuilder::cast(Value value, Type element) {
  if (!value || !element || this->element(value) == element)
    return value;
  return typed<stablehlo::ConvertOp>(type(value).clone(element), value);
}

int64_t GraphBuilder::size(Value value, int64_t dimension) {
  auto normal = axis(dimension, rank(value));
  return normal ? shape(value)[*normal] : 1;
}

Dim GraphBuilder::dim(Value value, int64_t dimension) {
  const int64_t known = size(value, dimension);
  if (!ShapedType::isDynamic(known))
    return known;
  if (dimension < 0)
    dimension += rank(value);
  Value all = op<nn::ShapeOp>(value);
  int64_t limit = dimension + 1, stride = 1;
  return Dim(ShapedType::kDynamic,
             op<stablehlo::SliceOp>(all, ArrayRef(dimension), ArrayRef(limit),
                                    ArrayRef(stride)));
}

Dims GraphBuilder::dims(Value value) {
  Dims result;
  for (int64_t i = 0; i < rank(value); ++i)
    result.push_back(dim(value, i));
  return result;
}

Dim GraphBuilder::product(ArrayRef<Dim> dims) {
  int64_t known = 1;
  Value unknown;
  for (const Dim &each : dims) {
    if (!each.isStatic())
      unknown =
          unknown ? op<stablehlo::MulOp>(unknown, each.extent) : each.extent;
    else if (llvm::MulOverflow(known, each.size, known)) {
      fail("a product of sizes is too large");
      return 0;
    }
  }
  if (!unknown)
    return known;
  if (known != 1)
    unknown = op<stablehlo::MulOp>(unknown, integers({known}));
  return Dim(ShapedType::kDynamic, unknown);
}

Value GraphBuilder::extents(ArrayRef<Dim> dims) {
  Values pieces;
  Ints run;
  auto flush = [&] {
    if (!run.empty())
      pieces.push_back(integers(run));
    run.clear();
  };
  for (const Dim &each : dims) {
    if (each.isStatic()) {
      run.push_back(each.size);
      continue;
    }
    flush();
    pieces.push_back(each.extent);
  }
  flush();
  if (pieces.empty())
    return integers({});
  return pieces.size() == 1 ? pieces[0] : concatenate(pieces, 0);
}

static Ints sizesOf(ArrayRef<Dim> dims) {
  Ints sizes;
  for (const Dim &each : dims)
    sizes.push_back(each.size);
  return sizes;
}

Value GraphBuilder::reshape(Value value, ArrayRef<Dim> dims) {
  if (!value)
    return {};
  auto result = tensorType(sizesOf(dims), element(value));
  if (result == type(value) && result.hasStaticShape())
    return value;
  if (result.hasStaticShape() && isStatic(value))
    return typed<stablehlo::ReshapeOp>(result, value);
  return typed<stablehlo::DynamicReshapeOp>(result, value, extents(dims));
}

Value GraphBuilder::unsqueeze(Value value, ArrayRef<int64_t> axes) {
  if (!value)
    return {};
  Dims sizes;
  int64_t at = 0, total = rank(value) + axes.size();
  for (int64_t i = 0; i < total; ++i)
    sizes.push_back(llvm::is_contained(axes, i) ? Dim(1) : dim(value, at++));
  return reshape(value, sizes);
}

Value GraphBuilder::squeeze(Value value, ArrayRef<int64_t> axes) {
  if (!value)
    return {};
  Dims sizes;
  for (int64_t i = 0; i < rank(value); ++i)
    if (!llvm::is_contained(axes, i))
      sizes.push_back(dim(value, i));
  return reshape(value, sizes);
}

Value GraphBuilder::alignRank(Value value, int64_t to) {
  if (!value || rank(value) >= to)
    return value;
  return unsqueeze(value,
                   llvm::to_vector(llvm::seq<int64_t>(0, to - rank(value))));
}

Value GraphBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (value && llvm::equal(permutation, llvm::seq<int64_t>(0, rank(value))))
    return value;
  return op<stablehlo::TransposeOp>(value, permutation);
}

Value GraphBuilder::sliceAxis(Value value, int64_t dimension, int64_t start,
                              int64_t limit, int64_t stride) {
  if (!value)
    return {};
  const auto normal = axis(dimension, rank(value));
  if (!normal)
    return {};
  Ints starts(rank(value), 0), strides(rank(value), 1);
  Dims limits;
  bool known = true;
  starts[*normal] = start;
  strides[*normal] = stride;
  for (int64_t i = 0; i < rank(value); ++i) {
    limits.push_back(i == *normal ? Dim(limit) : dim(value, i));
    known &= limits.back().isStatic();
  }
  if (known)
    return op<stablehlo::SliceOp>(value, starts, sizesOf(limits), strides);
  Ints sizes(shape(value));
  sizes[*normal] =
      llvm::divideCeil(std::max<int64_t>(limit - start, 0), stride);
  return typed<stablehlo::RealDynamicSliceOp>(
      tensorType(sizes, element(value)), value, integers(starts),
      extents(limits), integers(strides));
}

Value GraphBuilder::concatenate(ValueRange values, int64_t axis) {
  if (null(values))
    return {};
  if (values.size() == 1)
    return values[0];
  return op<stablehlo::ConcatenateOp>(values, static_cast<uint64_t>(axis));
}

Value GraphBuilder::pad(Value value, double filler, ArrayRef<int64_t> low,
                        ArrayRef<int64_t> high) {
  if (!value)
    return {};
  return op<stablehlo::PadOp>(value, scalar(element(value), filler), low, high,
                              Ints(low.size(), 0));
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

Value GraphBuilder::broadcastInDim(Value value, ArrayRef<Dim> dims,
                                   ArrayRef<int64_t> dimensions) {
  if (!value)
    return {};
  auto result = tensorType(sizesOf(dims), element(value));
  if (result.hasStaticShape() && isStatic(value))
    return typed<stablehlo::BroadcastInDimOp>(result, value, dimensions);
  return typed<stablehlo::DynamicBroadcastInDimOp>(
      result, value, extents(dims), builder().getDenseI64ArrayAttr(dimensions),
      DenseI64ArrayAttr(), DenseI64ArrayAttr());
}

Value GraphBuilder::alongDimension(Value vector, Value like,
                                   int64_t dimension) {
  if (!vector || !like)
    return {};
  return isStatic(like)
             ? broadcastInDim(vector, dims(like), {dimension})
             : op<nn::BroadcastLikeOp>(
                   unsqueeze(vector, llvm::to_vector(llvm::seq<int64_t>(
                                         1, rank(like) - dimension))),
                   ValueRange(like));
}

/// Whether \p value may lack the shape that all values broadcast to.
bool GraphBuilder::needsBroadcast(Value value, ArrayRef<Value> all,
                                  int64_t rank) {
  if (this->rank(value) != rank)
    return true;

  for (int64_t i = 0; i < rank; ++i) {
    Element size = known().sizeOf(value, i);
    if (size.isInteger() && size.value != 1)
      continue;
    for (Value other : all) {
      int64_t missing = rank - this->rank(other);
      if (i < missing)
        continue;
      Element there = known().sizeOf(other, i - missing);
      if (there != size && there != Element::integer(1))
        return true;
    }
  }
  return false;
}

const ReadOptions &GraphBuilder::readOptions() const {
  static const ReadOptions none;
  return none;
}

bool GraphBuilder::requiresValues() const {
  const ReadOptions &options = readOptions();
  if (options.onRequirement)
    options.onRequirement();
  return options.requiresValues;
}

void GraphBuilder::require(Value condition) {
  // Inside a branch or a loop that does not run, the condition need not hold.
  if (!condition || !requiresValues() ||
      !isa<func::FuncOp>(builder().getInsertionBlock()->getParentOp()))
    return;
  StringAttr node = builder().getStringAttr("");
  if (auto name = location()->findInstanceOf<NameLoc>())
    node = name.getName();
  builder().create<nn::AssumeOp>(location(), condition, true, node);
}

/// "[1, 9, 4] and [8, 4]", with `?` for unknown sizes.
static std::string shapesText(ArrayRef<Value> values) {
  std::string text;
  for (auto [i, value] : llvm::enumerate(values)) {
    text += i == 0 ? "[" : i + 1 == values.size() ? " and [" : ", [";
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      text += (dim ? ", " : "") +
              (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
    text += "]";
  }
  return text;
}

Values GraphBuilder::broadcastTogether(ArrayRef<Value> values) {
  if (null(ValueRange(values)))
    return {};
  int64_t most = 0;
  Ints merged;
  for (Value value : values) {
    most = std::max(most, rank(value));
    auto next = broadcastShapes(merged, shape(value));
    if (!next) {
      fail(shapesText(values) + " do not broadcast together");
      return {};
    }
    merged = std::move(*next);
  }
  Values result;
  for (Value value : values) {
    if (!needsBroadcast(value, values, most)) {
      result.push_back(value);
      continue;
    }
    Value same;
    if (!ShapedType::isDynamicShape(merged) && isStatic(value)) {
      Ints dimensions =
          llvm::to_vector(llvm::seq<int64_t>(most - rank(value), most));
      same =
          broadcastInDim(value, Dims(merged.begin(), merged.end()), dimensions);
    } else {
      Values others;
      for (Value other : values)
        if (other != value)
          others.push_back(other);
      same = op<nn::BroadcastLikeOp>(value, ValueRange(others));
    }
    if (!same)
      return {};
    result.push_back(same);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions, comparisons
//===----------------------------------------------------------------------===//

Value GraphBuilder::reduceWith(Value value, ArrayRef<int64_t> axes,
                               double initial, bool keep, StringRef opName) {
  if (!value)
    return {};
  Type element = this->element(value);
  Value start = scalar(element, initial);
  Ints sizes;
  for (int64_t i = 0; i < rank(value); ++i)
    if (!llvm::is_contained(axes, i))
      sizes.push_back(size(value, i));
  if (!start)
    return {};
  OperationState state(loc, stablehlo::ReduceOp::getOperationName());
  stablehlo::ReduceOp::build(builder(), state,
                             TypeRange(Type(tensorType(sizes, element))),
                             ValueRange(value), ValueRange(start), axes);
  Region &region = *state.regions.front();
  if (region.empty())
    region.emplaceBlock();
  {
    OpBuilder::InsertionGuard guard(builder());
    Block &block = region.front();
    Type scalarType = start.getType();
    block.addArguments({scalarType, scalarType}, {loc, loc});
    builder().setInsertionPointToStart(&block);
    OperationState body(loc, opName, block.getArguments(),
                        TypeRange(scalarType), {});
    Operation *combined = builder().create(body);
    builder().create<stablehlo::ReturnOp>(loc, combined->getResults());
  }
  Operation *op = create(state);
  if (!op)
    return {};
  return keep ? unsqueeze(op->getResult(0), axes) : op->getResult(0);
}

Value GraphBuilder::countAlong(Value value, ArrayRef<int64_t> axes,
                               Type element) {
  if (!value)
    return {};
  Dims sizes;
  for (int64_t axis : axes)
    sizes.push_back(dim(value, axis));
  Dim count = product(sizes);
  if (count.isStatic())
    return scalar(element, count.size);
  return cast(reshape(count.extent, ArrayRef<int64_t>()), element);
}

Value GraphBuilder::compare(Value lhs, Value rhs,
                            stablehlo::ComparisonDirection direction) {
  Values both = broadcastTogether({lhs, rhs});
  if (both.empty())
    return {};
  return op<stablehlo::CompareOp>(both[0], both[1], direction,
                                  stablehlo::ComparisonTypeAttr());
}

} // namespace sinter::formats
