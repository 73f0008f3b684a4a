#include "backend/cpu/ir/CpuOps.h"

#include "graph/Types.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::cpu {

/// Blocks of \p lanes channels that hold \p channels.
static int64_t blocksOf(int64_t channels, int64_t lanes) {
  return (channels + lanes - 1) / lanes;
}

/// Whether \p blocked is the blocked form of \p plain: sizes but those of
/// channels may be unknown, in both.
static bool isBlockedFormOf(RankedTensorType blocked, RankedTensorType plain) {
  return blocked.getRank() == 5 && plain.getRank() == 4 &&
         !plain.isDynamicDim(1) && !blocked.isDynamicDim(1) &&
         !blocked.isDynamicDim(4) &&
         blocked.getElementType() == plain.getElementType() &&
         blocked.getDimSize(0) == plain.getDimSize(0) &&
         blocked.getDimSize(2) == plain.getDimSize(2) &&
         blocked.getDimSize(3) == plain.getDimSize(3) &&
         blocked.getDimSize(4) > 0 &&
         blocked.getDimSize(1) ==
             blocksOf(plain.getDimSize(1), blocked.getDimSize(4));
}

LogicalResult PackOp::verify() {
  if (!isBlockedFormOf(tensorOf(getResult()), tensorOf(getOperand())))
    return emitOpError("the result is not the blocked form of the operand");
  return success();
}

LogicalResult UnpackOp::verify() {
  if (!isBlockedFormOf(tensorOf(getOperand()), tensorOf(getResult())))
    return emitOpError("the operand is not the blocked form of the result");
  return success();
}

/// Every list has an element for height and one for width.
static bool areSpatial(std::initializer_list<ArrayRef<int64_t>> lists) {
  return llvm::all_of(lists,
                      [](ArrayRef<int64_t> list) { return list.size() == 2; });
}

LogicalResult ConvolutionOp::verify() {
  auto input = tensorOf(getInput()), weights = tensorOf(getWeights());
  auto result = tensorOf(getResult());
  if (!areSpatial({getStrides(), getDilations(), getPaddingLow()}))
    return emitOpError(
        "strides, dilations and padding are not [height, width]");
  if (const auto area = getEstimatedArea();
      area && (area->size() != 2 || (*area)[0] <= 0 || (*area)[1] <= 0))
    return emitOpError("estimated_area is not [height, width]");
  if (weights.getRank() != (getPackedFrom() ? 1 : 4) || result.getRank() != 5 ||
      (input.getRank() != 4 && input.getRank() != 5))
    return emitOpError("the operands' ranks are wrong");
  if (kernelShape().size() != 4)
    return emitOpError("packed_from is not [K, C / groups, R, S]");
  int64_t lanes = result.getDimSize(4), outputs = getOutputChannels();
  if (lanes <= 0 || (input.getRank() == 5 && input.getDimSize(4) != lanes))
    return emitOpError("input and result have blocks of other sizes");
  if (kernelShape()[0] != outputs ||
      result.getDimSize(1) != blocksOf(outputs, lanes))
    return emitOpError("the result has not the weights' output channels");
  const int64_t inputs = kernelShape()[1] * static_cast<int64_t>(getGroups());
  const int64_t held =
      hasPlanarInput() ? inputs : blocksOf(inputs, input.getDimSize(4));
  if (input.getDimSize(1) != held ||
      input.getDimSize(0) != result.getDimSize(0))
    return emitOpError("the input has not the weights' input channels, or "
                       "other images than the result");
  return verifyElements();
}

/// Bytes, or the words of 16 bits in which these lie where machines multiply
/// such.
static bool isOfBytes(Type element) {
  return element.isInteger(8) || element.isSignlessInteger(16);
}

/// Whether \p number is one that bytes of type \p element can be, or words
/// that hold bytes of either sign.
static bool isElement(Type element, int64_t number) {
  if (element.isInteger(16))
    return number >= -128 && number <= 255;
  return element.isUnsignedInteger() ? number >= 0 && number <= 255
                                     : number >= -128 && number <= 127;
}

