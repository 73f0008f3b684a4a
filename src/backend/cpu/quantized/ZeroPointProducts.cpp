#include "backend/cpu/quantized/ZeroPointProducts.h"

#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "graph/Quantization.h"
#include "graph/Types.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::DotGeneralOp;
using sinter::stablehlo::ProductSide;

namespace sinter::cpu {

namespace {

/// An operand in its memory layout.
struct ByteSide {
  Int8Distances distances;
  SmallVector<int64_t> batching, contracting;

  ByteSide(Int8Distances given, const ProductSide &side)
      : distances(given), batching(side.batching),
        contracting(side.contracting) {
    while (auto transpose =
               distances.bytes.getDefiningOp<stablehlo::TransposeOp>())
      if (!moveTo(transpose.getOperand(), transpose.getPermutation()))
        break;
  }

  ProductSide side() const { return {distances.bytes, batching, contracting}; }
  IntegerType element() const {
    return cast<IntegerType>(tensorOf(distances.bytes).getElementType());
  }

  /// Replaces the tensor by \p bytes, of which it is the transpose by \p order.
  /// False if free dimensions would change their order.
  bool moveTo(Value bytes, ArrayRef<int64_t> order) {
    auto through = [&](ArrayRef<int64_t> dims) {
      return llvm::map_to_vector(dims, [&](int64_t dim) { return order[dim]; });
    };
    if (!llvm::is_sorted(through(side().free())))
      return false;
    batching = through(batching);
    contracting = through(contracting);
    distances.bytes = bytes;
    return true;
  }

  /// Transposes to the order batch, rows (or columns), contracted dimensions.
  void arrange(TensorBuilder &emit) {
    SmallVector<int64_t> order(batching);
    llvm::append_range(order, side().free());
    llvm::append_range(order, contracting);
    if (!llvm::is_sorted(order))
      distances.bytes = emit.transpose(distances.bytes, order);
    const int64_t rank = order.size();
    const auto first = [](auto &dims, int64_t from) {
      for (auto [i, dim] : llvm::enumerate(dims))
        dim = from + int64_t(i);
    };
    first(batching, 0);
    first(contracting, rank - int64_t(contracting.size()));
  }

  /// The zero point; null where it is 0.
  Value zero(TensorBuilder &emit) const {
    if (distances.variable)
      return emit.reshape(distances.variable, {});
    if (distances.zeroPoint == 0)
      return {};
    return emit.splat(double(distances.zeroPoint),
                      RankedTensorType::get({}, emit.builder.getI32Type()));
  }
};

} // namespace

/// Whether \p target multiplies \p lhs faster by 8-bit values of the other
/// signedness than \p rhs.
static bool turns(ElementType lhs, ElementType rhs, const Target &target) {
  const ElementType other =
      rhs == ElementType::I8 ? ElementType::UI8 : ElementType::I8;
  return Arithmetic::ofBytes(lhs, other, target).kGroup >
         Arithmetic::ofBytes(lhs, rhs, target).kGroup;
}

Value asDistanceProduct(DotGeneralOp op, bool isHeldByF32,
                        const PassSetting &setting) {
  const Target &target = setting.target;
  const ProductSizes sizes = sizesOf(op);
  if (sizes.m < 2 || sizes.n < 2 || sizes.k < 1 ||
      !tensorOf(op.getResult()).getElementType().isSignlessInteger(32) ||
      isWeight(op.getRhs()))
    return {};
  auto left = Int8Distances::match(op.getLhs()),
       right = Int8Distances::match(op.getRhs());
  if (!left || !right)
    return {};
  const ElementType best = Arithmetic::ofBytes(target).lhs,
                    given =
                        *elementTypeOf(tensorOf(right->bytes).getElementType());
  const bool isTurned = turns(best, given, target);
  const ElementType multiplied = !isTurned                  ? given
                                 : given == ElementType::I8 ? ElementType::UI8
                                                            : ElementType::I8;
  const Arithmetic bytes = Arithmetic::ofBytes(best, multiplied, target);
  MatMulShape shape = MatMulShape::dense(sizes.m, sizes.n, sizes.k);
  const ProductSide columns = op.getSide(1);
  const bool isDepthLast = llvm::is_contained(
      columns.contracting, tensorOf(columns.value).getRank() - 1);
  shape.bLayout = isDepthLast ? MatMulShape::BLayout::Transposed
                              : MatMulShape::BLayout::Rows;
  // AMX multiplies int8 at twice the rate of wider types.
  if (isHeldByF32 && !target.hasMatrixUnits &&
      setting.choose(op.getLoc(), alternativesForBytes(shape, bytes, target)) !=
          "bytes")
    return {};
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  ByteSide lhs(*left, op.getSide(0)), rhs(*right, op.getSide(1));
  lhs.distances = lhs.distances.preferredBy(target, emit);
  Value lhsZero = lhs.zero(emit);
  if (isTurned) {
    const double shift = given == ElementType::UI8 ? -128 : 128;
    if (Value &variable = rhs.distances.variable)
      variable = emit.add(variable, emit.splat(shift, tensorOf(variable)));
    else
      rhs.distances.zeroPoint += static_cast<int64_t>(shift);
  }
  Value rhsZero = rhs.zero(emit);
  auto product = [&] {
    return builder.create<ZeroPointProductOp>(
        op.getLoc(), op.getType(), lhs.side().value, rhs.side().value, lhsZero,
        rhsZero, lhs.batching, rhs.batching, lhs.contracting, rhs.contracting,
        isTurned);
  };
  ZeroPointProductOp result = product();
  if (isRoot(result))
    return result;
  result.erase();
  lhs.arrange(emit);
  rhs.arrange(emit);
  result = product();
  if (isRoot(result))
    return result;
  result.erase();
  return {};
}

} // namespace sinter::cpu
