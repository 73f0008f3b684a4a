// ragged_dot, built from stablehlo: masks of the groups around dot_general.

#include "graph/chlo/Broadcasting.h"
#include "graph/interfaces/Axes.h"

using namespace mlir;

namespace sinter::chlo {

using nn::isStatic;
using Direction = stablehlo::ComparisonDirection;

namespace {
struct RaggedProduct {
  RaggedDotOp op;
  TensorBuilder &emit;
  RaggedDotDimensionNumbersAttr numbers = op.getRaggedDotDimensionNumbers();
  int64_t ragged = numbers.getLhsRaggedDimensions().front();

  /// A mask of \p shape: which indices along \p raggedDimension belong to the
  /// group at \p groupDimension. \p prefix are the positions of group_sizes'
  /// leading dimensions.
  Value mask(ArrayRef<int64_t> shape, int64_t groupDimension,
             int64_t raggedDimension, ArrayRef<int64_t> prefix) {
    Type index = emit.integerType(64);
    Value sizes = emit.convert(op.getGroupSizes(), index);
    int64_t rank = tensorOf(sizes).getRank();
    SmallVector<int64_t> dimensions;
    if (rank > 1)
      dimensions.append(prefix.begin(), prefix.end());
    dimensions.push_back(groupDimension);
    SmallVector<stablehlo::WindowDimension> window(rank);
    window.back().size = tensorOf(sizes).getShape().back();
    window.back().paddingLow = window.back().size - 1;
    Value ends = emit.reduceWindow<stablehlo::AddOp>(
        sizes, emit.scalar(0, index), window);
    Value starts = emit.sub(ends, sizes);
    Value place = emit.iota(shape, raggedDimension, index);
    return emit.make<stablehlo::AndOp>(
        emit.compare(Direction::GE, place,
                     emit.broadcast(starts, dimensions, shape)),
        emit.compare(Direction::LT, place,
                     emit.broadcast(ends, dimensions, shape)));
  }

  Value dot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatching,
            ArrayRef<int64_t> rhsBatching, ArrayRef<int64_t> lhsContracting,
            ArrayRef<int64_t> rhsContracting) {
    SmallVector<int64_t> shape;
    for (int64_t dimension : lhsBatching)
      shape.push_back(tensorOf(lhs).getDimSize(dimension));
    for (const stablehlo::ProductSide &side :
         {stablehlo::ProductSide{lhs, lhsBatching, lhsContracting},
          stablehlo::ProductSide{rhs, rhsBatching, rhsContracting}})
      for (int64_t dimension : side.free())
        shape.push_back(tensorOf(side.value).getDimSize(dimension));
    ArrayAttr precision;
    if (std::optional<ArrayAttr> given = op.getPrecisionConfig()) {
      auto values =
          llvm::map_to_vector(*given, [](Attribute each) -> Attribute {
            return stablehlo::PrecisionAttr::get(
                each.getContext(), cast<PrecisionAttr>(each).getValue());
          });
      precision = emit.builder.getArrayAttr(values);
    }
    auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
        op.getContext(), lhsBatching, rhsBatching, lhsContracting,
        rhsContracting);
    Type element = tensorOf(op.getResult()).getElementType();
    return emit.make<stablehlo::DotGeneralOp>(
        RankedTensorType::get(shape, element), lhs, rhs, dimensions, precision);
  }

  /// The dot_general without groups.
  Value product() {
    const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
    return dot(lhs.value, rhs.value, lhs.batching, rhs.batching,
               lhs.contracting, rhs.contracting);
  }

  /// Multiplies every row by every group's matrix, then selects each row's own
  /// group.
  Value ofRows() {
    Value all = product();
    // The positions of lhs's dimensions and of the group in that product.
    const Axes axes = *axesOf(all.getDefiningOp());
    auto resultDimensionOf = [&](int64_t dimension) {
      return *axes.resultOf(0, dimension);
    };
    int64_t group = *axes.resultOf(1, numbers.getRhsGroupDimensions().front());
    SmallVector<int64_t> prefix =
        llvm::map_to_vector(op.getGroupPrefix(), resultDimensionOf);
    auto type = tensorOf(all);
    Value isOwn =
        mask(type.getShape(), group, resultDimensionOf(ragged), prefix);
    return emit.sum(emit.select(isOwn, all, emit.splat(0, type)), {group});
  }

  /// \p x once for each group, zero outside the group; the group is the first
  /// dimension.
  Value byGroup(Value x, int64_t raggedDimension, ArrayRef<int64_t> prefix) {
    auto type = tensorOf(x);
    SmallVector<int64_t> shape = {
        tensorOf(op.getGroupSizes()).getShape().back()};
    llvm::append_range(shape, type.getShape());
    auto shifted = shift(llvm::to_vector(llvm::seq<int64_t>(type.getRank())));
    Value isOwn = mask(shape, 0, raggedDimension + 1, shift(prefix));
    auto result = RankedTensorType::get(shape, type.getElementType());
    return emit.select(isOwn, emit.broadcast(x, shifted, shape),
                       emit.splat(0, result));
  }

  static SmallVector<int64_t> shift(ArrayRef<int64_t> dimensions) {
    return llvm::map_to_vector(dimensions,
                               [](int64_t dimension) { return dimension + 1; });
  }

  /// A batched product over the groups, each with its range of the contracted
  /// dimension.
  Value ofParts() {
    const stablehlo::ProductSide left = op.getSide(0), right = op.getSide(1);
    const Axes axes = *axesOf(op);
    auto ofRhs = [&](int64_t dimension) {
      return *axes.asLarge(axes.operands[0][dimension], axes.operands[1]);
    };
    SmallVector<int64_t> prefix = op.getGroupPrefix();
    Value lhs = byGroup(op.getLhs(), ragged, prefix);
    Value rhs =
        byGroup(op.getRhs(), ofRhs(ragged), llvm::map_to_vector(prefix, ofRhs));
    SmallVector<int64_t> lhsBatching = shift(left.batching);
    SmallVector<int64_t> shiftedRhs = shift(right.batching);
    lhsBatching.insert(lhsBatching.begin(), 0);
    shiftedRhs.insert(shiftedRhs.begin(), 0);
    return dot(lhs, rhs, lhsBatching, shiftedRhs, shift(left.contracting),
               shift(right.contracting));
  }
};
} // namespace

Results RaggedDotOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  TensorBuilder emit(builder, getLoc());
  // Without groups the result is zero.
  auto isEmpty = [](Value value) {
    return llvm::is_contained(tensorOf(value).getShape(), 0);
  };
  if (isEmpty(getResult()) || isEmpty(getGroupSizes()))
    return SmallVector<Value>{emit.splat(0, tensorOf(getResult()))};
  RaggedProduct product{*this, emit};
  auto numbers = getRaggedDotDimensionNumbers();
  Value result;
  if (llvm::is_contained(numbers.getLhsContractingDimensions(), product.ragged))
    result = product.ofParts();
  else if (llvm::is_contained(numbers.getLhsBatchingDimensions(),
                              product.ragged))
    result = product.product();
  else
    result = product.ofRows();
  return SmallVector<Value>{result};
}

} // namespace sinter::chlo