/// What the kernels multiply and sum.
LogicalResult ConvolutionOp::verifyElements() {
  Type input = tensorOf(getInput()).getElementType(),
       weights = tensorOf(getWeights()).getElementType(),
       result = tensorOf(getResult()).getElementType();
  const bool ofBytes = isOfBytes(input) && weights.isInteger(8) &&
                       result.isInteger(32) && !isDepthwise() &&
                       !hasPlanarInput() && !getPackedFrom();
  const bool ofWidened =
      input.isInteger(8) && weights.isF32() && result.isF32() && isDepthwise();
  const bool ofBFloat16 = input.isBF16() && result.isF32() &&
                          !hasPlanarInput() && !getPackedFrom() &&
                          (isDepthwise() ? weights.isF32() : weights.isBF16());
  const bool ofLowBitWeights =
      input.isF32() && result.isF32() &&
      (weights.isF16() || weights.isBF16() || weights.isSignlessInteger(8) ||
       (weights.isSignlessInteger(4) && takesGroupsOfEight())) &&
      !isDepthwise() && !getPackedFrom();
  if (!ofBytes && !ofWidened && !ofBFloat16 && !ofLowBitWeights &&
      (input != result || weights != result || !isa<FloatType>(result)))
    return emitOpError("no kernel multiplies and sums such elements");
  const auto zero = static_cast<int64_t>(getZeroPoint());
  if (zero != 0 && (!(ofBytes || ofWidened) || !isElement(input, zero)))
    return emitOpError("the zero point is no element of the input");
  if (!getZero())
    return success();
  if (!(ofBytes || ofWidened) || zero != 0)
    return emitOpError("a zero point that is an operand stands beside one that "
                       "is an attribute, or is of no bytes");
  auto one = RankedTensorType::get({1}, input);
  return getZero().getType() == one
             ? success()
             : emitOpError("the zero point is not one element of the input");
}

/// The last \p count dimensions of \p value.
static SmallVector<int64_t> lastDimensions(Value value, size_t count) {
  const int64_t rank = tensorOf(value).getRank();
  return llvm::to_vector(
      llvm::seq<int64_t>(rank - static_cast<int64_t>(count), rank));
}

SmallVector<int64_t> Int8ProductOp::lhsContracting() {
  return lastDimensions(getLhs(), getContracting().size());
}

SmallVector<int64_t> LowBitProductOp::lhsContracting() {
  return lastDimensions(getLhs(), getContracting().size());
}

/// Whether the result of \p op has the dimensions that are left.
template <typename Op> static LogicalResult verifyDimensions(Op op) {
  auto lhs = tensorOf(op.getLhs()), weights = tensorOf(op.getWeights());
  ArrayRef<int64_t> contracting = op.getContracting();
  const llvm::SmallDenseSet<int64_t> unique(contracting.begin(),
                                            contracting.end());
  if (unique.size() != contracting.size() ||
      static_cast<int64_t>(contracting.size()) > lhs.getRank() ||
      llvm::any_of(contracting, [&](int64_t dim) {
        return dim < 0 || dim >= weights.getRank();
      }))
    return op.emitOpError(
        "the contracted dimensions are not those of operands");
  SmallVector<int64_t> shape(lhs.getShape().drop_back(contracting.size()));
  for (auto [mine, theirs] : llvm::zip(op.lhsContracting(), contracting))
    if (lhs.getDimSize(mine) != weights.getDimSize(theirs))
      return op.emitOpError("contracted dimensions have other sizes");
  for (int64_t dim = 0; dim < weights.getRank(); ++dim)
    if (!unique.contains(dim))
      shape.push_back(weights.getDimSize(dim));
  if (tensorOf(op.getResult()).getShape() != ArrayRef(shape))
    return op.emitOpError("the result has not the dimensions that are left");
  return success();
}

LogicalResult Int8ProductOp::verify() {
  if (!isOfBytes(tensorOf(getLhs()).getElementType()) ||
      !tensorOf(getWeights()).getElementType().isSignlessInteger(8) ||
      !tensorOf(getResult()).getElementType().isInteger(32))
    return emitOpError("is not of bytes, signed bytes and sums of 32 bits");
  return verifyDimensions(*this);
}

stablehlo::ProductSide ZeroPointProductOp::getSide(unsigned side) {
  if (side == 0)
    return {getLhs(), getLhsBatching(), getLhsContracting()};
  return {getRhs(), getRhsBatching(), getRhsContracting()};
}

