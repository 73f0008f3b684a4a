// Constraints that the operations' definitions cannot express.

#include "graph/stablehlo/Verify.h"
#include "graph/chlo/Broadcasting.h"
#include "graph/chlo/Structured.h"

using namespace mlir;

namespace sinter::chlo {

using stablehlo::differ;

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// The shape of the operand of higher rank, with the other's dimensions
/// broadcast along \p dimensions of it.
static std::optional<Dimensions> broadcastAlong(ArrayRef<Dimension> lhs,
                                                ArrayRef<Dimension> rhs,
                                                ArrayRef<int64_t> dimensions) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  if (dimensions.size() != rhs.size())
    return std::nullopt;
  Dimensions aligned(lhs.size(), Dimension{1});
  int64_t last = -1;
  for (auto [dimension, size] : llvm::zip_equal(dimensions, rhs)) {
    if (dimension <= last || dimension >= static_cast<int64_t>(lhs.size()))
      return std::nullopt;
    aligned[dimension] = size;
    last = dimension;
  }
  return broadcast(lhs, aligned);
}

LogicalResult inferBroadcast(std::optional<Location> location,
                             ValueRange operands, DenseI64ArrayAttr dimensions,
                             function_ref<Type(Type)> elementOf,
                             SmallVectorImpl<Type> &types) {
  auto lhs = tensorOf(operands[0]), rhs = tensorOf(operands[1]);
  if (!stablehlo::sameBaselineElement(lhs, rhs))
    return emitOptionalError(location,
                             "operands have different element "
                             "types: ",
                             lhs, " and ", rhs);
  Dimensions left = dimensionsOf(lhs), right = dimensionsOf(rhs);
  std::optional<Dimensions> shape =
      dimensions ? broadcastAlong(left, right, dimensions)
                 : broadcast(left, right);
  if (!shape)
    return emitOptionalError(location, "operands do not broadcast: ", lhs,
                             " and ", rhs);
  types.push_back(tensorTypeOf(*shape, elementOf(lhs.getElementType())));
  return success();
}

LogicalResult BroadcastSelectOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &types) {
  if (failed(inferBroadcast(
          location, operands.drop_front(), {}, [](Type type) { return type; },
          types)))
    return failure();
  auto values = cast<RankedTensorType>(types.back());
  std::optional<Dimensions> shape =
      broadcast(dimensionsOf(tensorOf(operands[0])), dimensionsOf(values));
  if (!shape)
    return emitOptionalError(location, "the predicate does not broadcast: ",
                             tensorOf(operands[0]), " and ", values);
  types.back() = tensorTypeOf(*shape, values.getElementType());
  return success();
}