IntegerType ZeroPointProductOp::multipliedRhs() {
  auto type = cast<IntegerType>(tensorOf(getRhs()).getElementType());
  if (!getTurned())
    return type;
  return IntegerType::get(getContext(), 8,
                          type.isUnsigned() ? IntegerType::Signless
                                            : IntegerType::Unsigned);
}

/// Whether the lists of \p side name dimensions, each once.
static bool namesDimensions(const stablehlo::ProductSide &side) {
  llvm::SmallDenseSet<int64_t> unique;
  const int64_t rank = tensorOf(side.value).getRank();
  auto isNew = [&](int64_t dim) {
    return dim >= 0 && dim < rank && unique.insert(dim).second;
  };
  return llvm::all_of(side.batching, isNew) &&
         llvm::all_of(side.contracting, isNew);
}

/// Whether sizes may be the same.
static bool mayAgree(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

LogicalResult ZeroPointProductOp::verify() {
  const stablehlo::ProductSide sides[] = {getSide(0), getSide(1)};
  if (!isOfBytes(tensorOf(getLhs()).getElementType()) ||
      !isOfBytes(tensorOf(getRhs()).getElementType()) ||
      (getTurned() && !tensorOf(getRhs()).getElementType().isInteger(8)) ||
      !llvm::all_of(sides, namesDimensions))
    return emitOpError("is not of bytes with such dimensions");
  for (Value zero : {getLhsZero(), getRhsZero()})
    if (zero && (!tensorOf(zero).getElementType().isSignlessInteger(32) ||
                 !tensorOf(zero).hasStaticShape() ||
                 tensorOf(zero).getNumElements() != 1))
      return emitOpError("has a zero point that is not one element of i32");
  auto agree = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    return left.size() == right.size() &&
           llvm::all_of(llvm::zip_equal(left, right), [&](auto pair) {
             return mayAgree(tensorOf(getLhs()).getDimSize(std::get<0>(pair)),
                             tensorOf(getRhs()).getDimSize(std::get<1>(pair)));
           });
  };
  if (!agree(getLhsBatching(), getRhsBatching()) ||
      !agree(getLhsContracting(), getRhsContracting()))
    return emitOpError("operands have other sizes");
  SmallVector<int64_t> shape;
  for (int64_t dim : getLhsBatching())
    shape.push_back(tensorOf(getLhs()).getDimSize(dim));
  for (const stablehlo::ProductSide &side : sides)
    for (int64_t dim : side.free())
      shape.push_back(tensorOf(side.value).getDimSize(dim));
  auto result = tensorOf(getResult());
  if (!result.getElementType().isSignlessInteger(32) ||
      result.getRank() != int64_t(shape.size()) ||
      !llvm::all_of(llvm::zip_equal(result.getShape(), shape), [](auto pair) {
        return mayAgree(std::get<0>(pair), std::get<1>(pair));
      }))
    return emitOpError("the result is not of i32 in what is left of both");
  return success();
}

LogicalResult LowBitProductOp::verify() {
  auto weights = tensorOf(getWeights());
  const std::optional<ElementType> element =
      elementTypeOf(weights.getElementType());
  const Type lhs = tensorOf(getLhs()).getElementType();
  const bool ofBFloat16 = lhs.isBF16() && weights.getElementType().isBF16() &&
                          !getScales() && !getZeros();
  if ((!lhs.isF32() && !ofBFloat16) ||
      !tensorOf(getResult()).getElementType().isF32() || !element ||
      isComplex(*element) || *element == ElementType::I1 ||
      bitWidth(*element) > 16)
    return emitOpError("is not of f32, narrower weights and sums of f32, or of "
                       "bf16 by bf16");
  if (failed(verifyDimensions(*this)))
    return failure();
  int64_t depth = 1;
  for (int64_t dim : getContracting())
    depth *= weights.getDimSize(dim);
  const int64_t width = depth == 0 ? 0 : weights.getNumElements() / depth;
  const auto block = static_cast<int64_t>(getBlock()),
             columns = static_cast<int64_t>(getColumns());
  const Value numbers[] = {getScales(), getZeros()};
  const bool hasNumbers = numbers[0] || numbers[1];
  if (block < 0 || hasNumbers != (block > 0))
    return emitOpError("has numbers of blocks without blocks, or blocks without"
                       " numbers");
  if (columns < 0 || columns > width || (columns > 0 && block != 1))
    return emitOpError("has blocks of columns that are not of one row, or of "
                       "more columns than there are");
  if (columns % columnUnit != 0 && columns < width)
    return emitOpError("has blocks of columns that are no multiples of ")
           << columnUnit;
  // What lies together has the same scale.
  const int64_t together = 32 / std::min(32U, bitWidth(*element));
  if (block > 0 && columns == 0 && bitWidth(*element) < 8 &&
      block % together != 0)
    return emitOpError("has blocks that are no multiples of ") << together;
  const int64_t shape[] = {
      block == 0 ? 0 : int64_t(llvm::divideCeil(depth, block)),
      columns == 0 ? width : int64_t(llvm::divideCeil(width, columns))};
  for (Value each : numbers)
    if (each && tensorOf(each).getShape() != ArrayRef<int64_t>(shape))
      return emitOpError("scales and zero points are not [blocks, columns]");
  return success();
}

/// That \p bytes have room for \p numbers, of which \p op tells.
template <typename Op>
static LogicalResult verifyTerms(Op op, Value numbers, Value bytes) {
  auto wide = tensorOf(numbers), narrow = tensorOf(bytes);
  if (!wide.getElementType().isF32() ||
      !narrow.getElementType().isSignlessInteger(8) || narrow.getRank() != 1)
    return op.emitOpError("is of f32, and of bytes");
  for (uint64_t size : {op.getImages(), op.getRows(), op.getColumns(),
                        op.getWidth(), op.getTileRows(), op.getUnitRows()})
    if (int64_t(size) < 1)
      return op.emitOpError("has a size that is not positive");
  if (op.getRows() % op.getWidth() != 0)
    return op.emitOpError("has rows of pixels that are not whole");
  if (op.getBorder().size() != 4 ||
      llvm::any_of(op.getBorder(), [](int64_t size) { return size < 0; }) ||
      int64_t(op.getBeyond()) < 0)
    return op.emitOpError("has a border that is not of four sides");
  if (op.getTileRows() > op.getUnitRows())
    return op.emitOpError("has tiles that are larger than their units");
  if (wide.hasStaticShape() && narrow.hasStaticShape() &&
      narrow.getNumElements() < 4 * wide.getNumElements())
    return op.emitOpError("has ") << narrow.getNumElements() << " bytes for "
                                  << wide.getNumElements() << " numbers";
  return success();
}

LogicalResult SplitTermsOp::verify() {
  return verifyTerms(*this, getOperand(), getResult());
}

LogicalResult RecombineTermsOp::verify() {
  return verifyTerms(*this, getResult(), getOperand());
}

LogicalResult MinMaxOp::verify() {
  auto numbers = tensorOf(getOperand()), rows = tensorOf(getLeast());
  if (rows != tensorOf(getGreatest()))
    return emitOpError("has extremes of two types");
  if (rows.getRank() != 2 || !rows.hasStaticShape() ||
      !numbers.hasStaticShape() || numbers.getRank() == 0 ||
      rows.getDimSize(1) != numbers.getShape().back() ||
      rows.getElementType() != numbers.getElementType())
    return emitOpError("does not make rows of the operand's lanes");
  if (!rows.getElementType().isF32())
    return emitOpError("is of f32 only");
  return success();
}

LogicalResult LookupOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult()),
       table = tensorOf(getTable());
  if (!from.getElementType().isInteger(8) ||
      !to.getElementType().isInteger(8) || from.getShape() != to.getShape())
    return emitOpError("does not make bytes of as many bytes");
  if (table.getShape() != ArrayRef<int64_t>{256} ||
      table.getElementType() != to.getElementType())
    return emitOpError("the table has not an element of the result's for each "
                       "byte");
  return success();
}