LogicalResult ConstantLikeOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  types.push_back(
      tensorOf(adaptor.getOperand()).clone(adaptor.getValue().getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

LogicalResult
TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                         ValueRange operands, DictionaryAttr attributes,
                         OpaqueProperties properties, RegionRange regions,
                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto operand = tensorOf(adaptor.getOperand());
  if (operand.getRank() == 0)
    return emitOptionalError(location, "the operand is a scalar");
  Dimensions shape = dimensionsOf(operand);
  int64_t k = adaptor.getK(), most = shape.back().most();
  if (!ShapedType::isDynamic(most) && k > most)
    return emitOptionalError(location, "k = ", k,
                             " is greater than the last dimension, ", most);
  shape.back() = {k};
  types.push_back(tensorTypeOf(shape, operand.getElementType()));
  types.push_back(tensorTypeOf(shape, IntegerType::get(context, 32)));
  return success();
}

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

/// Whether \p lists hold distinct dimensions below \p rank.
static bool areDistinct(int64_t rank, ArrayRef<ArrayRef<int64_t>> lists) {
  SmallVector<bool> seen(rank, false);
  for (ArrayRef<int64_t> list : lists)
    for (int64_t dimension : list) {
      if (dimension < 0 || dimension >= rank || seen[dimension])
        return false;
      seen[dimension] = true;
    }
  return true;
}

static bool haveEqualSizes(RankedTensorType lhs, ArrayRef<int64_t> lhsDims,
                           RankedTensorType rhs, ArrayRef<int64_t> rhsDims) {
  return lhsDims.size() == rhsDims.size() &&
         llvm::all_of(llvm::zip_equal(lhsDims, rhsDims), [&](auto pair) {
           return !differ(lhs.getDimSize(std::get<0>(pair)),
                          rhs.getDimSize(std::get<1>(pair)));
         });
}

stablehlo::ProductSide RaggedDotOp::getSide(unsigned operand) {
  auto numbers = getRaggedDotDimensionNumbers();
  if (operand == 0)
    return {getLhs(), numbers.getLhsBatchingDimensions(),
            numbers.getLhsContractingDimensions()};
  return {getRhs(), numbers.getRhsBatchingDimensions(),
          numbers.getRhsContractingDimensions()};
}

SmallVector<int64_t> RaggedDotOp::getGroupPrefix() {
  const stablehlo::ProductSide lhs = getSide(0);
  int64_t ragged =
      getRaggedDotDimensionNumbers().getLhsRaggedDimensions().front();
  SmallVector<int64_t> all(lhs.batching);
  if (llvm::is_contained(lhs.contracting, ragged))
    llvm::append_range(all, lhs.contracting);
  else if (!llvm::is_contained(lhs.batching, ragged))
    llvm::append_range(all, lhs.free());
  return SmallVector<int64_t>(all.begin(), llvm::find(all, ragged));
}

/// Whether group_sizes has one dimension, optionally preceded by the dimensions
/// \p prefix of lhs.
static bool hasPrefix(RankedTensorType groups, RankedTensorType lhs,
                      ArrayRef<int64_t> prefix) {
  if (groups.getRank() == 1)
    return true;
  if (groups.getRank() != static_cast<int64_t>(prefix.size()) + 1)
    return false;
  for (auto [place, dimension] : llvm::enumerate(prefix))
    if (differ(groups.getDimSize(place), lhs.getDimSize(dimension)))
      return false;
  return true;
}

SmallVector<int64_t> raggedDotShape(RaggedDotOp op) {
  auto numbers = op.getRaggedDotDimensionNumbers();
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  SmallVector<int64_t> shape;
  if (llvm::is_contained(lhs.contracting,
                         numbers.getLhsRaggedDimensions().front()))
    shape.push_back(tensorOf(op.getGroupSizes()).getShape().back());
  for (int64_t dimension : lhs.batching)
    shape.push_back(tensorOf(lhs.value).getShape()[dimension]);
  for (int64_t dimension : lhs.free())
    shape.push_back(tensorOf(lhs.value).getShape()[dimension]);
  for (int64_t dimension : rhs.free())
    if (!llvm::is_contained(numbers.getRhsGroupDimensions(), dimension))
      shape.push_back(tensorOf(rhs.value).getShape()[dimension]);
  return shape;
}

LogicalResult RaggedDotOp::verify() {
  auto numbers = getRaggedDotDimensionNumbers();
  auto lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  auto groups = tensorOf(getGroupSizes());
  ArrayRef<int64_t> group = numbers.getRhsGroupDimensions();
  if (!areDistinct(lhs.getRank(), {numbers.getLhsBatchingDimensions(),
                                   numbers.getLhsContractingDimensions()}) ||
      !areDistinct(rhs.getRank(),
                   {numbers.getRhsBatchingDimensions(),
                    numbers.getRhsContractingDimensions(), group}))
    return emitOpError("a dimension is not there, or stands twice");
  if (!haveEqualSizes(lhs, numbers.getLhsBatchingDimensions(), rhs,
                      numbers.getRhsBatchingDimensions()))
    return emitOpError("the batching dimensions do not match");
  if (!haveEqualSizes(lhs, numbers.getLhsContractingDimensions(), rhs,
                      numbers.getRhsContractingDimensions()))
    return emitOpError("the contracting dimensions do not match");

  ArrayRef<int64_t> ragged = numbers.getLhsRaggedDimensions();
  if (ragged.size() != 1 || !areDistinct(lhs.getRank(), {ragged}))
    return emitOpError("lhs has exactly one ragged dimension");
  bool isFree =
      !llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged[0]) &&
      !llvm::is_contained(numbers.getLhsContractingDimensions(), ragged[0]);
  if (group.size() != (isFree ? 1 : 0))
    return emitOpError("rhs has a group dimension if, and only if, the ragged "
                       "dimension is neither batching nor contracting");
  if (groups.getRank() == 0 || !hasPrefix(groups, lhs, getGroupPrefix()))
    return emitOpError(
        "group_sizes does not have the shape of lhs's dimensions "
        "before the ragged one");
  if (isFree && differ(rhs.getDimSize(group[0]), groups.getShape().back()))
    return emitOpError("rhs has ")
           << rhs.getDimSize(group[0]) << " groups, group_sizes "
           << groups.getShape().back();
  if (auto precision = getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return emitOpError("precision_config has an entry for each operand");
  if (failed(verifyCompatibleShape(raggedDotShape(*this),
                                   tensorOf(getResult()).getShape())))
    return emitOpError("the result's shape does not follow from the operands'");
  return success();
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

int64_t ScanOp::getLength() {
  if (std::optional<uint64_t> size = getScanDimSize())
    return *size;
  for (Value input : getInputs())
    if (int64_t size = tensorOf(input).getDimSize(getDimension());
        !ShapedType::isDynamic(size))
      return size;
  return ShapedType::kDynamic;
}

Type sliceType(Type type, int64_t dimension) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + dimension);
  return RankedTensorType::get(shape, tensor.getElementType());
}