LogicalResult PoolOp::verify() {
  if (!areSpatial({getWindow(), getStrides(), getDilations(), getPaddingLow()}))
    return emitOpError("window, strides, dilations and padding are not "
                       "[height, width]");
  if (getKind() != "max" && getKind() != "average_window" &&
      getKind() != "average_present")
    return emitOpError("kind is not max, average_window or average_present");
  if (tensorOf(getInput()).getRank() != 5 ||
      tensorOf(getResult()).getRank() != 5)
    return emitOpError("input and result are not blocked");
  Type from = tensorOf(getInput()).getElementType(),
       to = tensorOf(getResult()).getElementType();
  const bool isMean = getKind() != "max";
  const bool isHalf = from.isF16() || from.isBF16();
  if (!(from.isF32() || isOfBytes(from) || isHalf) ||
      (isMean || isHalf ? !to.isF32() : to != from))
    return emitOpError("input and result are not of f32, nor bytes or half "
                       "precision and what becomes of them");
  const auto zero = static_cast<int64_t>(getZeroPoint());
  if (zero != 0 && !(isMean && isOfBytes(from) && isElement(from, zero)))
    return emitOpError("the zero point is no element of bytes with a mean");
  return success();
}

LogicalResult WeightGradientOp::verify() {
  if (!areSpatial({getStrides(), getDilations(), getPaddingLow()}))
    return emitOpError("strides, dilations and padding are not "
                       "[height, width]");
  auto input = tensorOf(getInput()), gradient = tensorOf(getGradient()),
       result = tensorOf(getResult());
  for (RankedTensorType each : {input, gradient, result})
    if (!each.getElementType().isF32())
      return emitOpError("is not of f32");
  if (input.getRank() != 5 || gradient.getRank() != 5 ||
      result.getRank() != 7 || input.getDimSize(0) != gradient.getDimSize(0) ||
      input.getDimSize(4) != gradient.getDimSize(4))
    return emitOpError("operands are not blocks of the same images, or the "
                       "result is not of blocks");
  const int64_t lanes = input.getDimSize(4);
  const int64_t wanted[] = {gradient.getDimSize(1),
                            input.getDimSize(1),
                            result.getDimSize(3),
                            result.getDimSize(4),
                            lanes,
                            lanes};
  const auto inputs = static_cast<int64_t>(getInputChannels()),
             outputs = static_cast<int64_t>(getOutputChannels());
  if (result.getShape().drop_front() != ArrayRef(wanted) ||
      blocksOf(inputs, lanes) != input.getDimSize(1) ||
      blocksOf(outputs, lanes) != gradient.getDimSize(1))
    return emitOpError("the result has not the blocks of the operands");
  const int64_t images = input.getDimSize(0), parts = result.getDimSize(0);
  if (parts < 1 ||
      (!ShapedType::isDynamic(images) &&
       (parts - 1) * int64_t(llvm::divideCeil(images, parts)) >= images))
    return emitOpError("parts are not of as many images each, but for the "
                       "last, which has one at least");
  return success();
}

LogicalResult DepthwiseGradientOp::verify() {
  if (!areSpatial({getStrides(), getDilations(), getPaddingLow()}))
    return emitOpError("strides, dilations and padding are not "
                       "[height, width]");
  const RankedTensorType all[] = {tensorOf(getInput()), tensorOf(getGradient()),
                                  tensorOf(getResult())};
  for (RankedTensorType each : all)
    if (each.getRank() != 5 || !each.getElementType().isF32() ||
        each.getShape().take_front(2) != all[0].getShape().take_front(2) ||
        each.getDimSize(4) != all[0].getDimSize(4))
      return emitOpError("operands and result are not blocks of the same "
                         "channels, of f32");
  return success();
}

LogicalResult AttentionOp::verify() {
  int64_t rank = tensorOf(getQuery()).getRank();
  std::pair<Value, ArrayRef<int64_t>> all[] = {{getQuery(), getQueryDims()},
                                               {getKey(), getKeyDims()},
                                               {getValue(), getValueDims()},
                                               {getResult(), getResultDims()}};
  for (auto [value, dims] : all)
    if (tensorOf(value).getRank() != rank ||
        static_cast<int64_t>(dims.size()) != rank || rank < 2 ||
        !isPermutationVector(dims))
      return emitOpError("dimensions are not those of the tensors");
  if (getMask() && tensorOf(getMask()).getRank() != rank)
    return emitOpError("the mask has another rank");
  if (getValueDims().back() != rank - 1 || getResultDims().back() != rank - 1 ||
      !llvm::is_contained(getKeyDims().take_back(2), rank - 1))
    return emitOpError("the last dimensions are not the last in memory");
  return success();
}

} // namespace sinter::cpu