Type stackType(Type slice, int64_t dimension, int64_t length) {
  auto tensor = cast<RankedTensorType>(slice);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin() + dimension, length);
  return RankedTensorType::get(shape, tensor.getElementType());
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty() && getOutputs().empty())
    return emitOpError("has neither inputs nor outputs");
  if (getInits().size() != getCarries().size())
    return emitOpError("has ") << getInits().size() << " initial values and "
                               << getCarries().size() << " carries";
  const int64_t dimension = getDimension();
  SmallVector<Type> arguments, results;
  auto slice = [&](ValueRange values,
                   SmallVectorImpl<Type> &types) -> LogicalResult {
    for (Value value : values) {
      if (dimension >= tensorOf(value).getRank())
        return emitOpError("dimension ")
               << dimension << " is not one of " << value.getType();
      types.push_back(sliceType(value.getType(), dimension));
    }
    return success();
  };
  if (failed(slice(getInputs(), arguments)) ||
      failed(slice(getOutputs(), results)))
    return failure();
  int64_t length = getLength();
  for (Value value : llvm::concat<Value>(SmallVector<Value>(getInputs()),
                                         SmallVector<Value>(getOutputs())))
    if (differ(tensorOf(value).getDimSize(dimension), length))
      return emitOpError("inputs and outputs have different sizes along the "
                         "dimension: ")
             << length << " and " << tensorOf(value).getDimSize(dimension);
  llvm::append_range(arguments, getInits().getTypes());
  llvm::append_range(results, getCarries().getTypes());

  Block &body = getBody().front();
  auto end = body.empty()
                 ? stablehlo::ReturnOp()
                 : dyn_cast<stablehlo::ReturnOp>(body.getOperations().back());
  if (!end)
    return emitOpError("the body does not end in stablehlo.return");
  if (!compatibleTypes(arguments, body.getArgumentTypes()))
    return emitOpError("the body does not take a slice of each input and the "
                       "carries");
  if (!compatibleTypes(results, end.getOperandTypes()))
    return emitOpError(
        "the body does not return a slice of each output and the "
        "carries");
  return success();
}

} // namespace sinter::chlo
